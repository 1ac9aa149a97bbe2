"""Changed files as a patch that `git apply` takes."""

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

NO_END = "\\ No newline at end of file\n"
_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; `before` is None where it is new. `where` is its path with slashes."""

    where: str
    before: str | None
    after: str


def patch_of(changes: Iterable[Change]) -> str:
    """The patch, empty where nothing changes."""
    return "".join(line for change in changes if change.before != change.after for line in _file(change))


def _file(change: Change) -> Iterator[str]:
    yield f"diff --git a/{change.where} b/{change.where}\n"
    if change.before is None:
        yield "new file mode 100644\n"
    old = "/dev/null" if change.before is None else f"a/{change.where}"
    # Lines end at line feeds alone: Python knows more ends of lines than git.
    before, after = _LINES.findall(change.before or ""), _LINES.findall(change.after)
    for line in difflib.unified_diff(before, after, old, f"b/{change.where}"):
        yield line if line.endswith("\n") else f"{line}\n{NO_END}"
