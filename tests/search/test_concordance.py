"""Snippets and reasons are cut from what a build has kept: the same as if every edition were analyzed again."""

import numpy as np
import pytest
from jieda.analysis.pipeline import Glossary
from jieda.entry import Language
from jieda.search.answers import SearchRequest
from jieda.search.searcher import Searcher
from jieda.search.snippet import EditionLine, MarkedTerms, TermPlaces, lines_of, pack_places
from jieda.search.snippet import places_of as places_in
from jieda.snapshot.snapshot import Snapshot

QUERIES = (
    "CUDA out of memory while training",
    "显存不足怎么办",
    "max_tokens_per_gpu",
    "checkpont conversion",
    "训练卡住 NCCL",
    "zzz qqq vvv",
)


NOWHERE = np.zeros((0, 3), np.intp)


@pytest.fixture(scope="module")
def glossary(shipped: Snapshot) -> Glossary:
    return shipped.searcher.glossary


@pytest.mark.slow
def test_what_is_kept_of_an_edition_is_where_its_terms_stand(shipped: Snapshot, glossary: Glossary) -> None:
    for entry in [*shipped.library.entries.values()][::3]:
        for edition in entry.editions.values():
            kept = TermPlaces(places_in(lines_of(edition), glossary))
            for number, line in enumerate(lines_of(edition)):
                reading = glossary.read(line.text)
                tokens = (*reading.analysis.tokens, *reading.concepts)
                for term, (_, start, end, _) in zip(reading.terms, tokens, strict=True):
                    ((worth, places),) = kept.find(MarkedTerms.of({term: 0.5}))
                    assert worth == 0.5
                    assert (number, start, end) in places
                    assert places[0] == min(places, key=lambda place: place[0])


def test_places_are_those_of_the_text_as_it_is_written(glossary: Glossary) -> None:
    texts = ("plain words", "… eﬃcient ＣＵＤＡ 显存", "", "顯存 ㎏ words")
    places = TermPlaces(places_in([EditionLine("body", text) for text in texts], glossary))
    found = {
        texts[line][start:end]: line
        for term in ("x:words", "x:efficient", "x:cuda", "t:显存", "x:kg")
        for _, found in places.find(MarkedTerms.of({term: 1.0}))
        for line, start, end in found
    }
    assert found == {"words": 3, "eﬃcient": 1, "ＣＵＤＡ": 1, "显存": 1, "顯存": 3, "㎏": 3}


def test_terms_that_do_not_occur_stand_nowhere() -> None:
    places = TermPlaces(pack_places("bab", np.array([(0, 4, 2), (1, 0, 7), (3, 0, 2)])))
    wanted = MarkedTerms.of({"c": 1.0, "b": 2.0, "\ud800": 3.0, "": 4.0, "a": 5.0})
    assert list(places.find(wanted)) == [(2.0, [(0, 4, 6), (3, 0, 2)]), (5.0, [(1, 0, 7)])]
    assert not list(places.find(MarkedTerms.of({"c": 1.0})))
    assert not list(TermPlaces(pack_places((), NOWHERE)).find(wanted))
    assert not list(places.find(MarkedTerms.of({})))


@pytest.mark.parametrize(
    "damaged", [b"", b"\x01", b"\xff" * 64, pack_places("a", np.array([(0, 1, 2)]))[:-1]]
)
def test_what_is_no_places_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"buffer|reshape"):
        TermPlaces(damaged)


@pytest.mark.parametrize("lang", Language)
def test_answers_are_those_of_editions_analyzed_anew(
    shipped: Snapshot, glossary: Glossary, lang: Language
) -> None:
    anew = Searcher(shipped.library, shipped.index, shipped.searcher.analyzer, glossary)
    for query in QUERIES:
        request = SearchRequest(query, lang)
        assert shipped.searcher.search(request) == anew.search(request)
