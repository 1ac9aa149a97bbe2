"""Reference engines without an index: every query scans every document, with the formulas written out term by term.

`ListScan` is the reference for every score, so it shares no code with `jieda.search.rank`; weights and thresholds come
from where they are defined. `DictionaryIndex` is a second implementation of the index protocol: plain dictionaries, no
arrays except in its results, and the matching documents as candidates instead of all.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log

import numpy as np
from jieda.search import weights
from jieda.search.answers import FacetCount
from jieda.search.index.document import (
    ELSEWHERE,
    ZONES,
    Document,
    IndexedText,
    Spelled,
    between,
    left_edge,
    right_edge,
)
from jieda.search.index.protocol import (
    SPELLED_BITS,
    Candidates,
    Lookup,
    Postings,
    ScoredDocument,
    Share,
    Variants,
)
from jieda.search.meaning.word_vectors import WordVectors
from jieda.search.query.words import Alternative, Clause, MatchKind, Query, WeightedTerm
from jieda.search.rank.ranker import Contribution
from jieda.search.weights import K1, KIND_WEIGHTS, ZONE_WEIGHTS
from jieda.taxonomy import FACETS, HOLDS, Filters

SEPARATORS = re.compile(r"(?<=\w)(?:\\?[-_ ])+(?=\w)")


@dataclass(frozen=True, slots=True)
class Standing:
    """The score of one document for a query."""

    document: Document
    score: float
    coverage: float
    tier: int

    def scored(self) -> ScoredDocument:
        """Return it in the form of a ranking."""
        lifted = min(self.score, weights.HIGHEST) + weights.TIER_STEP * self.tier
        return ScoredDocument(self.document.id, 0, lifted, self.coverage, self.tier)


@dataclass(frozen=True, slots=True)
class Results:
    """All results, best first, and counts."""

    ranked: tuple[ScoredDocument, ...]
    facets: Mapping[str, tuple[FacetCount, ...]]
    near: tuple[ScoredDocument, ...]
    phrase_dropped: bool


class Frequencies:
    """tf~ of a list of documents, computed one by one."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = sorted(documents, key=lambda one: one.id)

    def of_pool(self, variants: Sequence[str], document: Document) -> float:
        """Return the sum over all terms and zones."""
        return sum(self.of_zone(variant, zone, document) for variant in set(variants) for zone in ZONES)

    def of_zone(self, variant: str, zone: str, document: Document) -> float:
        """Return the weighted frequency of a term in a zone."""
        counts = document.zones.get(zone, {})
        if variant not in counts:
            return 0.0
        weight = ZONE_WEIGHTS[zone]
        norm = 1 - weight.b + weight.b * sum(counts.values()) / weight.pivot
        return KIND_WEIGHTS[variant[0]] * weight.weight * counts[variant] / norm

    def doc_frequency(self, variants: Sequence[str]) -> int:
        """Return how many documents contain any of the terms."""
        return sum(self.of_pool(variants, one) > 0 for one in self.documents)


