"""What can be wrong with a glossary: a word in two groups, a Chinese word that the tokenizer takes apart, a group
that leads nowhere.

Tokenizer and search lie above this package, so both are passed in.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from jieda.content.check.finding import RuleFinding
from jieda.content.read.yaml_reader import Fields, Items, Scalar, read_items
from jieda.han import HAN

SHORT_CHINESE = re.compile(rf"[{HAN}]{{2,4}}")
"""Words of this form are words to the reader, so they should be words to the tokenizer."""

MOST_NAMED = 3

_SPACING = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word of the group that is `group`th in its file (from 0), and its line (from 1)."""

    text: str
    group: int
    line: int


def placed_words(glossary: str) -> tuple[PlacedWord, ...]:
    """The words of the text of a glossary.yaml, in order. Raises YamlError; skips what is not a word."""
    return tuple(
        PlacedWord(word.text.strip(), number, word.line)
        for number, group in enumerate(read_items(glossary).items)
        if isinstance(group, Fields)
        for words in group.values.values()
        if isinstance(words, Items)
        for word in words.items
        if isinstance(word, Scalar)
    )


def repeated_words(where: str, words: Iterable[PlacedWord]) -> Iterator[RuleFinding]:
    """Words that stand in an earlier group as well; case, width and the spacing of a word make no difference.

    `words` are those of one file: in a later content directory a group adds to a shipped one by naming a
    word of it.
    """
    first: dict[str, PlacedWord] = {}
    for word in words:
        earlier = first.setdefault(_same(word.text), word)
        if earlier.group != word.group:
            message = (
                f"{word.text!r} stands in the group of line {earlier.line}, too; a word belongs to one group"
            )
            yield RuleFinding(where, word.line, message)


def split_words(
    where: str, words: Iterable[PlacedWord], is_kept: Callable[[str], bool]
) -> Iterator[RuleFinding]:
    """Chinese words of two to four characters that the tokenizer does not keep whole."""
    for word in words:
        if SHORT_CHINESE.fullmatch(word.text) and not is_kept(word.text):
            yield RuleFinding(
                where, word.line, f"{word.text} is split by the tokenizer: add it to dictionary.txt"
            )


def unanswered_groups(
    where: str, words: Iterable[PlacedWord], finds: Callable[[str], bool]
) -> Iterator[RuleFinding]:
    """Groups none of whose words finds anything. The words of a group are tried until one does."""
    for _, group in groupby(words, key=lambda word: word.group):
        members = tuple(group)
        if not any(finds(word.text) for word in members):
            named = ", ".join(word.text for word in members[:MOST_NAMED])
            more = ", …" if len(members) > MOST_NAMED else ""
            yield RuleFinding(where, members[0].line, f"no search for {named}{more} finds anything yet")


def _same(word: str) -> str:
    return _SPACING.sub(" ", unicodedata.normalize("NFKC", word).casefold())
