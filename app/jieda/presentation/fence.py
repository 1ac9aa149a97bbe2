"""Fences around entries in text for a model. Content cannot close a fence, because it never contains the mark."""

import hashlib
from dataclasses import dataclass
from secrets import randbelow

MARKS = 1_000_000
"""Number of possible marks of six digits: each is two tokens, and no response could contain all of them."""
DIGITS = 16
"""Hexadecimal digits of a derived mark."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A pair of lines that encloses each entry of a response."""

    mark: str

    def around(self, name: str, text: str) -> str:
        """Return a text enclosed in the fence; `name` is its id, and its address if it has one."""
        return f"<entry {self.mark} {name}>\n{text}\n{self.closing}"

    @property
    def closing(self) -> str:
        return f"</entry {self.mark}>"


def random_fence(content: str) -> Fence:
    """Return a random fence whose mark does not occur in `content`, for responses that may differ each time."""
    while (mark := f"{randbelow(MARKS):06}") in content:
        pass
    return Fence(mark)


def derived_fence(content: str) -> Fence:
    """Return the fence of `content`: the same in every process, unpredictable for its authors, and absent from it."""
    digest = hashlib.sha256(content.encode()).hexdigest()
    while digest[:DIGITS] in content:
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return Fence(digest[:DIGITS])
