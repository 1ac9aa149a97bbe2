"""Finds substitutes for the words of a query: synonyms, corrections, identifiers, completions.

Words with a digit are meant as typed, and so is every word of a general dictionary: if no entry has `fight`, it still
does not mean `right`. A name with inner capitals may be a misspelling of another name, never of a word of the
dictionary (`InternVL` is not `interval`); a name of several words, one of which is misspelled, only of such a name.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from rapidfuzz import process
from rapidfuzz.distance import OSA

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import Analysis, Run, RunKind, TokenKind, canonical, text_of
from jieda.analysis.words import homophones, is_function_word
from jieda.han import is_han
from jieda.search.index.protocol import Lexicon
from jieda.search.query.words import Alternative, MatchKind, QueryWord, Substitute, WeightedTerm
from jieda.search.weights import COMPLETED, GLOSSARY, JOINED, TYPO

SHORTEST = 5
"""Shorter words are not corrected: they are similar to too many others."""

MAX_EDITS = ((5, 1), (8, 2))
"""(from this length, edits allowed): a neighbor swap is one edit."""

LONG = 7
"""From this length on, a word is recognizable without its last letter."""

COUNTING = frozenset("〇一二三四五六七八九十百千万两几半每第")
"""Characters of counting: a character beside one is a unit, not a misspelling."""

SEVERAL_WORDS = re.compile(r"[a-z]+(?:_[a-z]+)+")
"""A canonical name of several words and no number."""

MOST_CORRECTIONS = 4
"""Most words for which a correction is sought: each costs a pass over the whole vocabulary."""

MOST_COMPLETIONS = 8
"""Most completions of a half-typed word."""


@dataclass(frozen=True, slots=True)
class Correction:
    """`text[start:end]` was typed, and `word` is searched."""

    start: int
    end: int
    typed: str
    word: str


class Speller:
    """Corrects words by the vocabulary of an index. Safe to share between threads."""

    def __init__(self, lexicon: Lexicon, analyzer: Analyzer) -> None:
        self._doc_frequency = lexicon.doc_frequency
        self._vocabulary = lexicon.vocabulary
        self._is_word = analyzer.is_word

    def corrections(self, analysis: Analysis, known: Sequence[tuple[int, int]]) -> Iterator[Correction]:
        """Yield a correction, wherever it stands, for each plain word that occurs nowhere but has a similar word that
        does. `known`: spans that are right as they are."""
        found: dict[tuple[RunKind, str], str] = {}
        for kind, typed, start, end in self._suspects(analysis):
            # A glossary word may be a part of a misspelled name.
            least = end - start if "_" in typed else 1
            if any(min(last, end) - max(first, start) >= least for first, last in known):
                continue
            if (kind, typed) not in found and len(found) < MOST_CORRECTIONS:
                found[kind, typed] = self._correct(kind, typed)
            if word := found.get((kind, typed)):
                yield Correction(start, end, typed, word)

    def _correct(self, kind: RunKind, typed: str) -> str:
        if kind is RunKind.HAN:
            return self._sounding_like(typed)
        return self._nearest(typed, is_name=kind is RunKind.CODE)

    def _suspects(self, analysis: Analysis) -> Iterator[tuple[RunKind, str, int, int]]:
        """Yield kind, text and span of each word that occurs nowhere."""
        for run in analysis.runs:
            if run.kind is RunKind.HAN:
                yield from self._han_suspects(run)
                continue
            exact, names = run.tokens[0], run.of_kind(TokenKind.TERM)
            if self._misspelled(exact.text, names[0].text if names else ""):
                yield run.kind, exact.text, exact.start, exact.end
            for name in filter(lambda one: SEVERAL_WORDS.fullmatch(one.text), names):
                atoms = [one for one in run.atoms if name.start <= one.start and one.end <= name.end]
                if any(self._misspelled(one.text, one.stem) for one in atoms):
                    yield run.kind, name.text, atoms[0].start, atoms[-1].end

    def completions(self, typed: str) -> Sequence[str]:
        """Return indexed words and identifiers that start with `typed`, shortest first."""
        found = map(text_of, self._vocabulary(TokenKind.EXACT.term(typed)))
        return sorted(found, key=len)[:MOST_COMPLETIONS]

    # Candidates for corrections. Few readers mistype, so these are not computed at start.

    @cached_property
    def _words(self) -> list[str]:
        exact = map(text_of, self._vocabulary(TokenKind.EXACT.term("")))
        return [word for word in exact if word.isalpha() and len(word) >= SHORTEST]

    @cached_property
    def _names(self) -> list[str]:
        return [*filter(SEVERAL_WORDS.fullmatch, map(text_of, self._vocabulary(TokenKind.TERM.term(""))))]

    def _misspelled(self, text: str, stem: str) -> bool:
        if len(text) < SHORTEST or not text.isalpha() or self._is_word(text):
            return False
        forms = [TokenKind.EXACT.term(text), TokenKind.TERM.term(text)]
        forms += [kind.term(stem) for kind in (TokenKind.TERM, TokenKind.PART)]
        return not any(map(self._doc_frequency, forms))

    def _nearest(self, typed: str, *, is_name: bool) -> str:
        allowed = max(edits for length, edits in MAX_EDITS if len(typed) >= length)
        words = self._names if "_" in typed else self._words
        near = process.extract(typed, words, scorer=OSA.distance, score_cutoff=allowed, limit=None)
        # Among equals, the more common word wins. A word with a prefix or suffix (`uninitialized`, `longcat`) is
        # another word, not a misspelling.
        ranked = sorted(
            (edits, -self._doc_frequency(TokenKind.EXACT.term(word)), word)
            for word, edits, _ in near
            if _same_start(typed, word)
            and (_same_end(typed, word) or (edits == 1 and len(typed) >= LONG))
            and not (typed.endswith(word) or typed.startswith(word))
            and not (is_name and self._is_word(word))
        )
        return ranked[0][-1] if ranked else ""

    def _han_suspects(self, run: Run) -> Iterator[tuple[RunKind, str, int, int]]:
        """Yield the pairs of neighbors outside any word of which exactly one occurs anywhere."""
        in_words = {at for word in run.of_kind(TokenKind.TERM) for at in range(word.start, word.end)}
        for left, right in pairwise(run.atoms):
            typed = left.text + right.text
            if left.start in in_words or right.start in in_words or COUNTING.intersection(typed):
                continue
            if self._occurs(left.text) != self._occurs(right.text):
                yield run.kind, typed, left.start, right.end

    def _occurs(self, character: str) -> bool:
        return self._doc_frequency(TokenKind.GRAM.term(character)) > 0

    def _sounding_like(self, typed: str) -> str:
        """Return the most common indexed word of two characters with the one that occurs in the same place and the
        same sound, since input methods err by sound."""
        left, right = typed[0], typed[1]
        if self._occurs(left):
            near = [left + other for other in homophones(right)]
        else:
            near = [other + right for other in homophones(left)]
        words = [(held, word) for word in near if (held := self._doc_frequency(TokenKind.TERM.term(word)))]
        return max(words, default=(0, ""))[-1]

    @staticmethod
    def rewrite(text: str, corrections: Sequence[Correction]) -> str:
        """Return `text` with all corrections applied, or an empty text without corrections."""
        if not corrections:
            return ""
        for correction in sorted(corrections, key=lambda one: -one.start):
            start, end, word = correction.start, correction.end, correction.word
            word = word.replace("_", "-") if "-" in text[start:end] else word
            word = word.upper() if text[start:end].isupper() else word
            text = text[:start] + word + text[end:]
        return text


def _same_start(typed: str, word: str) -> bool:
    """Whether the start of `typed` may be a misspelling of that of `word`: the first letter is hardly ever wrong,
    unless it is swapped with the second; `segfault` is not `default`."""
    return typed[0] == word[0] or typed[:2] == word[1::-1]


def _same_end(typed: str, word: str) -> bool:
    """Whether the last letter is equal, swapped with the one before, or missing: short words with different last
    letters are seldom misspellings of one another (`httpx` is not `https`), and names are often words with other
    endings."""
    return typed[-1] == word[-1] or typed[-2:] == word[:-3:-1] or typed == word[:-1]


LONGEST_JOINED = 6
"""Most neighbors that are tried as one identifier."""
SHORTEST_SPLIT, LONGEST_SPLIT = 6, 24
"""Bounds of the letters of a word that may be a name of two joined words."""
SHORTEST_COMPLETED = 3
"""Fewer letters begin too many words."""


class Substitutes:
    """Finds substitutes with the analyzer, glossary and vocabulary of the index."""

    def __init__(self, analyzer: Analyzer, glossary: Glossary, lexicon: Lexicon, speller: Speller) -> None:
        self._analyzer = analyzer
        self._glossary = glossary
        self._doc_frequency: Callable[[str], int] = lexicon.doc_frequency
        self._are_neighbors: Callable[[str, str], bool] = lexicon.are_neighbors
        self._speller = speller

    def synonyms(self, words: Sequence[QueryWord], text: str, analysis: Analysis) -> Iterator[Substitute]:
        """Yield the group of every glossary word in the query."""
        weight, cover = GLOSSARY
        spans = analysis.spans
        for mention in self._glossary.mentions(analysis):
            start, end = spans[mention.first][0], spans[mention.last][1]
            if covered := _overlapped(words, start, end):
                # The label is as typed: `fails` where the glossary has `failure`.
                typed = " ".join(self._analyzer.plain(text[start:end]).split())
                concept = WeightedTerm((TokenKind.CONCEPT.term(str(mention.group)),), typed)
                # A glossary word inside an identifier substitutes only for that part of it.
                share = min(1.0, (end - start) / (words[covered[-1]].end - words[covered[0]].start))
                yield Substitute(
                    covered[0], covered[-1], concept, weight * share, cover * share, MatchKind.GLOSSARY
                )

    def joined(self, words: Sequence[QueryWord]) -> Iterator[Substitute]:
        """Yield identifiers that neighbors spell: `rollout_batch_size` for `rollout batch size`, `dataset` for
        `data set`."""
        parts = [word.text.strip("-_") for word in words]
        ends = [is_han(part) or part.isdigit() for part in parts]
        serve = [is_function_word(part) for part in parts]
        for first in range(len(words)):
            for last in range(first + 1, min(first + LONGEST_JOINED, len(words))):
                if ends[first] or ends[last]:
                    break
                if all(serve[first : last + 1]):
                    continue
                label = "_".join(parts[first : last + 1])
                names = [TokenKind.TERM.term(canonical(label))]
                # `on chips` is no inflection of `on-chip`, nor `a way` the word `away`.
                if not any(serve[first : last + 1]):
                    stems = "_".join(word.stem for word in words[first : last + 1])
                    names += [
                        TokenKind.PART.term(stems),
                        *self._terms_of_word("".join(parts[first : last + 1])),
                    ]
                if variants := tuple(name for name in names if self._doc_frequency(name)):
                    rarest = min(words[first : last + 1], key=self._doc_frequency_of)
                    own = max(map(self._doc_frequency, variants))
                    beside = (
                        rarest.alternatives[0].terms[0].variants
                        if self._doc_frequency_of(rarest) > own
                        else ()
                    )
                    term = WeightedTerm(variants, label, also_counted=beside)
                    yield Substitute(first, last, term, *JOINED, MatchKind.IDENTIFIER)

    def _terms_of_word(self, text: str) -> tuple[str, ...]:
        """Return the terms of a word if some entry has it as it is."""
        has = self._doc_frequency(TokenKind.EXACT.term(text))
        return index_terms(self._analyzer.analyze(text)) if has else ()

    def split(self, word: QueryWord) -> QueryWord:
        """Return the word; one that is in no entry and no name may get an alternative of two neighbors: `mbedtls` for
        Mbed TLS."""
        if self._occurs(word) or self._names(word):
            return word
        for halves in _in_two(word.text):
            if self._doc_frequency(TokenKind.EXACT.term(halves[0])) and self._are_neighbors(*halves):
                terms = tuple(WeightedTerm(index_terms(self._analyzer.analyze(one)), one) for one in halves)
                apart = Alternative(terms, source=MatchKind.IDENTIFIER)
                return replace(word, alternatives=(*word.alternatives, apart))
        return word

    def corrected(
        self, words: Sequence[QueryWord], corrections: Sequence[Correction]
    ) -> Iterator[Substitute]:
        """Yield the indexed word for each mistyped one."""
        for correction in corrections:
            if covered := _overlapped(words, correction.start, correction.end):
                term = WeightedTerm(self._whole(correction.word), correction.word)
                yield Substitute(covered[0], covered[-1], term, *TYPO, MatchKind.TYPO)

    def _whole(self, word: str) -> tuple[str, ...]:
        """Return the index terms of a word, or of a name without its parts."""
        return (TokenKind.TERM.term(word),) if "_" in word else index_terms(self._analyzer.analyze(word))

    def completed(
        self, words: Sequence[QueryWord], analysis: Analysis, *, unfinished: bool
    ) -> Iterator[Substitute]:
        """Yield completions of the last word, if it is `unfinished` or occurs nowhere as it is."""
        typed = analysis.runs[-1].tokens[0].text if analysis.runs else ""
        if len(typed) < SHORTEST_COMPLETED or is_han(typed):
            return
        # A word that is repeated stands at its first place.
        number = next(number for number, word in enumerate(words) if word.text == typed)
        if not unfinished and self._occurs(words[number]):
            return
        for completed in self._speller.completions(typed):
            term = WeightedTerm((TokenKind.EXACT.term(completed),), completed)
            yield Substitute(number, number, term, *COMPLETED, MatchKind.COMPLETED)

    def named(self, words: Sequence[QueryWord]) -> Iterator[Substitute]:
        """Yield names for `doSomething` typed without its capitals and `multi-line` without its hyphen: names are
        indexed whole, plain words by stem."""
        for number, word in enumerate(words):
            if not self._occurs(word) and (names := self._names(word)):
                yield Substitute(
                    number, number, WeightedTerm(names, word.text), *JOINED, MatchKind.IDENTIFIER
                )

    def _occurs(self, word: QueryWord) -> bool:
        return self._doc_frequency_of(word) > 0

    def _doc_frequency_of(self, word: QueryWord) -> int:
        """Return how many documents have the word in its most common form."""
        return max(map(self._doc_frequency, word.alternatives[0].terms[0].variants), default=0)

    def _names(self, word: QueryWord) -> tuple[str, ...]:
        """Return the names in the index that differ from the word only in capitals or a joiner."""
        names = map(TokenKind.TERM.term, (word.text, *map("_".join, _in_two(word.text))))
        return tuple(name for name in names if self._doc_frequency(name))


def _in_two(word: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of words that `word` may consist of."""
    if SHORTEST_SPLIT <= len(word) <= LONGEST_SPLIT and word.isalnum() and not is_han(word):
        for place in range(2, len(word) - 1):
            yield word[:place], word[place:]


def _overlapped(words: Sequence[QueryWord], start: int, end: int) -> list[int]:
    """Return the numbers of the words that share a character with `start:end` of the query."""
    return [number for number, word in enumerate(words) if word.start < end and start < word.end]


def index_terms(analysis: Analysis) -> tuple[str, ...]:
    """Return the index terms of a word: as written, its stem or the word, and its parts."""
    kinds = (TokenKind.EXACT, TokenKind.TERM, TokenKind.PART)
    return tuple(dict.fromkeys(token.term for token in analysis.tokens if token.kind in kinds))
