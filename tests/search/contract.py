"""What every index must do: a suite that each index's test file runs by subclassing `IndexContract`.

Through the ranking, which is the same for all: what an index gets wrong shows in what is ranked, counted or explained.
"""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jieda.entry import Language
from jieda.search.index.document import (
    BODIES,
    ELSEWHERE,
    END,
    FRONTS,
    START,
    TITLES,
    ZONES,
    Document,
    IndexedText,
)
from jieda.search.index.protocol import AdmittedDocuments, Index, ScoredDocument
from jieda.search.query.words import Alternative, Clause, MatchKind, Neighbors, Query, Spelling, WeightedTerm
from jieda.search.rank.ranker import Contribution, rank
from jieda.search.rank.scoring import OPEN
from jieda.search.weights import EXACT_TIER, HOLDER_TIER, K1, ZONE_WEIGHTS
from jieda.taxonomy import FACETS, Filters

from tests.support.engines import DictionaryIndex, ListScan, Results, answer_threshold, passes
from tests.support.examples import examples

CLOSE = 1e-9
ALL = 1000
TERMS = [f"{kind}:{word}" for kind in "xtpgc" for word in ("a", "b", "显存")]
UNKNOWN = "t:nowhere"
TAGS = {
    "framework": "fg",
    "kind": "kl",
    "topic": "tuv",
    "error_type": "xyz",
    "edition": ("en", "zh"),
    "holds": "hi",
}
SEPARATORS = ["", " ", "-", "_", "--", ".", ": ", " -", "_-"]

weights = st.floats(0.05, 3.0)
tag_lists = {
    facet: st.lists(st.sampled_from(values), unique=True).map(tuple) for facet, values in TAGS.items()
}
zones = st.dictionaries(st.sampled_from(ZONES), st.lists(st.sampled_from(TERMS), max_size=6), max_size=5)


@st.composite
def passages(draw: st.DrawFn) -> IndexedText:
    """A text of up to four atoms."""
    atoms = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
    first, *inner, last = draw(
        st.lists(st.sampled_from(SEPARATORS), min_size=len(atoms) + 1, max_size=len(atoms) + 1)
    )
    return IndexedText(
        draw(st.sampled_from([TITLES, BODIES, FRONTS, ELSEWHERE])),
        tuple(atoms),
        (START + first, *inner, last + END),
    )


def _whole(some: Mapping[str, Sequence[str]]) -> dict[str, Counter[str]]:
    """Every zone, with terms in some."""
    return {zone: Counter(some.get(zone, ())) for zone in ZONES}


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    """Up to eight documents over a handful of terms, so that they share many."""
    return [
        Document(
            id=f"f/{number}",
            zones=_whole(draw(zones)),
            keys=tuple(draw(st.lists(st.sampled_from(["k:a", "k:b", "s:a", "s:b"]), unique=True))),
            texts=draw(st.lists(passages(), max_size=4)),
            facets={facet: draw(values) for facet, values in tag_lists.items()},
        )
        for number in range(draw(st.integers(0, 8)))
    ]


variants = st.lists(st.sampled_from([*TERMS, UNKNOWN]), min_size=1, max_size=3, unique=True).map(tuple)
terms = st.builds(WeightedTerm, variants, st.just("label"), weights)
alternatives = st.builds(
    Alternative,
    st.lists(terms, min_size=1, max_size=3).map(tuple),
    weights,
    st.floats(0.1, 1.0),
    # What translations weigh depends on the whole query: test_translation.py.
    st.sampled_from([one for one in MatchKind if one not in OPEN]),
)
clauses = st.builds(Clause, st.lists(alternatives, min_size=1, max_size=3).map(tuple))
phrases = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(tuple)
neighbors = st.builds(Neighbors, phrases, st.sampled_from([0.12, 1.0]))
filters = st.builds(
    Filters,
    **{facet: tag_lists[facet] for facet in FACETS},
    edition=st.sampled_from([(), *((lang,) for lang in Language), tuple(Language)]),
    ruled_out=tag_lists["holds"],
)


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """Queries whose writing is of their phrase."""
    phrase = draw(st.one_of(st.just(()), phrases))
    separators = draw(
        st.lists(st.sampled_from(SEPARATORS), min_size=len(phrase) + 1, max_size=len(phrase) + 1)
    )
    return Query(
        draw(st.lists(clauses, max_size=4).map(tuple)),
        keys=draw(st.sampled_from([(), ("k:a",), ("k:b", "k:nowhere")])),
        phrase=phrase,
        neighbors=draw(st.lists(neighbors, max_size=3, unique_by=lambda pair: pair.atoms).map(tuple)),
        required=draw(st.lists(phrases, max_size=2).map(tuple)),
        exact_first=draw(st.booleans()),
        spelling=Spelling(
            separators=tuple(separators) if phrase else (),
            spans=draw(st.sampled_from([(), ("s:a",), ("s:nowhere",)])),
            is_span=draw(st.booleans()),
            is_code=draw(st.booleans()),
            has_han=draw(st.booleans()),
        ),
        filters=draw(st.one_of(st.just(Filters()), filters)),
    )


