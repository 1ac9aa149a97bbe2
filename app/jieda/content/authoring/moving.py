"""Renames entries: plans the file changes, and rewrites the links in Markdown bodies, keeping every other byte.

The Markdown parser reports the links of a text but not their offsets. Each candidate address is therefore changed on
trial; the change is kept if it makes more links right and leaves all code alone.
"""

import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from jieda.content.authoring.edition_text import check_id
from jieda.content.authoring.source_text import SourceText
from jieda.content.authoring.writing import Create, Rename, Rewrite, Step, safe_path
from jieda.content.markdown.body import Body, parse_body
from jieda.content.markdown.links import Link, LinkKind, composed, read_link
from jieda.content.read.corpus import Corpus, FileOutline
from jieda.content.read.directory import DirectoryListing, SourceFile, list_directory, read_file
from jieda.content.read.forms import FrontMatter
from jieda.content.read.gather import entry_id_of
from jieda.content.read.parse import parse_file
from jieda.entry import Language
from jieda.errors import AuthoringError

_ADDRESS = re.compile(r"[^\s()<>\[\]]+?\.md(?=[\s()<>#\"']|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BodyMove:
    """The language of a body, its framework before and after the move, and the new `ids` of entries by old id."""

    lang: Language
    before: str
    after: str
    ids: Mapping[str, str]

    def wanted(self, links: Sequence[Link]) -> list[tuple[LinkKind, str, str]]:
        """Return the kind, target and anchor that each link must have after the move."""
        return [(link.kind, self._target(link), link.anchor) for link in links]

    def _target(self, link: Link) -> str:
        if link.kind is LinkKind.IMAGE:
            return f"{self.after}/{link.target.rpartition('/')[2]}"
        return self.ids.get(link.target, link.target) if link.kind is LinkKind.ENTRY else link.target


def relink(body: str, move: BodyMove, first_line: int) -> str:
    """Return the body with its links rewritten to the new ids. Raises AuthoringError, naming the line, if a link is
    written in a way that cannot be changed safely."""
    before = _read(body, move, move.before, first_line)
    wanted = move.wanted(before.links)
    text, wrong = body, _find_wrong_links(_read(body, move, move.after, first_line), wanted)
    for match, address in reversed(list(_find_addresses(body, move)) if wrong else []):
        changed = text[: match.start()] + address + text[match.end() :]
        after = _read(changed, move, move.after, first_line)
        still_wrong = _find_wrong_links(after, wanted)
        if len(still_wrong) < len(wrong) and after.code == before.code:
            text, wrong = changed, still_wrong
    if wrong:
        link = before.links[wrong[0]]
        raise AuthoringError(
            f"line {link.line}: the link {link.written!r} cannot be changed: do it by hand first"
        )
    return text


def _read(body: str, move: BodyMove, framework: str, first_line: int) -> Body:
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    return parse_body(text, move.lang, framework, first_line)


def _find_wrong_links(body: Body, wanted: Sequence[tuple[LinkKind, str, str]]) -> list[int]:
    """Return the indices of links that differ from the wanted ones; one more than all if their number differs."""
    links = [(link.kind, link.target, link.anchor) for link in body.links]
    if len(links) != len(wanted):
        return list(range(len(wanted) + 1))
    return [number for number, pair in enumerate(zip(links, wanted, strict=True)) if pair[0] != pair[1]]


def _find_addresses(body: str, move: BodyMove) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each match that may be the address of a link that must change, with the new address."""
    for match in _ADDRESS.finditer(body):
        link = read_link(match[0], move.lang, move.before, 0)
        if link.kind is LinkKind.ENTRY:
            address = _relative_address(match[0], link.target, move)
            if address != match[0]:
                yield match, address


def _relative_address(written: str, old: str, move: BodyMove) -> str:
    """Return the address of the entry `old` after the move, from the body's new folder, written in the same style."""
    new = move.ids.get(old, old)
    framework, _, slug = new.partition("/")
    has_framework, is_beside = written.endswith(f"/{old}.md"), framework == move.after
    if has_framework and (not is_beside or written != f"../{old}.md" or old.startswith(f"{move.before}/")):
        return f"{written[: -len(old) - 3]}{new}.md"
    if is_beside:
        return f"{'./' if written.startswith('./') else ''}{slug}.md"
    return posixpath.join("..", framework, f"{slug}.md")


@dataclass(frozen=True, slots=True)
class MovedPage:
    """An edition before (`source`, `outline`) and after (`content`, `after`) a move."""

    source: SourceFile
    outline: FileOutline
    content: bytes
    after: FileOutline


def move_page(source: SourceFile, outline: FileOutline, old: str, new: str) -> MovedPage:
    """Rename `old` to `new` in an edition of any entry. Raises AuthoringError if it cannot be written safely."""
    text = SourceText.of(source.content)
    before = outline.id.partition("/")[0]
    moved = outline.id == old
    move = BodyMove(outline.lang, before, new.partition("/")[0] if moved else before, {old: new})
    related = [item for item in text.scalars("related") if item.text.strip() == old]
    body = relink(text.body, move, text.body_line)
    text = replace(text, body=body).with_values((item, new) for item in related)
    if moved:
        text = _with_formerly(text, old, new)
    where = f"{outline.lang}/{new}.md" if moved else outline.where
    parsed, _ = parse_file(replace(source, where=where, content=text.content))
    if not parsed or parsed.outline.front != _expected_front(outline, old, new):
        raise AuthoringError(
            "`formerly` or `related` is written so that it cannot be changed: do it by hand first"
        )
    return MovedPage(source, outline, text.content, parsed.outline)


def _expected_front(outline: FileOutline, old: str, new: str) -> FrontMatter:
    """Return the front matter that the edition must have after the move."""
    front = outline.front
    # One that was named by both ids is now named twice, which `jieda check` reports.
    related = tuple(dict.fromkeys(new if each == old else each for each in front.related))
    if outline.id != old:
        return replace(front, related=related)
    formerly = tuple(old if each == new else each for each in front.formerly)
    return replace(front, related=related, formerly=formerly if old in formerly else (*formerly, old))


def _with_formerly(text: SourceText, old: str, new: str) -> SourceText:
    """Add the old id to `formerly`. If an entry moves back, it replaces the new id there."""
    same = [item for item in text.scalars("formerly") if item.text.strip() == new]
    return text.with_values([(same[0], old)]) if same else text.with_item("formerly", old)


def restamp_twins(pages: Sequence[MovedPage]) -> Iterator[MovedPage]:
    """Stamp twins that were in sync as in sync again: changed links do not change what they say."""
    by_edition = {(page.outline.id, page.outline.lang): page for page in pages}
    for page in pages:
        twin, text = by_edition.get((page.outline.id, page.outline.lang.other)), SourceText.of(page.content)
        if twin and twin.after.digest != twin.outline.digest == page.outline.front.synced_with:
            text = text.with_values((stamp, twin.after.digest) for stamp in text.scalars("synced_with"))
        yield replace(page, content=text.content)


def plan_move(
    directories: Sequence[Path], corpus: Corpus, old: str, new: str
) -> tuple[list[Step], list[Path]]:
    """Return the steps that rename `old` to `new` in content directories whose content is `corpus`, and the unreadable
    files that stay unchanged. Raises AuthoringError, which says what prevents it, where, and what to do."""
    listings = [list_directory(directory) for directory in directories]
    for listing in listings:
        for lang in Language:
            safe_path(listing.root, f"{lang}/{old}.md")
    if not any(entry_id_of(file.where) == old for listing in listings for file in listing.editions):
        raise AuthoringError(_describe_missing(corpus, old))
    _refuse_ids(corpus, old, new)
    for listing in listings:
        _refuse_existing(listing, new)
    steps: list[Step] = []
    unread: list[Path] = []
    for listing in listings:
        pages, unreadable = _move_pages(listing, old, new)
        unread += unreadable
        steps += _steps_in(listing, pages, old, new)
    return steps, unread


def _refuse_ids(corpus: Corpus, old: str, new: str) -> None:
    check_id(corpus.taxonomy, new)
    if old == new:
        raise AuthoringError(f"{old} has that name already")
    for file in corpus.files:
        for former in {old, new}.intersection(file.front.formerly):
            if file.id != old or former == old:
                raise AuthoringError(
                    f"{file.path}:{file.line('formerly')}: {former} is an old address of {file.id}:"
                    " choose another name, or take it out of `formerly` there"
                )


def _describe_missing(corpus: Corpus, old: str) -> str:
    for file in corpus.files:
        if old in file.front.formerly:
            return f"{old} is called {file.id} now"
    return f"there is no entry {old}: `jieda check` names files that cannot be read"


def _refuse_existing(listing: DirectoryListing, new: str) -> None:
    samples = listing.root / "samples" / new
    wanted = {f"{lang}/{new}.md".casefold() for lang in Language}
    targets = [listing.root / file.where for file in listing.editions if file.where.casefold() in wanted]
    targets += [listing.root / lang / f"{new}.md" for lang in Language]
    for path in (*targets, samples):
        if os.path.lexists(path):
            raise AuthoringError(f"{path} already exists: choose another name, or move it away first")


def _move_pages(listing: DirectoryListing, old: str, new: str) -> tuple[list[MovedPage], list[Path]]:
    """Return the moved editions of all entries that may change, and unreadable files. Raises AuthoringError."""
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
                pages.append(move_page(source, parsed.outline, old, new))
            except AuthoringError as error:
                raise AuthoringError(f"{file.path}: {error}") from error
        elif entry_id_of(file.where) == old:
            raise AuthoringError(f"{file.path}:{problems[0].line}: {problems[0].message}")
        else:
            unread.append(Path(file.path))
    return [*restamp_twins(pages)], unread


def _steps_in(listing: DirectoryListing, pages: Sequence[MovedPage], old: str, new: str) -> Iterator[Step]:
    """Yield the steps in one content directory, rewrites first."""
    changed = [page for page in pages if page.content != page.source.content]
    yield from (Rewrite(safe_path(listing.root, page.outline.where), page.content) for page in changed)
    moved = [page for page in pages if page.outline.id == old]
    for page in moved:
        lang = page.outline.lang
        yield Rename(listing.root / page.outline.where, listing.root / lang / f"{new}.md")
        if old.partition("/")[0] != new.partition("/")[0]:
            yield from _move_images(listing, page, new.partition("/")[0])
    samples = listing.root / "samples" / old
    if os.path.lexists(samples):
        yield Rename(safe_path(listing.root, f"samples/{old}"), listing.root / "samples" / new)


def _move_images(listing: DirectoryListing, page: MovedPage, framework: str) -> Iterator[Step]:
    """Yield the steps that move the images of an edition to another framework, or copy those that others use."""
    lang, before = page.outline.lang, page.outline.id.partition("/")[0]
    images = {composed(file.where): file for file in listing.images}
    for name in dict.fromkeys(
        link.target.rpartition("/")[2] for link in page.outline.links if link.kind is LinkKind.IMAGE
    ):
        where = f"{lang}/{before}/{name}"
        if where not in images:
            continue
        source = safe_path(listing.root, images[where].where)
        target, content = listing.root / lang / framework / source.name, read_file(images[where]).content
        if os.path.lexists(target):
            if target.is_symlink() or target.read_bytes() != content:
                raise AuthoringError(f"{target} already exists and is another image: rename one first")
        elif _is_used_elsewhere(listing, page, name):
            yield Create(target, content)
        else:
            yield Rename(source, target)


def _is_used_elsewhere(listing: DirectoryListing, page: MovedPage, name: str) -> bool:
    folder = page.outline.where.rpartition("/")[0]
    return any(
        file.where.rpartition("/")[0] == folder
        and file.where != page.outline.where
        and name in composed(unquote(read_file(file).content.decode("utf-8", "replace")))
        for file in listing.editions
    )
