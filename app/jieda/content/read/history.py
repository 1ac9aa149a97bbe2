"""The history of content files, read from their git repository and shown to readers of an entry."""

import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from functools import cache, partial
from pathlib import Path

from jieda.errors import GitError
from jieda.git import Repository, word_changes
from jieda.han import HAN

log = logging.getLogger(__name__)

MOST_CHANGES = 5
"""Maximum number of changes kept per file: the latest ones."""
MOST_LINES = 40
"""Maximum number of changed lines kept per change."""
_RENAMED = re.compile(r"^rename from (?P<old>.*)\nrename to (?P<new>.*)$", re.MULTILINE)
_BOOKKEEPING = ("updated:", "synced_with:")
"""Front matter lines that change with every edit and are left out."""


@dataclass(frozen=True, slots=True)
class WordPiece:
    """Words of a line. `mark`: `+` if they were added, `-` if removed, a space if unchanged."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """The lines that a commit changed in a file. `omitted`: number of further changed lines."""

    day: date
    commit: str
    subject: str
    lines: tuple[tuple[WordPiece, ...], ...]
    omitted: int


Histories = dict[Path, tuple[Change, ...]]
"""Changes by file, latest first. Files that were never changed are left out."""


def histories(directory: Path, commit: str) -> Histories:
    """Return the changes of the files below a directory, up to a commit. Raises GitError."""
    by_file: dict[Path, list[Change]] = {}
    current_names: dict[str, str] = {}
    """Current names of files by their names before the commits read so far."""
    for block in word_changes(directory, commit).split("\0")[1:]:
        head, *files = block.split("\ndiff --git ")
        name, day, subject = head.split("\n", 1)[0].split(" ", 2)
        renames = {}
        for file in files:
            header, _, diff = file.partition("\n+++ b/")
            where, *lines = diff.split("\n")
            if renamed := _RENAMED.search(header):
                renames[renamed["old"]] = current_names.get(renamed["new"], renamed["new"])
            where = where.removesuffix("\t")
            changes = by_file.setdefault(directory / current_names.get(where, where), [])
            changed = [*_changed_lines(lines)]
            if changed and len(changes) < MOST_CHANGES:
                kept = tuple(changed[:MOST_LINES])
                changes.append(Change(date.fromisoformat(day), name, subject, kept, len(changed) - len(kept)))
        current_names |= renames
    return {path: tuple(changes) for path, changes in by_file.items() if changes}


def _changed_lines(porcelain: list[str]) -> Iterator[tuple[WordPiece, ...]]:
    """Yield the changed lines of a file's word diff, without bookkeeping. `~` ends a line of the file."""
    pieces: list[WordPiece] = []
    for line in porcelain:
        if line == "~":
            text = "".join(piece.text for piece in pieces)
            if any(piece.mark != " " for piece in pieces) and not text.lstrip().startswith(_BOOKKEEPING):
                yield tuple(pieces)
            pieces = []
        elif line[:1] in {"+", "-", " "}:
            pieces.append(WordPiece(line[0], line[1:]))


def commit_of(directory: Path) -> str | None:
    """Return the commit that is checked out in a directory; None if there is none, or no git. If git refuses to open
    the repository, for example because another user owns it, a warning is logged once."""
    try:
        repository = Repository.around(directory)
    except GitError as error:
        if any(os.access(folder / ".git", os.F_OK) for folder in (directory, *directory.parents)):
            _warn_once(f"cannot read the git history of {directory}: {error}")
        return None
    with suppress(GitError):
        return repository.latest()
    return None


_warn_once = cache(partial(log.warning, "%s"))


MOST_COMPARED = 4000
"""Maximum number of lines, or of words in a block of lines, that are compared: the cost is quadratic."""
_WORD = re.compile(rf"[{HAN}]|[^\W_]+|\s+|.")


def blocks_between(before: str, after: str) -> tuple[tuple[WordPiece, ...], ...]:
    """Return the blocks of lines in which two texts differ, compared word by word."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return tuple(
        tuple(_compare_words("".join(old[a:b]), "".join(new[c:d])))
        for change, a, b, c, d in _opcodes(old, new)
        if change != "equal"
    )


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Return the opcodes of `SequenceMatcher`; if there is too much to compare, one that covers everything."""
    if len(old) + len(new) > MOST_COMPARED:
        return [("equal" if old == new else "replace", 0, len(old), 0, len(new))]
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _compare_words(before: str, after: str) -> Iterator[WordPiece]:
    old, new = _WORD.findall(before), _WORD.findall(after)
    for change, a, b, c, d in _opcodes(old, new):
        if change == "equal":
            yield WordPiece(" ", "".join(old[a:b]))
            continue
        for mark, words in (("-", old[a:b]), ("+", new[c:d])):
            if words:
                yield WordPiece(mark, "".join(words))