patient = settings(
    max_examples=examples(15),
    deadline=None,
    # One suite for several indexes means that its examples are run by several classes.
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)


def document(name: str, **fields: object) -> Document:
    """A document with `fields` in place of emptiness; `zones` by name, each a string of terms; of `texts` each
    is a string of atoms with spaces between them, in a body, or indexed already."""
    terms_of = dict(fields.pop("zones", {}))  # type: ignore[call-overload]
    texts = fields.pop("texts", ())
    indexed = [passage(BODIES, text) if isinstance(text, str) else text for text in texts]  # type: ignore[attr-defined]
    whole = {zone: Counter(terms_of.get(zone, "").split()) for zone in ZONES}
    empty = Document(name, whole, (), indexed, dict.fromkeys(TAGS, ()))
    return replace(empty, **fields)  # type: ignore[arg-type]


def passage(region: int, text: str) -> IndexedText:
    """A text of atoms with spaces between them."""
    atoms = tuple(text.split())
    return IndexedText(region, atoms, (START, *[" "] * (len(atoms) - 1), END))


def word(*variants: str, weight: float = 1.0) -> Clause:
    """A clause of one word that may be held in several forms."""
    return Clause((Alternative((WeightedTerm(variants, variants[0], weight),)),))


def search(index: Index, query: Query, window: int = ALL, within: AdmittedDocuments | None = None) -> Results:
    """What is ranked and counted."""
    ranking = rank(index, query, window, admitted=within)
    return Results(ranking.ranked, ranking.facets(), ranking.near, ranking.phrase_dropped)


@dataclass(frozen=True)
class Explained:
    """A ranked document with what made up its score."""

    scored: ScoredDocument
    parts: tuple[Contribution, ...]


def explain(index: Index, query: Query, least: float = 0.0) -> list[Explained]:
    """Every document that is ranked, explained."""
    ranking = rank(index, query, ALL)
    parts = ranking.contributions(0, ALL, least)
    return [Explained(one, of_one) for one, of_one in zip(ranking.ranked, parts, strict=True)]


def ids(results: Results) -> list[str]:
    return [one.id for one in results.ranked]


