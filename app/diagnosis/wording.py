"""How much of what somebody wrote is said by an entry, in whatever words of either language."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.analysis.stems import is_function_word
from app.analysis.token import TokenKind
from app.entry import Entry
from app.signature import literal_text

Unit = frozenset[str]
"""A content word: any of its members stands for it (its stem, the glossary groups it belongs to)."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares from 0 to 1, words weighed by rarity: of a text by all that an entry says (`whole`), of a text by the
    one sentence of the entry that says most of it (`sentence`), and of that sentence by the text (`returned`)."""

    whole: float
    sentence: float
    returned: float


class Wording:
    """The words in which some entries tell of a failure."""

    def __init__(self, entries: Iterable[Entry], analyzer: Analyzer, glossary: Glossary) -> None:
        self._analyzer = analyzer
        self._glossary = glossary
        self._sentences: dict[str, tuple[tuple[Unit, ...], ...]] = {}
        self._holders: dict[str, set[str]] = {}
        for entry in entries:
            self._sentences[entry.id] = tuple(self.units(sentence) for sentence in _sentences(entry))
            rest = [self.units(line) for line in _other_lines(entry)]
            for word in frozenset(
                chain.from_iterable(chain.from_iterable((*self._sentences[entry.id], *rest)))
            ):
                self._holders.setdefault(word, set()).add(entry.id)

    def coverage(self, units: Sequence[Unit], at_least: float = 0.0) -> Mapping[str, Coverage]:
        """What entries say of a text, for those that say `at_least` that share of it."""
        weights = [self._weight(unit) for unit in units]
        total = sum(weights) or 1.0
        covered: dict[str, float] = {}
        for unit, weight in zip(units, weights, strict=True):
            for entry_id in set[str]().union(*(self._holders.get(word, ()) for word in unit)):
                covered[entry_id] = covered.get(entry_id, 0.0) + weight
        shares = {entry_id: amount / total for entry_id, amount in covered.items()}
        return {
            entry_id: Coverage(share, *self._best_sentence(entry_id, units))
            for entry_id, share in shares.items()
            if share >= at_least
        }

    def units(self, text: str) -> tuple[Unit, ...]:
        """The content words of `text`, each once."""
        return tuple(dict.fromkeys(self._units(text)))

    def _units(self, text: str) -> Iterator[Unit]:
        analysis = self._analyzer.analyze(text)
        meanings: dict[int, set[str]] = {}
        for mention in self._glossary.mentions(analysis):
            for number in range(mention.first, mention.last + 1):
                meanings.setdefault(number, set()).add(f"c:{mention.group}")
        han = {
            place: token.text
            for token in analysis.tokens
            if token.kind is TokenKind.TERM and token.text > "\u3000"
            for place in range(token.start, token.end)
        }
        for number, atom in enumerate(analysis.atoms):
            word = han.get(atom.start, atom.text) if atom.text > "\u3000" else atom.stem
            if not (is_function_word(word) or is_function_word(atom.text) or word.isdecimal()):
                yield frozenset({f"w:{word}", *meanings.get(number, ())})

    def _best_sentence(self, entry_id: str, units: Sequence[Unit]) -> tuple[float, float]:
        said = frozenset[str]().union(*units)
        return max(
            (
                (self._share(units, frozenset[str]().union(*sentence)), self._share(sentence, said))
                for sentence in self._sentences[entry_id]
            ),
            default=(0.0, 0.0),
        )

    def _share(self, units: Iterable[Unit], said: frozenset[str]) -> float:
        total = covered = 0.0
        for unit in units:
            weight = self._weight(unit)
            total += weight
            covered += weight * (not unit.isdisjoint(said))
        return covered / total if total else 0.0

    def _weight(self, unit: Unit) -> float:
        """Inverse document frequency, as in BM25; a word that nobody says weighs most."""
        holders = max(len(self._holders.get(word, ())) for word in unit)
        return math.log1p((len(self._sentences) - holders + 0.5) / (holders + 0.5))


def _sentences(entry: Entry) -> Iterator[str]:
    for edition in entry.editions.values():
        yield edition.title
        yield from edition.aliases
        yield from edition.symptoms


def _other_lines(entry: Entry) -> Iterator[str]:
    yield from map(literal_text, entry.signature_lines)
    for edition in entry.editions.values():
        if section := edition.section("symptom"):
            yield from section.text.splitlines()
