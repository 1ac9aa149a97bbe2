"""Fences around entries in text for a model: content cannot close a fence, because it never contains the mark."""

import hashlib
from dataclasses import dataclass
from secrets import randbelow

MARKS = 1_000_000
"""Number of possible marks, six digits each: two tokens, and far more marks than one response could contain."""
DIGITS = 16
"""Hexadecimal digits of a derived mark."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A pair of lines that encloses each entry of a response."""

    mark: str

    def around(self, name: str, text: str) -> str:
        """Return a text enclosed in the fence; `name` is its id, followed by its address if it has one."""
        return f"<entry {self.mark} {name}>\n{text}\n{self.closing}"

    @property
    def closing(self) -> str:
        return f"</entry {self.mark}>"


def random_fence(content: str) -> Fence:
    """Return a random fence whose mark does not occur in `content`: for responses that may differ each time."""
    mark = f"{randbelow(MARKS):06}"
    while mark in content:
        mark = f"{randbelow(MARKS):06}"
    return Fence(mark)


def derived_fence(content: str) -> Fence:
    """Return the fence of `content`: the same in every process, unpredictable for its authors, and absent from it."""
    digest = hashlib.sha256(content.encode()).hexdigest()
    while digest[:DIGITS] in content:
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return Fence(digest[:DIGITS])