class IndexContract:
    """Subclasses say how an index of some documents comes to be."""

    def index(self, documents: Sequence[Document]) -> AbstractContextManager[Index]:
        """An index that holds `documents`, for as long as the context is open."""
        raise NotImplementedError

    # ---- ranking

    def test_a_score_is_the_formula_worked_out_by_hand(self) -> None:
        """Two documents hold the word, in titles of 1 and 3 terms; how long others are makes no difference."""
        held = [
            document("f/short", zones={"title_en": "t:a"}),
            document("f/long", zones={"title_en": "t:a t:b t:b"}),
            document("f/none", zones={"body_zh": "t:b"}),
        ]
        title = ZONE_WEIGHTS["title_en"]
        short = title.weight * 1 / (1 - title.b + title.b * 1 / title.pivot)
        long = title.weight * 1 / (1 - title.b + title.b * 3 / title.pivot)
        with self.index(held) as index:
            found = search(index, Query((word("t:a"),)))
        assert ids(found) == ["f/short", "f/long"]
        # Of the most that the word could bring, idf · (k1 + 1), a document gets what saturation leaves it.
        expected = [frequency / (K1 + frequency) for frequency in (short, long)]
        assert [one.score for one in found.ranked] == pytest.approx(expected, abs=CLOSE)
        assert [one.coverage for one in found.ranked] == pytest.approx([1, 1], abs=CLOSE)

    @patient
    @given(documents(), st.lists(queries(), min_size=1, max_size=6))
    def test_scores_agree_with_the_formula_written_out(
        self, held: list[Document], asked: list[Query]
    ) -> None:
        reference = ListScan(held)
        with self.index(held) as index:
            for query in asked:
                standings = reference.standings(query)
                threshold = answer_threshold(query, standings)
                assume(all(abs(one.coverage - threshold) > CLOSE for one in standings))
                assert_same(search(index, query), reference.search(query))

    @patient
    @given(documents(), queries())
    def test_scores_fall_from_the_first_hit_to_the_last_across_tiers(
        self, held: list[Document], query: Query
    ) -> None:
        with self.index(held) as index:
            found = search(index, query)
        for one, following in zip(found.ranked, found.ranked[1:], strict=False):
            assert one.score >= following.score
            assert one.tier >= following.tier

    @patient
    @given(documents(), queries(), st.lists(st.booleans(), min_size=12, max_size=12), st.booleans())
    def test_operators_narrow_and_list(
        self, held: list[Document], query: Query, admitted: list[bool], listed: bool
    ) -> None:
        """Within some documents, what a plain index of dictionaries says; listed, all of them, the latest first."""
        mask = np.resize(np.array(admitted), len(held))
        recency = np.linspace(0, 1, len(held))
        within = AdmittedDocuments(mask, recency, listed)
        standings = ListScan(held).standings(query)
        threshold = answer_threshold(query, standings)
        assume(all(abs(one.coverage - threshold) > CLOSE for one in standings))
        with self.index(held) as index:
            found = search(index, query, within=within)
        expected = search(DictionaryIndex(held), query, within=within)
        assert ids(found) == ids(expected)
        assert found.facets == expected.facets
        if listed and not query.required and query.filters == Filters():
            names = sorted(one.id for one in held)
            assert sorted(ids(found)) == [one for one, here in zip(names, mask.tolist(), strict=True) if here]

    def test_equals_come_in_the_order_of_ids(self) -> None:
        held = [document(f"f/{number}", zones={"body_en": "t:a"}) for number in (3, 1, 2)]
        with self.index(held) as index:
            assert ids(search(index, Query((word("t:a"),)))) == ["f/1", "f/2", "f/3"]

    def test_a_rare_word_counts_more_than_a_common_one_repeated(self) -> None:
        held = [
            document("f/common", zones={"body_en": "t:common " * 20}),
            document("f/rare", zones={"body_en": "t:rare t:common"}),
            *(document(f"f/{number}", zones={"body_en": "t:common t:other"}) for number in range(8)),
        ]
        with self.index(held) as index:
            assert ids(search(index, Query((word("t:rare"), word("t:common")))))[0] == "f/rare"

    def test_a_title_is_put_first_whatever_else_is_relevant(self) -> None:
        held = [
            document("f/relevant", zones={"title_en": "t:a t:a", "body_en": "t:a " * 9}),
            document("f/titled", keys=("k:a",)),
            document("f/holder", zones={"body_en": "t:a"}, texts=[passage(ELSEWHERE, "z a")]),
        ]
        query = Query(
            (word("t:a"),),
            keys=("k:a",),
            phrase=("a",),
            exact_first=True,
            spelling=Spelling(separators=("", "")),
        )
        with self.index(held) as index:
            found = search(index, query).ranked
        tiers = [("f/titled", EXACT_TIER), ("f/holder", HOLDER_TIER), ("f/relevant", 0)]
        assert [(one.id, one.tier) for one in found] == tiers

    def test_a_title_is_put_first_however_rare_the_words_of_another(self) -> None:
        """A word that all hold weighs next to nothing, what one holds in its place hundreds of times as much."""
        others = [document(f"f/{number}", zones={"body_en": "t:common"}) for number in range(40)]
        held = [
            document("f/rare", zones={"title_en": "t:common t:rare"}),
            *others,
            document("f/z", keys=("k:a",)),
        ]
        literal, rare = (Alternative((WeightedTerm((term,), term),)) for term in ("t:common", "t:rare"))
        with self.index(held) as index:
            found = search(index, Query((Clause((literal, rare)),), keys=("k:a",)))
        assert ids(found)[:2] == ["f/z", "f/rare"]
        assert found.ranked[0].score > found.ranked[1].score

    # ---- nothing found

    def test_no_documents_answer_nothing(self) -> None:
        with self.index([]) as index:
            found = search(index, Query((word("t:a"),), keys=("k:a",), phrase=("a",)))
            assert (found.ranked, found.near, found.phrase_dropped) == ((), (), False)
            assert index.lexicon.doc_frequency("t:a") == 0
            assert list(index.lexicon.vocabulary("t:")) == []

    def test_an_empty_query_finds_nothing(self) -> None:
        with self.index([document("f/1", zones={"body_en": "t:a"}, keys=("k:",))]) as index:
            found = search(index, Query(()))
        assert (found.ranked, found.near) == ((), ())

    def test_what_shares_too_little_is_near_and_no_answer(self) -> None:
        held = [document("f/near", zones={"body_en": "t:common"}), document("f/other", zones={"tag": "t:b"})]
        query = Query((word("t:common", weight=0.05), word("t:rare"), word("t:missing")))
        with self.index(held) as index:
            found = search(index, query)
        assert ids(found) == []
        assert [one.id for one in found.near] == ["f/near"]

    # ---- phrases

    def test_a_required_phrase_keeps_documents_that_hold_it_word_for_word(self) -> None:
        held = [
            document("f/apart", zones={"body_en": "t:a t:b"}, texts=["a x b"]),
            document("f/turned", zones={"body_en": "t:a t:b"}, texts=["b a"]),
            document("f/two-texts", zones={"body_en": "t:a t:b"}, texts=["a", "b"]),
            document("f/whole", zones={"body_en": "t:a t:b"}, texts=["x a b"]),
        ]
        with self.index(held) as index:
            found = search(index, Query((word("t:a"), word("t:b")), required=(("a", "b"),)))
            assert (ids(found), found.phrase_dropped) == (["f/whole"], False)
            found = search(index, Query((word("t:a"), word("t:b")), required=(("a", "a"),)))
            assert (len(found.ranked), found.phrase_dropped) == (4, True)

    # ---- filters and counts

    @patient
    @given(documents(), queries(), st.lists(filters, min_size=1, max_size=5))
    def test_filters_keep_what_carries_a_chosen_tag_of_every_facet(
        self, held: list[Document], query: Query, chosen: list[Filters]
    ) -> None:
        by_id = {one.id: one for one in held}
        with self.index(held) as index:
            everything = ids(search(index, replace(query, filters=Filters())))
            for each in chosen:
                found = search(index, replace(query, filters=each))
                assert ids(found) == [one for one in everything if passes(by_id[one], each)]
                assert all(passes(by_id[one.id], each) for one in found.near)

    @patient
    @given(documents(), queries(), filters)
    def test_a_count_is_what_choosing_that_value_finds(
        self, held: list[Document], query: Query, chosen: Filters
    ) -> None:
        with self.index(held) as index:
            counted = search(index, replace(query, filters=chosen)).facets
            assert set(counted) == set(FACETS)
            for facet in FACETS:
                tried = {}
                for value in {value for one in held for value in one.facets[facet]}:
                    tried[value] = len(self._with(index, query, chosen, facet, value).ranked)
                shown = {one.value: one.count for one in counted[facet]}
                assert shown == {v: n for v, n in tried.items() if n or v in chosen.facet(facet)}
                order = [(-one.count, one.value) for one in counted[facet]]
                assert order == sorted(order)

    def test_what_holds_code_word_for_word_hides_its_lookalikes_under_every_filter(self) -> None:
        """A filter that leaves only the lookalikes does not make them answers, and no count says that it would."""
        tagged = dict.fromkeys(TAGS, ())
        held = [
            document(
                "f/exact", keys=("k:a",), zones={"body_en": "t:a t:b"}, facets=tagged | {"kind": ("k",)}
            ),
            document("f/alike", zones={"body_en": "t:b"}, facets=tagged | {"kind": ("l",)}),
            *(document(f"f/{number}", facets=tagged) for number in range(3)),
        ]
        line = Query((word("t:a"), word("t:b")), keys=("k:a",), spelling=Spelling(is_code=True))
        with self.index(held) as index:
            assert ids(search(index, replace(line, keys=()))) == ["f/exact", "f/alike"]
            filtered = search(index, replace(line, filters=Filters(kind=("l",))))
            assert (ids(filtered), [one.id for one in filtered.near]) == ([], ["f/alike"])
            assert [(one.value, one.count) for one in filtered.facets["kind"]] == [("k", 1), ("l", 0)]

    def _with(self, index: Index, query: Query, chosen: Filters, facet: str, value: str) -> Results:
        return search(index, replace(query, filters=chosen.with_only(facet, value)))

    # ---- what stands in the index

    @patient
    @given(documents())
    def test_terms_and_how_many_documents_hold_them_are_known(self, held: list[Document]) -> None:
        with self.index(held) as index:
            present = {term for one in held for zone in one.zones.values() for term in zone}
            for term in [*TERMS, UNKNOWN]:
                holders = sum(any(term in zone for zone in one.zones.values()) for one in held)
                assert index.lexicon.doc_frequency(term) == holders
            assert list(index.lexicon.vocabulary("t:")) == sorted(
                term for term in present if term.startswith("t:")
            )
            assert list(index.lexicon.vocabulary("t:a")) == sorted(present & {"t:a"})

    @pytest.mark.parametrize(
        "odd",
        ["t:two words", "t:\x00", "t:🎉", "t:长" * 500, "t:", "t:\n", "x:--a=[b]", "t:\U0001f600", "t:*"],
    )
    def test_a_term_is_kept_as_it_is_whatever_is_in_it(self, odd: str) -> None:
        plain = document("f/plain", zones={"body_en": "t:two t:words t:长"})
        held = replace(plain, id="f/odd", zones={**plain.zones, "body_zh": {odd: 1}})
        with self.index([plain, held]) as index:
            assert ids(search(index, Query((word(odd),)))) == ["f/odd"]
            assert index.lexicon.doc_frequency(odd) == 1
            assert odd in index.lexicon.vocabulary(odd[:2])

    def test_a_term_longer_than_any_word_is_found_nowhere(self) -> None:
        odd = "t:" + "x" * 100_000
        with self.index([document("f/1", zones={"body_en": "t:a"}, texts=["a"])]) as index:
            found = search(index, Query((word(odd),), keys=(f"k:{odd}",), phrase=(odd,)))
            assert found.ranked == ()
            assert index.lexicon.doc_frequency(odd) == 0

    def test_a_key_is_known_where_a_document_has_it(self) -> None:
        with self.index([document("f/1", keys=("k:a", "f:--load"))]) as index:
            known = [index.lexicon.has_key(key) for key in ("k:a", "f:--load", "k:--load", "f:-")]
        assert known == [True, True, False, False]

    # ---- windows

    @patient
    @given(documents(), queries(), st.integers(1, 4))
    def test_a_window_is_the_start_of_everything(
        self, held: list[Document], query: Query, window: int
    ) -> None:
        with self.index(held) as index:
            everything, some = search(index, query), search(index, query, window)
            total = rank(index, query, window).totals([query.filters])
        assert some.ranked == everything.ranked[:window]
        assert (some.near, some.facets) == (everything.near, everything.facets)
        assert total == (len(everything.ranked),)

    # ---- explanations

    @patient
    @given(documents(), queries())
    def test_an_explanation_adds_up_to_what_the_document_is_ranked_by(
        self, held: list[Document], query: Query
    ) -> None:
        plain = replace(query, phrase=(), exact_first=False, keys=(), required=(), filters=Filters())
        reference = ListScan(held)
        by_id = {one.id: one for one in held}
        with self.index(held) as index:
            explained, worth = explain(index, plain), explain(index, plain, 0.2)
        for one, kept in zip(explained, worth, strict=True):
            scores = [part.score for part in one.parts]
            assert scores == sorted(scores, reverse=True)
            assert all(part.term in by_id[one.scored.id].zones[part.zone] for part in one.parts)
            expected = sum(part.score for part in reference.explain(plain, one.scored.id))
            assert sum(scores) == pytest.approx(expected, abs=CLOSE)
            assert set(kept.parts) <= set(one.parts)
            assert all(part in kept.parts or part.score < 0.2 * expected + CLOSE for part in one.parts)
        complete = [one for one in explained if one.scored.coverage > 1 - CLOSE]
        totals = [sum(part.score for part in one.parts) for one in complete]
        assert sorted(totals, reverse=True) == pytest.approx(totals)

    # ---- use by many at once

    def test_threads_that_search_at_once_get_what_each_alone_would(self) -> None:
        held = [
            document(f"f/{number}", zones={"body_en": f"t:w{number % 7} t:all", "tag": f"t:w{number % 5}"})
            for number in range(20)
        ]
        asked = [Query((word(f"t:w{number}"), word("t:all"))) for number in range(7)] * 2
        with self.index(held) as alone:
            expected = [ids(search(alone, query)) for query in asked]
        with self.index(held) as shared:
            found: dict[int, list[str]] = {}

            def run(number: int) -> None:
                found[number] = ids(search(shared, asked[number]))

            threads = [threading.Thread(target=run, args=(number,)) for number in range(len(asked))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert [found[number] for number in range(len(asked))] == expected


def assert_same(found: Results, expected: Results) -> None:
    """The same documents in the same order, but for equals, with the same figures."""
    for some, others in ((found.ranked, expected.ranked), (found.near, expected.near)):
        assert [one.score for one in some] == pytest.approx([one.score for one in others], abs=CLOSE)
    figures = {one.id: one for one in found.ranked}
    assert set(figures) == {one.id for one in expected.ranked}
    for one in expected.ranked:
        assert figures[one.id].score == pytest.approx(one.score, abs=CLOSE)
        assert figures[one.id].coverage == pytest.approx(one.coverage, abs=CLOSE)
        assert figures[one.id].tier == one.tier
    assert found.facets == expected.facets
    assert found.phrase_dropped == expected.phrase_dropped
