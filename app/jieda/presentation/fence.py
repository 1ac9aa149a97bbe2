"""Fences around text of entries that a model is handed: content cannot close one, for it never holds the mark."""

import hashlib
from dataclasses import dataclass
from secrets import randbelow

MARKS = 1_000_000
"""Marks to draw from, six digits each: two tokens, and many more than one answer could hold."""
DIGITS = 16
"""Hexadecimal digits of a mark made from a digest."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A pair of lines that stands around each entry of an answer."""

    mark: str

    def around(self, name: str, text: str) -> str:
        """Return the text of an entry between its lines; `name` is its id, and its address where it has one."""
        return f"<entry {self.mark} {name}>\n{text}\n{self.closing}"

    @property
    def closing(self) -> str:
        """The line that ends an entry."""
        return f"</entry {self.mark}>"


def drawn(content: str) -> Fence:
    """Return a fence by chance that nothing in `content` holds: for an answer that is never the same twice."""
    mark = f"{randbelow(MARKS):06}"
    while mark in content:
        mark = f"{randbelow(MARKS):06}"
    return Fence(mark)


def derived(content: str) -> Fence:
    """Return the fence of `content`, the same in every process, which no text in it can foresee and none holds."""
    digest = hashlib.sha256(content.encode()).hexdigest()
    while digest[:DIGITS] in content:
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return Fence(digest[:DIGITS])