class ListScan:
    """The ranking, written out."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._frequencies = Frequencies(documents)
        self._documents = self._frequencies.documents

    def search(self, query: Query) -> Results:
        """Rank all documents that match."""
        standings = self.standings(query)
        required = [one for one in standings if all(holds(one.document, p) for p in query.required)]
        dropped = bool(query.required) and not required
        allowed = standings if dropped else required
        threshold = answer_threshold(query, standings)
        answering = [one for one in allowed if one.tier > 0 or (one.score > 0 and one.coverage >= threshold)]
        near = [one for one in allowed if one.score > 0 and one not in answering]
        return Results(
            ranked=tuple(ranked(one for one in answering if passes(one.document, query.filters))),
            facets={facet: tuple(self._counts(facet, answering, query.filters)) for facet in FACETS},
            near=tuple(ranked(one for one in near if passes(one.document, query.filters)))[
                : weights.NEAR_MISSES
            ],
            phrase_dropped=dropped,
        )

    def explain(self, query: Query, document_id: str) -> tuple[Contribution, ...]:
        """Return the contribution of each clause's best alternative, by term and zone."""
        document = next(one for one in self._documents if one.id == document_id)
        found: list[list[Contribution]] = []
        for clause in query.clauses:
            best = max(clause.alternatives, key=lambda one: self._alternative(one, document))
            found += [self._by_zone(term, best.weight, best.source, document) for term in best.terms]
        return tuple(sorted(chain.from_iterable(found), key=lambda one: -one.score))

    def standings(self, query: Query) -> list[Standing]:
        """Return every document with its score, matching or not, in order of ids."""
        return [self._standing(query, document) for document in self._documents]

    def _standing(self, query: Query, document: Document) -> Standing:
        importances = [self._importance(clause) for clause in query.clauses]
        shares = [self._share(clause, document) for clause in query.clauses]
        covered = sum(i * share for i, share in zip(importances, shares, strict=True))
        coverage = covered / sum(importances) if sum(importances) > 0 else 0.0
        score = sum(
            max(self._alternative(one, document) for one in clause.alternatives) for clause in query.clauses
        )
        if sum(importances) > 0:
            score /= sum(importances) * (K1 + 1)
        floor = weights.COVERAGE_FLOOR
        score *= floor + (1 - floor) * coverage**weights.COVERAGE_POWER
        if score > 0 and sum(importances) > 0:
            score += weights.NEIGHBORS * self._ordered(query, document) / sum(importances)
        tier = tier_of_writing(query, document) if query.exact_first and holds(document, query.phrase) else 0
        if set(query.keys) & set(document.keys):
            tier = weights.EXACT_TIER
        return Standing(document, score, coverage, tier)

    def _ordered(self, query: Query, document: Document) -> float:
        held = [pair for pair in query.neighbors if holds(document, pair.atoms)]
        return sum(
            pair.weight * self._idf_of(sum(holds(one, pair.atoms) for one in self._documents))
            for pair in held
        )

    def _alternative(self, alternative: Alternative, document: Document) -> float:
        terms = ((term, self._frequencies.of_pool(term.variants, document)) for term in alternative.terms)
        return alternative.weight * sum(
            term.weight * self._idf(term) * (K1 + 1) * frequency / (K1 + frequency)
            for term, frequency in terms
        )

    def _share(self, clause: Clause, document: Document) -> float:
        """Return the part of a clause that a document covers, 0 to 1."""
        shares = [0.0]
        for one in clause.alternatives:
            total = sum(term.weight * self._idf(term) for term in one.terms)
            held = [term for term in one.terms if self._frequencies.of_pool(term.variants, document) > 0]
            if total > 0:
                shares.append(one.cover * sum(term.weight * self._idf(term) for term in held) / total)
        return max(shares)

    def _importance(self, clause: Clause) -> float:
        return sum(term.weight * self._idf(term) for term in clause.alternatives[0].terms)

    def _idf(self, term: WeightedTerm) -> float:
        return self._idf_of(self._frequencies.doc_frequency(term.variants))

    def _idf_of(self, holders: int) -> float:
        return log(1 + (len(self._documents) - holders + 0.5) / (holders + 0.5))

    def _by_zone(
        self, term: WeightedTerm, weight: float, source: MatchKind, document: Document
    ) -> list[Contribution]:
        """Split a term's score among the zones that contribute to it."""
        frequency = self._frequencies.of_pool(term.variants, document)
        score = weight * term.weight * self._idf(term) * (K1 + 1) * frequency / (K1 + frequency)
        return [
            Contribution(term.label, source, zone, variant, score * brought / frequency)
            for variant in dict.fromkeys(term.variants)
            for zone in ZONES
            if (brought := self._frequencies.of_zone(variant, zone, document))
        ]

    def _counts(self, facet: str, answering: Sequence[Standing], filters: Filters) -> Iterator[FacetCount]:
        """Yield how many results each value would have if it were the one chosen in its facet."""
        among = [one.document for one in answering if passes(one.document, filters.without(facet))]
        values = {value for one in self._documents for value in one.facets.get(facet, ())}
        counts = {value: sum(value in one.facets.get(facet, ()) for one in among) for value in values}
        for value in sorted(values, key=lambda value: (-counts[value], value)):
            if counts[value] or value in filters.facet(facet):
                yield FacetCount(value, counts[value])


def answer_threshold(query: Query, standings: Sequence[Standing]) -> float:
    """Return the coverage from which a document is a result."""
    best = max((one.coverage for one in standings), default=0.0)
    held = query.spelling.is_code and any(one.tier for one in standings)
    return max(weights.ANSWER_COVERAGE, (weights.HELD_SHARE if held else weights.ANSWER_SHARE) * best)


def holds(document: Document, phrase: Sequence[str]) -> bool:
    """Return whether a document contains the atoms of a phrase consecutively."""
    return any(True for _ in occurrences(document, phrase))


def occurrences(document: Document, phrase: Sequence[str]) -> Iterator[tuple[IndexedText, int]]:
    """Yield the texts that contain a phrase, with the position of its first atom."""
    size = len(phrase)
    for passage in document.texts:
        for at in range(len(passage.atoms) - size + 1):
            if size and passage.atoms[at : at + size] == tuple(phrase):
                yield passage, at


