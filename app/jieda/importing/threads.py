"""Reads threads of an issue tracker from the output of its command line or its export: a JSON array, or JSON lines.

`gh issue list --json …`, the REST answers of GitHub, GitLab and Gitee, and GitLab's project export use different field
names; tables have all of them. Nothing is fetched.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from jieda.errors import JiedaError
from jieda.importing.outline import fence_after
from jieda.importing.wording import WORDING

MAX_BYTES = 256 << 20
MAX_TEXT = 256 << 10
"""Maximum of characters that are read of a text in a thread."""

TITLE = ("title",)
TEXT = ("body", "description", "text", "note")
ADDRESS = ("url", "html_url", "web_url")
NUMBER = ("number", "iid", "id")
AUTHOR = ("author", "user")
AUTHOR_NAME = ("login", "username", "name", "id")
COMMENTS = ("comments", "notes", "comment_list")
COMMENT_COUNT = ("comments", "user_notes_count", "comments_count")
STATE = ("state", "status")
CLOSED = frozenset({"closed", "merged", "progressing_done", "rejected"})
REFERENCE = re.compile(r"(?<![\w/#])#(\d+)\b|/issues/(\w+)")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment in a thread; `reactions`: number of approving ones."""

    author: str
    text: str
    url: str
    reactions: int


@dataclass(frozen=True, slots=True)
class Thread:
    """One issue. `replies`: number of its comments, even if `comments` is empty."""

    url: str
    number: str
    title: str
    text: str
    author: str
    closed: bool
    reactions: int
    replies: int
    comments: tuple[Comment, ...]

    @property
    def quotes(self) -> bool:
        return any(inside for _, inside in _divided(self.text))

    @property
    def logs(self) -> str:
        """Code blocks of its author; the title and the author's whole text if there are none."""
        said = [self.text, *(each.text for each in self.comments if each.author == self.author)]
        quoted = "\n".join(line for text in said for line, inside in _divided(text) if inside)
        return quoted.strip("\n") or "\n".join([self.title, *said])

    def duplicates(self) -> Iterator[str]:
        """Yield the numbers of threads that its text or comments call duplicates."""
        same = WORDING.same_thread
        for text in (self.text, *(each.text for each in self.comments)):
            for line in text.splitlines():
                if same.search(line):
                    yield from (found[1] or found[2] for found in REFERENCE.finditer(line))


def _divided(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines without quotations and without the marks of code blocks, each with whether it is code."""
    lines = [line for line in text.split("\n") if not line.startswith(">")]
    for line, (before, after) in zip(
        lines, pairwise(accumulate(lines, fence_after, initial="")), strict=True
    ):
        if before == after:
            yield line, bool(after)


def read_threads(file: Path) -> tuple[Thread, ...]:
    """Read the threads in a file, each once, without pull requests. Raises JiedaError."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise JiedaError(f"{file} has more than {MAX_BYTES >> 20} MiB: export fewer threads at a time")
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise JiedaError(f"{file} cannot be read: {error}") from error
    found = {
        thread.url: thread
        for each in _objects(text, file)
        if not ("pull_request" in each or "/pull/" in _text(each, ADDRESS)) and (thread := _thread(each))
    }
    return tuple(found.values())


def _objects(text: str, file: Path) -> Iterator[Mapping[str, Any]]:
    lines = [text] if text.lstrip().startswith("[") else text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise JiedaError(f"{file}: line {number} is not JSON, or an array over several lines") from error
        yield from (
            each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)
        )


def _thread(given: Mapping[str, Any]) -> Thread | None:
    """Convert an object to a thread; None if it has no title or no address."""
    title, url = _text(given, TITLE), _text(given, ADDRESS)
    if not (title and url.startswith(("https://", "http://"))):
        return None
    author = _author(given)
    comments = tuple(_comments(_first(given, COMMENTS), url))
    counted = _first(given, COMMENT_COUNT)
    return Thread(
        url=url,
        number=_text(given, NUMBER) or url.rpartition("/")[2],
        title=" ".join(title.split()),
        text=_text(given, TEXT)[:MAX_TEXT],
        author=author,
        closed=_text(given, STATE).casefold() in CLOSED,
        reactions=_reactions(given),
        replies=max(len(comments), counted if isinstance(counted, int) else 0),
        comments=comments,
    )


def _comments(given: object, url: str) -> Iterator[Comment]:
    for each in given if isinstance(given, list) else ():
        if isinstance(each, dict) and not each.get("system") and (text := _text(each, TEXT)):
            address = _text(each, ADDRESS) or url
            yield Comment(_author(each), text[:MAX_TEXT], address, _reactions(each))


def _first(given: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((given[name] for name in names if given.get(name) is not None), None)


def _text(given: Mapping[str, Any], names: Iterable[str]) -> str:
    value = _first(given, names)
    return str(value).replace("\r\n", "\n") if isinstance(value, (str, int)) else ""


def _author(given: Mapping[str, Any]) -> str:
    value = _first(given, AUTHOR)
    return _text(value, AUTHOR_NAME) if isinstance(value, dict) else str(value or "")


def _reactions(given: Mapping[str, Any]) -> int:
    """Return the number of approving reactions, from any tracker's fields."""
    groups = given.get("reactionGroups")
    if isinstance(groups, list):
        kind = [each for each in groups if _within(each, "content") not in {"THUMBS_DOWN", "CONFUSED"}]
        return sum(_count(each, "users", "totalCount") for each in kind)
    said = given.get("reactions")
    if isinstance(said, dict):
        return _count(said, "total_count") - _count(said, "-1") - _count(said, "confused")
    return said if isinstance(said, int) else _count(given, "upvotes")


def _count(given: object, *names: str) -> int:
    value = _within(given, *names)
    return value if isinstance(value, int) else 0


def _within(given: object, *names: str) -> object:
    for name in names:
        given = given.get(name) if isinstance(given, dict) else None
    return given


def solution(thread: Thread) -> Comment | None:
    """Return the comment that solved a thread: the last one with a phrase of success, or, if that is only a short
    thanks, the previous comment of somebody else."""
    found: Comment | None = None
    for place, each in enumerate(thread.comments):
        said = "\n".join(line for line, inside in _divided(each.text) if not inside).strip()
        if WORDING.unsolved.search(said) or not WORDING.solved.search(said):
            continue
        before: Sequence[Comment] = [one for one in thread.comments[:place] if one.author != each.author]
        is_bare = len(said) < WORDING.bare_thanks and not REFERENCE.search(said)
        found = before[-1] if is_bare and before else each
    return found
