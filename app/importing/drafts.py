"""The last stage: a proposal to the text of its files, and the files to disk. Nothing that is there is overwritten."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.content.authoring.edition_text import edition_text
from app.content.read.front_matter import FrontMatter
from app.content.read.parse import edition_digest
from app.entry import Kind, Language, Signature, Source
from app.importing.proposal import EditionDraft, Proposal
from app.taxonomy import Tag


def draft_text(proposal: Proposal, lang: Language, framework: Tag) -> str:
    """The file of one edition."""
    edition = proposal.editions[lang]
    twin = proposal.editions.get(lang.other)
    source = edition.source
    error = proposal.kind is Kind.ERROR
    front = FrontMatter(
        title=_line(edition.title),
        kind=proposal.kind,
        topics=_lines(proposal.topics),
        error_types=_lines(proposal.error_types),
        signatures=tuple(Signature((line,)) for line in _lines(proposal.signatures)) if error else (),
        symptoms=_lines(_symptoms(proposal, edition)) if error else (),
        applies_to=_line(framework.name[lang]),
        source=(Source(_line(source.title), _line(source.url), _line(source.license)),),
        updated=edition.updated,
        synced_with=edition_digest(twin.title, twin.body) if twin else "",
        draft=True,
        doubts=_lines(each.say(lang) for each in edition.doubts),
    )
    return edition_text(front, edition.body)


def write_drafts(directory: Path, proposals: Iterable[Proposal], framework: Tag) -> Iterator[Path]:
    """Writes the editions and copies their images into a content directory; yields what was written.

    A file that is there already is left alone.
    """
    for proposal in proposals:
        slug = proposal.id.partition("/")[2]
        for lang, edition in proposal.editions.items():
            folder = directory / lang / framework.id
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{slug}.md"
            if _write_new(path, draft_text(proposal, lang, framework)):
                yield path
                yield from _copy_images(edition, folder)


def _write_new(path: Path, text: str) -> bool:
    try:
        # "x": a file that came up in between is not overwritten either.
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True


def _copy_images(edition: EditionDraft, folder: Path) -> Iterator[Path]:
    for name, source in edition.images.items():
        if not (folder / name).exists():
            shutil.copyfile(source, folder / name)
            yield folder / name


def _symptoms(proposal: Proposal, edition: EditionDraft) -> tuple[str, ...]:
    return () if proposal.signatures else (edition.title,)


def _lines(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(_line, dict.fromkeys(values)))


def _line(text: str) -> str:
    return " ".join(text.split())
