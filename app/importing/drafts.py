"""The last stage: a proposal to the text of its files, and the files to disk. Nothing that is there is overwritten."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.content.read.parse import edition_digest
from app.entry import Kind, Language
from app.importing.proposal import EditionDraft, Proposal
from app.taxonomy import Tag


def draft_text(proposal: Proposal, lang: Language, framework: Tag) -> str:
    """The file of one edition: front matter in the order of the skeletons, then the body."""
    edition = proposal.editions[lang]
    twin = proposal.editions.get(lang.other)
    front = [
        f"title: {_quoted(edition.title)}",
        f"kind: {proposal.kind}",
        *_listed("topics", proposal.topics),
        *_listed("error_types", proposal.error_types),
        *(_listed("signatures", proposal.signatures) if proposal.kind is Kind.ERROR else ()),
        *(_listed("symptoms", _symptoms(proposal, edition)) if proposal.kind is Kind.ERROR else ()),
        "aliases: []",
        f"applies_to: {_quoted(framework.name[lang])}",
        "related: []",
        "source:",
        f"  - title: {_quoted(edition.source.title)}",
        f"    url: {_quoted(edition.source.url)}",
        f"    license: {_quoted(edition.source.license)}",
        f"updated: {edition.updated.isoformat()}",
        *([f"synced_with: {_quoted(edition_digest(twin.title, twin.body))}"] if twin else ()),
        "draft: true",
        *_listed("doubts", [each.say(lang) for each in edition.doubts]),
    ]
    return "---\n" + "\n".join(front) + f"\n---\n\n{edition.body}"


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


def _listed(name: str, values: Iterable[str]) -> Iterator[str]:
    items = [f"  - {_quoted(value)}" for value in dict.fromkeys(values)]
    yield f"{name}:" if items else f"{name}: []"
    yield from items


def _quoted(text: str) -> str:
    """A YAML scalar in single quotes, one line."""
    return "'" + " ".join(text.split()).replace("'", "''") + "'"
