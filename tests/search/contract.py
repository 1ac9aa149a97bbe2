"""What every engine must do: a suite that each engine's test file runs by subclassing `EngineContract`."""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from app.entry import FACETS, Language
from app.search.answers import Filters
from app.search.engine import (
    BOUNDARY,
    EXACT_TIER,
    HOLDER_TIER,
    Alternative,
    Clause,
    Document,
    Engine,
    Query,
    Results,
    Source,
    WeightedTerm,
)
from app.search.fields import K1, ZONES
from tests.support.engines import ListScanEngine, answer_threshold, passes

CLOSE = 1e-9
TERMS = [f"{kind}:{word}" for kind in "xtpgc" for word in ("a", "b", "显存")]
UNKNOWN = "t:nowhere"
ATOMS = ["a", "b", "c", BOUNDARY]
TAGS = {"framework": "fg", "kind": "kl", "topic": "tuv", "error_type": "xyz", "edition": ("en", "zh")}

weights = st.floats(0.05, 3.0)
tag_lists = {
    facet: st.lists(st.sampled_from(values), unique=True).map(tuple) for facet, values in TAGS.items()
}
zones = st.dictionaries(
    st.sampled_from([zone.name for zone in ZONES]), st.lists(st.sampled_from(TERMS), max_size=6), max_size=5
)


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    """Up to eight documents over a handful of terms, so that they share many."""
    return [
        Document(
            id=f"f/{number}",
            zones={zone.name: () for zone in ZONES} | draw(zones),
            keys=tuple(draw(st.lists(st.sampled_from(["k:a", "k:b"]), unique=True))),
            atoms=draw(st.lists(st.sampled_from(ATOMS), max_size=8)),
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
    st.sampled_from(Source),
)
clauses = st.builds(Clause, st.lists(alternatives, min_size=1, max_size=3).map(tuple))
phrases = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map(tuple)
filters = st.builds(
    Filters,
    **{facet: tag_lists[facet] for facet in FACETS},
    edition=st.sampled_from([None, *Language]),
)
queries = st.builds(
    Query,
    st.lists(clauses, max_size=4).map(tuple),
    keys=st.sampled_from([(), ("k:a",), ("k:b", "k:nowhere")]),
    phrase=st.one_of(st.just(()), phrases),
    required=st.lists(phrases, max_size=2).map(tuple),
    literal=st.booleans(),
    filters=st.one_of(st.just(Filters()), filters),
)
patient = settings(
    max_examples=25,
    deadline=None,
    # One suite for several engines means that its examples are run by several classes.
    suppress_health_check=[HealthCheck.differing_executors],
)


def document(name: str, **fields: object) -> Document:
    """A document with `fields` in place of emptiness; `zones` by name, each a string of terms."""
    texts = dict(fields.pop("zones", {}))  # type: ignore[call-overload]
    whole = {zone.name: tuple(texts.get(zone.name, "").split()) for zone in ZONES}
    empty = Document(name, whole, (), (), dict.fromkeys(TAGS, ()))
    return replace(empty, **fields)  # type: ignore[arg-type]


def word(*variants: str, weight: float = 1.0) -> Clause:
    """A clause of one word that may be held in several forms."""
    return Clause((Alternative((WeightedTerm(variants, variants[0], weight),)),))


def ids(results: Results) -> list[str]:
    return [one.id for one in results.ranked]


class EngineContract:
    """Subclasses say how an engine over some documents comes to be."""

    def engine(self, documents: Sequence[Document]) -> AbstractContextManager[Engine]:
        """An engine that holds `documents`, for as long as the context is open."""
        raise NotImplementedError

    # ---- ranking

    def test_a_score_is_the_formula_worked_out_by_hand(self) -> None:
        """Two documents hold the word; the lengths of their titles are 1 and 3, so the average is 2."""
        held = [
            document("f/short", zones={"title_en": "t:a"}),
            document("f/long", zones={"title_en": "t:a t:b t:b"}),
            document("f/none", zones={"body_zh": "t:b"}),
        ]
        title = next(zone for zone in ZONES if zone.name == "title_en")
        short = title.weight * 1 / (1 - title.b + title.b * 1 / 2)
        long = title.weight * 1 / (1 - title.b + title.b * 3 / 2)
        with self.engine(held) as engine:
            found = engine.search(Query((word("t:a"),)))
        assert ids(found) == ["f/short", "f/long"]
        # Of the most that the word could bring, idf · (k1 + 1), a document gets what saturation leaves it.
        expected = [frequency / (K1 + frequency) for frequency in (short, long)]
        assert [one.score for one in found.ranked] == pytest.approx(expected, abs=CLOSE)
        assert [one.coverage for one in found.ranked] == pytest.approx([1, 1], abs=CLOSE)

    @patient
    @given(documents(), st.lists(queries, min_size=1, max_size=6))
    def test_scores_agree_with_the_formula_written_out(
        self, held: list[Document], asked: list[Query]
    ) -> None:
        reference = ListScanEngine(held)
        with self.engine(held) as engine:
            for query in asked:
                standings = reference.standings(query)
                threshold = answer_threshold(standings)
                assume(all(abs(one.coverage - threshold) > CLOSE for one in standings))
                assert_same(engine.search(query), reference.search(query))

    @patient
    @given(documents(), queries)
    def test_scores_fall_from_the_first_hit_to_the_last_across_tiers(
        self, held: list[Document], query: Query
    ) -> None:
        with self.engine(held) as engine:
            found = engine.search(query)
        for one, following in zip(found.ranked, found.ranked[1:], strict=False):
            assert one.score >= following.score
            assert one.tier >= following.tier

    def test_equals_come_in_the_order_of_the_documents(self) -> None:
        held = [document(f"f/{number}", zones={"body_en": "t:a"}) for number in (3, 1, 2)]
        with self.engine(held) as engine:
            assert ids(engine.search(Query((word("t:a"),)))) == ["f/3", "f/1", "f/2"]

    def test_a_rare_word_counts_more_than_a_common_one_repeated(self) -> None:
        held = [
            document("f/common", zones={"body_en": "t:common " * 20}),
            document("f/rare", zones={"body_en": "t:rare t:common"}),
            *(document(f"f/{number}", zones={"body_en": "t:common t:other"}) for number in range(8)),
        ]
        with self.engine(held) as engine:
            assert ids(engine.search(Query((word("t:rare"), word("t:common")))))[0] == "f/rare"

    def test_a_title_is_put_first_whatever_else_is_relevant(self) -> None:
        held = [
            document("f/relevant", zones={"title_en": "t:a t:a", "body_en": "t:a " * 9}),
            document("f/titled", keys=("k:a",)),
            document("f/holder", zones={"body_en": "t:a"}, atoms=("z", "a", BOUNDARY)),
        ]
        query = Query((word("t:a"),), keys=("k:a",), phrase=("a",), literal=True)
        with self.engine(held) as engine:
            found = engine.search(query).ranked
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
        with self.engine(held) as engine:
            found = engine.search(Query((Clause((literal, rare)),), keys=("k:a",)))
        assert ids(found)[:2] == ["f/z", "f/rare"]
        assert found.ranked[0].score > found.ranked[1].score

    # ---- nothing found

    def test_no_documents_answer_nothing(self) -> None:
        with self.engine([]) as engine:
            found = engine.search(Query((word("t:a"),), keys=("k:a",), phrase=("a",)))
            assert (found.ranked, found.near, found.phrase_dropped) == ((), (), False)
            assert engine.frequency("t:a") == 0
            assert list(engine.vocabulary("t:")) == []

    def test_an_empty_query_finds_nothing(self) -> None:
        with self.engine([document("f/1", zones={"body_en": "t:a"}, keys=("k:",))]) as engine:
            found = engine.search(Query(()))
        assert (found.ranked, found.near) == ((), ())

    def test_what_shares_too_little_is_near_and_no_answer(self) -> None:
        held = [document("f/near", zones={"body_en": "t:common"}), document("f/other", zones={"tag": "t:b"})]
        query = Query((word("t:common", weight=0.05), word("t:rare"), word("t:missing")))
        with self.engine(held) as engine:
            found = engine.search(query)
        assert ids(found) == []
        assert [one.id for one in found.near] == ["f/near"]

    # ---- phrases

    def test_a_required_phrase_keeps_documents_that_hold_it_word_for_word(self) -> None:
        held = [
            document("f/apart", zones={"body_en": "t:a t:b"}, atoms=("a", "x", "b")),
            document("f/turned", zones={"body_en": "t:a t:b"}, atoms=("b", "a")),
            document("f/two-texts", zones={"body_en": "t:a t:b"}, atoms=("a", BOUNDARY, "b")),
            document("f/whole", zones={"body_en": "t:a t:b"}, atoms=("x", "a", "b")),
        ]
        with self.engine(held) as engine:
            found = engine.search(Query((word("t:a"), word("t:b")), required=(("a", "b"),)))
            assert (ids(found), found.phrase_dropped) == (["f/whole"], False)
            found = engine.search(Query((word("t:a"), word("t:b")), required=(("a", "a"),)))
            assert (len(found.ranked), found.phrase_dropped) == (4, True)

    # ---- filters and counts

    @patient
    @given(documents(), queries, st.lists(filters, min_size=1, max_size=5))
    def test_filters_keep_what_carries_a_chosen_tag_of_every_facet(
        self, held: list[Document], query: Query, chosen: list[Filters]
    ) -> None:
        by_id = {one.id: one for one in held}
        with self.engine(held) as engine:
            everything = ids(engine.search(replace(query, filters=Filters())))
            for each in chosen:
                found = engine.search(replace(query, filters=each))
                assert ids(found) == [one for one in everything if passes(by_id[one], each)]
                assert all(passes(by_id[one.id], each) for one in found.near)

    @patient
    @given(documents(), queries, filters)
    def test_a_count_is_what_choosing_that_value_finds(
        self, held: list[Document], query: Query, chosen: Filters
    ) -> None:
        with self.engine(held) as engine:
            counted = engine.search(replace(query, filters=chosen)).facets
            assert set(counted) == set(FACETS)
            for facet in FACETS:
                tried = {}
                for value in {value for one in held for value in one.facets[facet]}:
                    tried[value] = len(self._with(engine, query, chosen, facet, value).ranked)
                shown = {one.value: one.count for one in counted[facet]}
                assert shown == {v: n for v, n in tried.items() if n or v in chosen.facet(facet)}
                order = [(-one.count, one.value) for one in counted[facet]]
                assert order == sorted(order)

    def _with(self, engine: Engine, query: Query, chosen: Filters, facet: str, value: str) -> Results:
        kept = {name: chosen.facet(name) for name in FACETS} | {facet: (value,)}
        return engine.search(replace(query, filters=Filters(**kept, edition=chosen.edition)))

    # ---- what stands in the index

    @patient
    @given(documents())
    def test_terms_and_how_many_documents_hold_them_are_known(self, held: list[Document]) -> None:
        with self.engine(held) as engine:
            present = {term for one in held for zone in one.zones.values() for term in zone}
            for term in [*TERMS, UNKNOWN]:
                holders = sum(any(term in zone for zone in one.zones.values()) for one in held)
                assert engine.frequency(term) == holders
            assert list(engine.vocabulary("t:")) == sorted(term for term in present if term.startswith("t:"))
            assert list(engine.vocabulary("t:a")) == sorted(present & {"t:a"})

    @pytest.mark.parametrize(
        "odd",
        ["t:two words", "t:\x00", "t:🎉", "t:长" * 500, "t:", "t:\n", "x:--a=[b]", "t:\U0001f600", "t:*"],
    )
    def test_a_term_is_kept_as_it_is_whatever_is_in_it(self, odd: str) -> None:
        plain = document("f/plain", zones={"body_en": "t:two t:words t:长"})
        held = replace(plain, id="f/odd", zones=plain.zones | {"body_zh": (odd,)})
        with self.engine([plain, held]) as engine:
            assert ids(engine.search(Query((word(odd),)))) == ["f/odd"]
            assert engine.frequency(odd) == 1
            assert odd in engine.vocabulary(odd[:2])

    def test_a_term_longer_than_any_word_is_found_nowhere(self) -> None:
        odd = "t:" + "x" * 100_000
        with self.engine([document("f/1", zones={"body_en": "t:a"}, atoms=("a",))]) as engine:
            found = engine.search(Query((word(odd),), keys=(f"k:{odd}",), phrase=(odd,)))
            assert found.ranked == ()
            assert engine.frequency(odd) == 0

    # ---- explanations

    @patient
    @given(documents(), queries)
    def test_an_explanation_adds_up_to_what_the_document_is_ranked_by(
        self, held: list[Document], query: Query
    ) -> None:
        plain = replace(query, phrase=(), literal=False, keys=(), required=(), filters=Filters())
        reference = ListScanEngine(held)
        with self.engine(held) as engine:
            for one in held:
                parts = engine.explain(plain, one.id)
                assert [part.score for part in parts] == sorted((p.score for p in parts), reverse=True)
                assert all(part.term in one.zones[part.zone] for part in parts)
                expected = sum(part.score for part in reference.explain(plain, one.id))
                assert sum(part.score for part in parts) == pytest.approx(expected, abs=CLOSE)
                kept = engine.explain(plain, one.id, 0.2)
                assert set(kept) <= set(parts)
                assert all(part in kept or part.score < 0.2 * expected + CLOSE for part in parts)
            complete = [one for one in engine.search(plain).ranked if one.coverage > 1 - CLOSE]
            totals = [sum(part.score for part in engine.explain(plain, one.id)) for one in complete]
            assert sorted(totals, reverse=True) == pytest.approx(totals)

    # ---- use by many at once

    def test_threads_that_search_at_once_get_what_each_alone_would(self) -> None:
        held = [
            document(f"f/{number}", zones={"body_en": f"t:w{number % 7} t:all", "tag": f"t:w{number % 5}"})
            for number in range(20)
        ]
        asked = [Query((word(f"t:w{number}"), word("t:all"))) for number in range(7)] * 2
        with self.engine(held) as alone:
            expected = [ids(alone.search(query)) for query in asked]
        with self.engine(held) as shared:
            found: dict[int, list[str]] = {}

            def run(number: int) -> None:
                found[number] = ids(shared.search(asked[number]))

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
