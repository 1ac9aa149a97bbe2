"""Tokens of Markdown to plain text; what a token is to those that write one out; and emphasis beside Han text."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from jieda.han import is_east_asian


def can_open_close(before: str, after: str, inside_word: bool) -> tuple[bool, bool]:
    """Whether the run between the characters `before` and `after` may open and may close emphasis.

    A text's start and end count as a space. `inside_word`: whether the marker works within a word
    (`*` does, `_` does not).
    """
    space_before, space_after = before.isspace(), after.isspace()
    cjk_before, cjk_after = is_east_asian(before), is_east_asian(after)
    punctuation_before = _is_punctuation(before)
    punctuation_after = _is_punctuation(after)
    hard_before, hard_after = punctuation_before and not cjk_before, punctuation_after and not cjk_after
    left = not space_after and (not hard_after or space_before or hard_before or cjk_before)
    right = not space_before and (not hard_before or space_after or hard_after or cjk_after)
    if inside_word:
        return left, right
    return left and (not right or punctuation_before), right and (not left or punctuation_after)


def joins_without_space(before: str, after: str) -> bool:
    """Whether a line break between the two characters stands for nothing (Han text has no spaces)."""
    return is_east_asian(before) and is_east_asian(after)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


BREAKS = frozenset({"softbreak", "hardbreak"})
CODE_BLOCKS = frozenset({"fence", "code_block"})


class MarkdownToken(Protocol):
    """What is read of a token. Block tokens of type `inline` have the children."""

    type: str
    tag: str
    nesting: Any
    content: str
    info: str
    hidden: bool
    meta: dict[Any, Any]

    @property
    def attrs(self) -> Mapping[str, str | int | float]:
        """Attributes of the tag."""

    @property
    def children(self) -> "Sequence[MarkdownToken] | None":
        """The inline tokens of a paragraph, a heading, a cell or an image's description."""


def lines_of_text(tokens: Sequence[MarkdownToken]) -> Iterator[str]:
    """One line per paragraph, heading, item or table row; a code block keeps its line breaks."""
    row: list[str] | None = None
    for token in tokens:
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            yield " ".join(row or ())
            row = None
        elif token.type in CODE_BLOCKS:
            yield token.content.removesuffix("\n")
        elif token.type == "inline":
            if row is None:
                yield inline_text(token)
            else:
                row.append(inline_text(token))


def inline_text(token: MarkdownToken) -> str:
    """The text of a token's children, code spans and image descriptions included."""
    children = token.children or ()
    parts: list[str] = []
    for index, child in enumerate(children):
        if child.type == "image":
            parts.append(inline_text(child))
        elif child.type in BREAKS:
            parts.append("" if joins(children, index) else " ")
        else:
            parts.append(child.content)
    return "".join(parts)


def joins(tokens: Sequence[MarkdownToken], index: int) -> bool:
    """Whether the line break at `index` has Han text on both sides, which no space divides."""
    before = next((tokens[at].content for at in range(index - 1, -1, -1) if tokens[at].content), " ")
    after = next((tokens[at].content for at in range(index + 1, len(tokens)) if tokens[at].content), " ")
    return joins_without_space(before[-1], after[0])