def tier_of_writing(query: Query, document: Document) -> int:
    """Return the tier, by matching patterns of the query against the reassembled text of a document."""
    spelling = query.spelling
    typed = "".join(chain.from_iterable(zip(spelling.separators, (*query.phrase, ""), strict=True)))
    escaped = re.escape(typed)
    texts: dict[int, list[str]] = {0: [], 1: [], 2: [], ELSEWHERE: []}
    for passage in document.texts:
        pieces = chain.from_iterable(zip(passage.separators, (*passage.atoms, ""), strict=True))
        texts[passage.region].append("".join(pieces))

    def found(pattern: str, *regions: int) -> bool:
        return any(re.search(pattern, text) for region in regions for text in texts[region])

    alone = rf"(?<!\w)(?<!\w-){escaped}(?![\w-])"
    alike = rf"(?<!\w)(?<!\w-){SEPARATORS.sub('[-_ ]+', escaped)}(?![\w-])"
    in_title = found(alone, 0) or (spelling.has_han and found(escaped, 0))
    rules = [
        (spelling.is_code and bool(set(spelling.spans) & set(document.keys)), weights.CODE_SPAN_TIER),
        (in_title, weights.IN_TITLE_TIER),
        (found(alone, 1), weights.WHOLE_TIER),
        (not spelling.is_code and not spelling.is_span and found(alone, 2), weights.WHOLE_TIER),
        (found(alike, 0, 1), weights.ALIKE_TIER),
        (found(escaped, 0, 1), weights.INSIDE_TIER),
        (True, weights.HOLDER_TIER),
    ]
    return next(tier for held, tier in rules if held)


def passes(document: Document, filters: Filters) -> bool:
    """Return whether a document has a chosen value in every filtered facet, and nothing excluded."""
    wanted = {facet: filters.facet(facet) for facet in FACETS}
    wanted["edition"] = filters.edition
    return not set(filters.ruled_out) & set(document.facets.get(HOLDS, ())) and all(
        not values or bool(set(values) & set(document.facets.get(facet, ())))
        for facet, values in wanted.items()
    )


def ranked(standings: Iterable[Standing]) -> list[ScoredDocument]:
    """Sort best first, every tier before all lower ones; ties keep their order."""
    return [one.scored() for one in sorted(standings, key=lambda one: (-one.tier, -one.score))]


class DictionaryIndex:
    """Implements `protocol.Index` over a list."""

    is_remote = False

    def __init__(self, documents: Iterable[Document]) -> None:
        self.frequencies = Frequencies(documents)
        self.documents = self.frequencies.documents
        self.lexicon = self
        self.vectors: WordVectors | None = None

    def doc_frequency(self, term: str) -> int:
        """Return how many documents contain a term in any zone."""
        return sum(any(term in terms for terms in one.zones.values()) for one in self.documents)

    def vocabulary(self, prefix: str) -> Sequence[str]:
        """Return all terms that start with `prefix`, sorted."""
        terms = {term for one in self.documents for zone in one.zones.values() for term in zone}
        return sorted(term for term in terms if term.startswith(prefix))

    def has_key(self, key: str) -> bool:
        """Return whether any document has a key."""
        return any(key in one.keys for one in self.documents)

    def are_neighbors(self, first: str, second: str) -> bool:
        """Return whether two atoms are adjacent in some text, separated by a space, a hyphen or an underscore."""
        found = (place for one in self.documents for place in occurrences(one, (first, second)))
        return any(passage.separators[at + 1] in {" ", "-", "_"} for passage, at in found)

    def find(self, wanted: Lookup) -> "DictionaryFound":
        """Judge the documents that match anything, or all that operators list."""
        listed = wanted.admitted is not None and wanted.admitted.listed
        return DictionaryFound(
            self, wanted, [one for one in self.documents if listed or self._matches(one, wanted)]
        )

    def _matches(self, document: Document, wanted: Lookup) -> bool:
        keys = {key for group in wanted.keys for key in group}
        return (
            any(self.frequencies.of_pool(variants, document) for variants in wanted.words)
            or bool(keys & set(document.keys))
            or holds(document, wanted.phrase)
        )


