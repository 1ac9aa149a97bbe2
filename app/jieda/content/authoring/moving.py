"""Renames entries: plans the file changes, and rewrites the links in Markdown bodies, keeping every other byte.

The Markdown parser reports the links of a text but not their offsets. Each candidate address is therefore changed on
trial; the change is kept if it makes more links right and leaves all code alone.
"""

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
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


Place = tuple[LinkKind, str, str]
"""Kind, target and anchor of a link."""


def relink(body: str, first_line: int, outline: FileOutline, old: str, new: str) -> str:
    """Return the body of an edition with its links rewritten to the new id. Raises AuthoringError, naming the line, if
    a link is written in a way that cannot be changed safely."""
    ids = (outline.id, new if outline.id == old else outline.id)
    before, after = (each.partition("/")[0] for each in ids)

    def read(text: str, framework: str) -> Body:
        return parse_body(text.replace("\r\n", "\n").replace("\r", "\n"), outline.lang, framework, first_line)

    original = read(body, before)
    wanted = [_place_after(link, after, old, new) for link in original.links]
    text, wrong = body, _find_wrong_links(read(body, after), wanted)
    for match in reversed(list(_ADDRESS.finditer(body)) if wrong else []):
        link = read_link(match[0], outline.lang, before, 0)
        current = new if link.target == old else link.target
        address = _relative_address(match[0], link.target, current, before, after)
        if link.kind is LinkKind.ENTRY and address != match[0]:
            changed = text[: match.start()] + address + text[match.end() :]
            parsed = read(changed, after)
            still_wrong = _find_wrong_links(parsed, wanted)
            if len(still_wrong) < len(wrong) and parsed.code == original.code:
                text, wrong = changed, still_wrong
    if wrong:
        link = original.links[wrong[0]]
        raise AuthoringError(
            f"line {link.line}: the link {link.written!r} cannot be changed: do it by hand first"
        )
    return text


def _place_after(link: Link, framework: str, old: str, new: str) -> Place:
    """Return where a link must lead after the move, from a body in `framework`."""
    target = new if link.kind is LinkKind.ENTRY and link.target == old else link.target
    if link.kind is LinkKind.IMAGE:
        target = f"{framework}/{link.target.rpartition('/')[2]}"
    return link.kind, target, link.anchor


def _find_wrong_links(body: Body, wanted: Sequence[Place]) -> list[int]:
    """Return the indices of links that differ from the wanted ones; one more than all if their number differs."""
    links = [(link.kind, link.target, link.anchor) for link in body.links]
    if len(links) != len(wanted):
        return list(range(len(wanted) + 1))
    return [number for number, pair in enumerate(zip(links, wanted, strict=True)) if pair[0] != pair[1]]


def _relative_address(written: str, target: str, current: str, before: str, after: str) -> str:
    """Return the address of the entry `target`, which is called `current` after the move, from a body that moves from
    the framework `before` to `after`, written in the same style."""
    framework, _, slug = current.partition("/")
    has_framework, is_beside = written.endswith(f"/{target}.md"), framework == after
    if has_framework and (not is_beside or written != f"../{target}.md" or target.startswith(f"{before}/")):
        return f"{written[: -len(target) - 3]}{current}.md"
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
    moved = outline.id == old
    related = [item for item in text.scalars("related") if item.text.strip() == old]
    body = relink(text.body, text.body_line, outline, old, new)
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
