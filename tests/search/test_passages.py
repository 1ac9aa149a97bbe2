"""Snippets and reasons are cut from what a build has kept: the same as if every edition were analyzed again."""

import pytest

from app.analysis.glossary import Glossary
from app.entry import Language
from app.search.answers import SearchRequest
from app.search.searcher import Searcher
from app.search.show.passages import lines_of, places_of
from app.snapshot.index import places_from
from app.snapshot.index import places_of as kept_places_of
from app.snapshot.snapshot import Snapshot

QUERIES = (
    "CUDA out of memory while training",
    "显存不足怎么办",
    "max_tokens_per_gpu",
    "checkpont conversion",
    "训练卡住 NCCL",
    "zzz qqq vvv",
)


@pytest.fixture(scope="module")
def glossary(shipped: Snapshot) -> Glossary:
    return shipped.searcher.glossary


def test_what_is_kept_of_an_edition_is_where_its_terms_stand(shipped: Snapshot, glossary: Glossary) -> None:
    for entry in shipped.library.entries.values():
        for edition in entry.editions.values():
            lines = lines_of(edition)
            kept = places_from(kept_places_of(edition, glossary))
            assert kept == places_of(lines, glossary)
            assert max(line for numbers in kept.values() for line in numbers[::3]) < len(lines)


@pytest.mark.parametrize("lang", Language)
def test_answers_are_those_of_editions_analyzed_anew(
    shipped: Snapshot, glossary: Glossary, lang: Language
) -> None:
    assert shipped.opened
    anew = Searcher(shipped.library, shipped.opened.index.index, shipped.searcher.analyzer, glossary)
    for query in QUERIES:
        request = SearchRequest(query, lang)
        assert shipped.searcher.search(request) == anew.search(request)