class DictionaryFound:
    """Implements `protocol.Found`."""

    def __init__(self, index: DictionaryIndex, wanted: Lookup, matching: Sequence[Document]) -> None:
        self._index, self._wanted, self._matching = index, wanted, matching
        self.candidates = self._candidates()
        self._scores = wanted.score(self.candidates)
        holders = [one.id for one in index.documents if all(holds(one, p) for p in wanted.required)]
        self.phrases_dropped = bool(wanted.required) and not holders
        self._allowed = {one.id for one in index.documents} if self.phrases_dropped else set(holders)
        if wanted.admitted:
            admitted = zip(index.documents, wanted.admitted.mask.tolist(), strict=True)
            self._allowed &= {one.id for one, is_admitted in admitted if is_admitted}
        self.answers = self._best(self._scores.answering.tolist(), wanted.window)
        self.near = self._best(self._scores.near.tolist(), wanted.near)

    def shares(self, word: Variants, numbers: Sequence[int]) -> Sequence[Sequence[Share]]:
        """Return, for each document, what the terms of a pool contribute, zone by zone."""
        return [
            [
                Share(variant, zone, amount)
                for variant in dict.fromkeys(word)
                for zone in ZONES
                if (amount := self._index.frequencies.of_zone(variant, zone, self._matching[number]))
            ]
            for number in numbers
        ]

    def totals(self, filters: Sequence[Filters]) -> tuple[int, ...]:
        """Return how many results pass each of the filters."""
        return tuple(sum(passes(one, each) for one in self._answering()) for each in filters)

    def facets(self) -> Mapping[str, Mapping[str, int]]:
        """Return counts by facet and value."""
        counts: dict[str, dict[str, int]] = {}
        for facet in FACETS:
            values = {value for one in self._index.documents for value in one.facets[facet]}
            among = [one for one in self._answering() if passes(one, self._wanted.filters.without(facet))]
            counts[facet] = {value: sum(value in one.facets[facet] for one in among) for value in values}
        return counts

    def _answering(self) -> list[Document]:
        answering = zip(self._matching, self._scores.answering.tolist(), strict=True)
        return [one for one, answers in answering if answers and one.id in self._allowed]

    def _candidates(self) -> Candidates:
        wanted = self._wanted
        holding = [n for n, one in enumerate(self._matching) if holds(one, wanted.phrase)]
        return Candidates(
            size=len(self._matching),
            total=len(self._index.documents),
            postings={variants: self._postings(variants) for variants in wanted.words},
            key_matches=tuple(
                np.array([n for n, one in enumerate(self._matching) if set(keys) & set(one.keys)], np.intp)
                for keys in wanted.keys
            ),
            phrase=np.array(holding, np.intp),
            neighbors=tuple(map(self._holding, wanted.neighbors)),
            spelled=np.array([self._written(self._matching[number]) for number in holding], np.uint16),
            recency=wanted.admitted.recency if wanted.admitted and wanted.admitted.listed else None,
        )

    def _postings(self, variants: Sequence[str]) -> Postings:
        found = [(n, self._index.frequencies.of_pool(variants, one)) for n, one in enumerate(self._matching)]
        held_by = [(number, frequency) for number, frequency in found if frequency]
        return Postings(
            np.array([number for number, _ in held_by], np.intp),
            np.array([frequency / (K1 + frequency) for _, frequency in held_by]),
            self._index.frequencies.doc_frequency(variants),
        )

    def _holding(self, phrase: Sequence[str]) -> Postings:
        held = [number for number, one in enumerate(self._matching) if holds(one, phrase)]
        holders = sum(holds(one, phrase) for one in self._index.documents)
        return Postings(np.array(held, np.intp), np.ones(len(held)), holders)

    def _written(self, document: Document) -> int:
        found = 0
        for passage, at in occurrences(document, self._wanted.phrase):
            if self._wanted.separators and passage.region != ELSEWHERE:
                separators = passage.separators[at : at + len(self._wanted.separators)]
                found |= self._held(self._wanted.separators, separators) << (SPELLED_BITS * passage.region)
        return found

    @staticmethod
    def _held(typed: Sequence[str], separators: Sequence[str]) -> Spelled:
        """Return how a place with all words of a typed text matches it; both have the same length."""
        (left, starts), (right, ends) = (
            left_edge(typed[0], separators[0]),
            right_edge(typed[-1], separators[-1]),
        )
        inner = [between(one, other) for one, other in zip(typed[1:-1], separators[1:-1], strict=True)]
        same, alike = all(same for same, _ in inner), all(alike for _, alike in inner)
        found = Spelled.INSIDE if left and right and same else Spelled.NONE
        if starts and ends:
            found |= (Spelled.JOINED if alike else Spelled.NONE) | (Spelled.ALONE if same else Spelled.NONE)
        return found

    def _best(self, chosen: Sequence[bool], limit: int) -> tuple[ScoredDocument, ...]:
        standings = self._scores
        found = [
            ScoredDocument(
                one.id,
                number,
                float(standings.score[number]),
                float(standings.coverage[number]),
                int(standings.tiers[number]),
            )
            for number, one in enumerate(self._matching)
            if chosen[number] and one.id in self._allowed and passes(one, self._wanted.filters)
        ]
        return tuple(sorted(found, key=lambda one: (-one.tier, -one.score, one.id))[:limit])
