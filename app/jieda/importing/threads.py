"""Reads threads of an issue tracker from a JSON array or JSON lines: `gh issue list --json …`, the REST answers of
GitHub, GitLab and Gitee, or GitLab's project export. FIELDS has the field names of all of them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jieda.errors import JiedaError
from jieda.importing.elements import MARKUP
from jieda.importing.outline import fence_after
from jieda.importing.wording import WORDING

MAX_BYTES = 256 << 20
MAX_TEXT = 256 << 10
"""Maximum number of characters read of each text in a thread."""

FIELDS = {name: tuple(text.split()) for name, text in MARKUP["thread"].items()}
CLOSED = frozenset({"closed", "merged", "progressing_done", "rejected"})
REFERENCE = re.compile(r"(?<![\w/#])#(\d+)\b|/issues/(\w+)")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment in a thread. `reactions`: number of approving ones."""

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
    def has_code(self) -> bool:
        return any(is_code for _, is_code in _lines_of(self.text))

    @property
    def logs(self) -> str:
        """Code blocks by its author, or the title and all texts by the author if there are none."""
        texts = [self.text, *(each.text for each in self.comments if each.author == self.author)]
        quoted = "\n".join(line for text in texts for line, is_code in _lines_of(text) if is_code)
        return quoted.strip("\n") or "\n".join([self.title, *texts])

    def duplicates(self) -> Iterator[str]:
        """Yield the numbers of threads that its text or comments call duplicates."""
        same = WORDING.same_thread
        for text in (self.text, *(each.text for each in self.comments)):
            for line in text.splitlines():
                if same.search(line):
                    yield from (match[1] or match[2] for match in REFERENCE.finditer(line))


def _lines_of(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines except quotations and code fences, each with whether it is code."""
    fence = ""
    for line in text.split("\n"):
        if not line.startswith(">"):
            before, fence = fence, fence_after(fence, line)
            if before == fence:
                yield line, bool(fence)


def read_threads(file: Path) -> tuple[Thread, ...]:
    """Read the threads in a file, each once, without pull requests. Raises JiedaError."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise JiedaError(f"{file} has more than {MAX_BYTES >> 20} MiB: export fewer threads at a time")
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise JiedaError(f"{file} cannot be read: {error}") from error
    by_url = {
        thread.url: thread
        for issue in _objects(text, file)
        if not ("pull_request" in issue or "/pull/" in _text(issue, "address")) and (thread := _thread(issue))
    }
    return tuple(by_url.values())


def _objects(text: str, file: Path) -> Iterator[Mapping[str, Any]]:
    lines = [text] if text.lstrip().startswith("[") else text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            parsed = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise JiedaError(f"{file}: line {number} is not JSON, or an array over several lines") from error
        yield from (
            each for each in (parsed if isinstance(parsed, list) else [parsed]) if isinstance(each, dict)
        )


def _thread(fields: Mapping[str, Any]) -> Thread | None:
    """Convert an object to a thread; None if it has no title or no address."""
    title, url = _text(fields, "title"), _text(fields, "address")
    if not (title and url.startswith(("https://", "http://"))):
        return None
    author = _author(fields)
    comments = tuple(_comments(_first(fields, "comments"), url))
    count = _first(fields, "comment_count")
    return Thread(
        url=url,
        number=_text(fields, "number") or url.rpartition("/")[2],
        title=" ".join(title.split()),
        text=_text(fields, "text")[:MAX_TEXT],
        author=author,
        closed=_text(fields, "state").casefold() in CLOSED,
        reactions=_reactions(fields),
        replies=max(len(comments), count if isinstance(count, int) else 0),
        comments=comments,
    )


def _comments(items: object, url: str) -> Iterator[Comment]:
    for comment in items if isinstance(items, list) else ():
        if isinstance(comment, dict) and not comment.get("system") and (text := _text(comment, "text")):
            address = _text(comment, "address") or url
            yield Comment(_author(comment), text[:MAX_TEXT], address, _reactions(comment))


def _first(fields: Mapping[str, Any], kind: str) -> Any:
    return next((fields[name] for name in FIELDS[kind] if fields.get(name) is not None), None)


def _text(fields: Mapping[str, Any], kind: str) -> str:
    value = _first(fields, kind)
    return str(value).replace("\r\n", "\n") if isinstance(value, (str, int)) else ""


def _author(fields: Mapping[str, Any]) -> str:
    value = _first(fields, "author")
    return _text(value, "author_name") if isinstance(value, dict) else str(value or "")


def _reactions(fields: Mapping[str, Any]) -> int:
    """Return the number of approving reactions, whatever fields the tracker has."""
    groups = fields.get("reactionGroups")
    if isinstance(groups, list):
        approving = [each for each in groups if _value_at(each, "content") not in {"THUMBS_DOWN", "CONFUSED"}]
        return sum(_count(each, "users", "totalCount") for each in approving)
    reactions = fields.get("reactions")
    if isinstance(reactions, dict):
        return _count(reactions, "total_count") - _count(reactions, "-1") - _count(reactions, "confused")
    return reactions if isinstance(reactions, int) else _count(fields, "upvotes")


def _count(fields: object, *names: str) -> int:
    value = _value_at(fields, *names)
    return value if isinstance(value, int) else 0


def _value_at(value: object, *names: str) -> object:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def solution(thread: Thread) -> Comment | None:
    """Return the comment that solved a thread: the last with a phrase of success or, if that only says thanks, the
    previous comment by somebody else."""
    solving: Comment | None = None
    for place, comment in enumerate(thread.comments):
        text = "\n".join(line for line, is_code in _lines_of(comment.text) if not is_code).strip()
        if WORDING.unsolved.search(text) or not WORDING.solved.search(text):
            continue
        others = [other for other in thread.comments[:place] if other.author != comment.author]
        is_bare = len(text) < WORDING.bare_thanks and not REFERENCE.search(text)
        solving = others[-1] if is_bare and others else comment
    return solving
