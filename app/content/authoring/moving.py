"""Another id for an entry: both editions, their samples and images, and every link to them, in all directories."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.content.authoring.moved_page import Page, changed_page, stamped
from app.content.authoring.steps import Create, Rename, Rewrite, Step
from app.content.markdown.links import LinkKind
from app.content.read.corpus import Corpus
from app.content.read.directory import Listing, list_directory, read_file
from app.content.read.forms import ENTRY_ID
from app.content.read.gather import entry_id_of
from app.content.read.parse import parse_file
from app.entry import Language
from app.errors import AuthoringError


@dataclass(frozen=True, slots=True)
class MovePlan:
    """What a move changes, and the files that nobody can read and that it leaves alone. `ids`: new id by old one."""

    steps: tuple[Step, ...]
    unread: tuple[Path, ...]
    ids: Mapping[str, str]


def plan_move(directories: Sequence[Path], corpus: Corpus, old: str, new: str) -> MovePlan:
    """How the entry `old` becomes `new` in content directories whose content is `corpus`. Nothing is written.

    Raises AuthoringError, saying what stands in the way, where and what to do.
    """
    listings = [list_directory(directory) for directory in directories]
    for listing in listings:
        _refuse_links(listing, [f"{lang}/{old}.md" for lang in Language])
    if not any(entry_id_of(file.where) == old for listing in listings for file in listing.editions):
        raise AuthoringError(_absent(corpus, old))
    _refuse_ids(corpus, old, new)
    for listing in listings:
        _refuse_taken(listing, new)
    steps: list[Step] = []
    unread: list[Path] = []
    for listing in listings:
        pages, lost = _pages(listing, old, new)
        unread += lost
        steps += _steps_below(listing, pages, old, new)
    return MovePlan(tuple(steps), tuple(unread), {old: new})


def _refuse_ids(corpus: Corpus, old: str, new: str) -> None:
    framework = new.partition("/")[0]
    if not ENTRY_ID.fullmatch(new):
        raise AuthoringError(
            f"{new!r} must be <framework>/<slug>, the slug 1 to 80 of a-z, 0-9 and -, not starting with -"
        )
    if framework not in corpus.taxonomy.framework:
        known = ", ".join(corpus.taxonomy.framework)
        raise AuthoringError(f"framework {framework!r} is not in taxonomy.yaml, which has {known}")
    if old == new:
        raise AuthoringError(f"{old} has that name already")
    for file in corpus.files:
        for taken in {old, new}.intersection(file.front.formerly):
            if file.id != old or taken == old:
                raise AuthoringError(
                    f"{file.path}:{file.line('formerly')}: {taken} is an old address of {file.id}:"
                    " choose another name, or take it out of `formerly` there"
                )


def _absent(corpus: Corpus, old: str) -> str:
    for file in corpus.files:
        if old in file.front.formerly:
            return f"{old} is called {file.id} now"
    return f"there is no entry {old}: `jieda check` names files that cannot be read"


def _refuse_taken(listing: Listing, new: str) -> None:
    samples = listing.root / "samples" / new
    wanted = {f"{lang}/{new}.md".casefold() for lang in Language}
    there = [listing.root / file.where for file in listing.editions if file.where.casefold() in wanted]
    there += [listing.root / lang / f"{new}.md" for lang in Language]
    for path in (*there, samples):
        if os.path.lexists(path):
            raise AuthoringError(f"{path} is there already: choose another name, or move that away first")


def _refuse_links(listing: Listing, wheres: Iterable[str]) -> None:
    """Raises AuthoringError for a path that is a link, or lies below one: what is behind it is not ours to change."""
    for where in wheres:
        path = listing.root
        for part in where.split("/"):
            path /= part
            if path.is_symlink():
                raise AuthoringError(f"{path} is a symbolic link: put the file itself there first")


def _pages(listing: Listing, old: str, new: str) -> tuple[list[Page], list[Path]]:
    """The editions of every entry that may change, and the files that cannot be read. Raises AuthoringError."""
    name = old.partition("/")[2].encode()
    sources = {file: read_file(file) for file in listing.editions}
    touched = {entry_id_of(file.where) for file, source in sources.items() if name in source.content} | {old}
    pages, unread = [], []
    for file, source in sources.items():
        if entry_id_of(file.where) not in touched:
            continue
        parsed, problems = parse_file(source)
        if parsed:
            try:
                pages.append(changed_page(source, parsed.outline, old, new))
            except AuthoringError as error:
                raise AuthoringError(f"{file.path}: {error}") from error
        elif entry_id_of(file.where) == old:
            raise AuthoringError(f"{file.path}:{problems[0].line}: {problems[0].message}")
        else:
            unread.append(Path(file.path))
    return stamped(pages), unread


def _steps_below(listing: Listing, pages: Sequence[Page], old: str, new: str) -> Iterator[Step]:
    """What happens in one content directory, contents first."""
    changed = [page for page in pages if page.content != page.source.content]
    _refuse_links(listing, [page.outline.where for page in changed])
    yield from (Rewrite(listing.root / page.outline.where, page.content) for page in changed)
    moved = [page for page in pages if page.outline.id == old]
    for page in moved:
        lang = page.outline.lang
        yield Rename(listing.root / page.outline.where, listing.root / lang / f"{new}.md")
        if old.partition("/")[0] != new.partition("/")[0]:
            yield from _images(listing, page, new.partition("/")[0])
    samples = listing.root / "samples" / old
    if os.path.lexists(samples):
        _refuse_links(listing, [f"samples/{old}"])
        yield Rename(samples, listing.root / "samples" / new)


def _images(listing: Listing, page: Page, framework: str) -> Iterator[Step]:
    """The images of an edition that goes to another framework: copied where others show them as well."""
    lang, before = page.outline.lang, page.outline.id.partition("/")[0]
    found = {file.where: file for file in listing.images}
    for name in dict.fromkeys(
        link.target.rpartition("/")[2] for link in page.outline.links if link.kind is LinkKind.IMAGE
    ):
        where = f"{lang}/{before}/{name}"
        if where not in found:
            continue
        _refuse_links(listing, [where])
        source, target = listing.root / where, listing.root / lang / framework / name
        content = read_file(found[where]).content
        if os.path.lexists(target):
            if target.is_symlink() or target.read_bytes() != content:
                raise AuthoringError(f"{target} is there already and another image: rename one of them first")
        elif _shown_by_others(listing, page, name):
            yield Create(target, content)
        else:
            yield Rename(source, target)


def _shown_by_others(listing: Listing, page: Page, name: str) -> bool:
    folder = page.outline.where.rpartition("/")[0]
    return any(
        file.where.rpartition("/")[0] == folder
        and file.where != page.outline.where
        and name.encode() in read_file(file).content
        for file in listing.editions
    )
