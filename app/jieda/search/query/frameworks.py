"""The frameworks that a question names: whose entries are asked for, whatever else it says."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from jieda.analysis.pipeline import Analyzer
from jieda.analysis.token import TokenKind
from jieda.han import has_han
from jieda.search.query.words import QueryWord
from jieda.search.weights import FUNCTION_WORD_WEIGHT
from jieda.taxonomy import Tag

OWN_USES = 0.5
"""The share of entries with an ordinary word in them that are of the framework it names, where it is said for that: of
`slime` nearly all, of a framework called Leave hardly any."""


@dataclass(frozen=True, slots=True)
class Naming:
    """`text[start:end]` of a question names a framework."""

    framework: str
    start: int
    end: int


class FrameworkNames:
    """The names of a taxonomy's frameworks, ready to be found in questions."""

    def __init__(
        self,
        frameworks: Iterable[Tag],
        analyzer: Analyzer,
        frequency: Callable[[str], int],
        entries: Callable[[str], int],
    ) -> None:
        """How many entries hold an index term, and how many a framework has."""
        self._is_word, self._frequency, self._entries = analyzer.is_word, frequency, entries
        self._owners: dict[str, dict[str, str]] = {}
        """By the folded name, the frameworks called so and how each writes it."""
        for tag in frameworks:
            for name in filter(None, (*tag.name.values(), tag.id)):
                self._owners.setdefault(name.casefold(), {}).setdefault(tag.id, name)
        longest_first = "|".join(map(re.escape, sorted(self._owners, key=len, reverse=True)))
        self._names = re.compile(
            rf"(?<![A-Za-z0-9_./-])(?:{longest_first})(?![A-Za-z0-9_/-]|\.\w)", re.IGNORECASE
        )

    def of(self, text: str) -> Iterator[Naming]:
        """Every place that names a framework; a name inside another, a path or an identifier names none."""
        if not self._owners:
            return
        for found in self._names.finditer(text):
            for framework, name in self._owners.get(found.group().casefold(), {}).items():
                if self._is_meant(found.group(), framework, name, text):
                    yield Naming(framework, *found.span())

    def _is_meant(self, typed: str, framework: str, name: str, text: str) -> bool:
        """An English word names a framework where it is written as the name is, or stands in a Chinese sentence, and
        where entries mostly use it so."""
        word = name.casefold()
        if not self._is_word(word):
            return True
        uses = self._frequency(TokenKind.EXACT.term(word))
        return (typed == name or has_han(text)) and self._entries(framework) >= OWN_USES * uses


def lightened(words: Sequence[QueryWord], namings: Sequence[Naming]) -> list[QueryWord]:
    """The words of a question, those that name a framework as light as one that only serves the sentence: they say
    whose entries are asked for, and not about what."""
    return [
        _light(word) if any(one.start <= word.start and word.end <= one.end for one in namings) else word
        for word in words
    ]


def _light(word: QueryWord) -> QueryWord:
    ways = tuple(
        replace(way, terms=tuple(replace(term, weight=FUNCTION_WORD_WEIGHT) for term in way.terms))
        for way in word.alternatives
    )
    return replace(word, alternatives=ways)


def unnamed(text: str, namings: Sequence[Naming]) -> str:
    """A question without the frameworks that it names, where anything else is said: titles that only name the same are
    no answers."""
    for one in sorted(set(namings), key=lambda each: -each.start):
        text = f"{text[: one.start]} {text[one.end :]}"
    return text if re.search(r"\w", text) else ""
