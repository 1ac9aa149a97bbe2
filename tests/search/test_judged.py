"""Search measured over queries judged by hand: the set is what it claims to be, and the figures hold."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from jieda.evaluation import figures as evaluate
from jieda.evaluation.figures import (
    DIAGNOSED_KINDS,
    FOUND,
    SEARCHED_KINDS,
    WEAK,
    Bench,
    JudgedQuery,
    QueryResult,
)
from jieda.settings import Settings
from jieda.snapshot.snapshot import Analyzers, Snapshot

from tests.support.server import ROOT
from tests.support.shipped import copy_data

pytestmark = pytest.mark.slow

OWN = ROOT / "tests" / "judged.jsonl"
ACROSS = frozenset(
    one["id"] for one in map(json.loads, OWN.read_text(encoding="utf-8").splitlines()) if one.get("cross")
)
"""Ids of the queries that are also measured across languages, with the editions in their own language hidden."""
NEW = ROOT / "tests" / "judged_new_entries.jsonl"
"""For the entries that came after the first 42, written before any of them was searched."""
BLIND = ROOT / "tests" / "judged_blind.jsonl"
"""By people who had read the entries and never searched: `b-` and `d-` led to mends, `e-` were measured after these,
and written by somebody who was not shown aliases and symptoms."""
DEVELOPMENT = ROOT.parent / "shared" / "eval" / "dev.jsonl"

# (set, which of its queries, figure): at least this. After a change that helps, raise the floor to 0.02 below what
# `jieda eval tests/judged.jsonl` (with `--hide-lang query` for `hidden`) prints; a test below asks for it. Lower one
# only for a reason that the commit message gives.
FLOORS: dict[tuple[str, str, str], float] = {
    ("full", "all", "right_first"): 0.98,
    ("full", "all", "in_five"): 0.98,
    ("full", "question", "right_first"): 0.98,
    ("full", "error", "right_first"): 0.98,
    ("full", "paraphrase", "right_first"): 0.98,
    ("full", "en", "right_first"): 0.98,
    ("full", "zh", "right_first"): 0.975,
    ("full", "mixed", "right_first"): 0.98,
    ("full", "cross", "right_first"): 0.97,
    ("full", "all", "negatives weak"): 0.95,
    ("full", "all", "right not weak"): 0.945,
    ("hidden", "all", "right_first"): 0.92,
    ("hidden", "all", "in_five"): 0.97,
    ("hidden", "cross", "in_five"): 0.97,
}
SLACK = 0.02

# What was promised of the development set, whatever is measured.
PROMISED: dict[tuple[str, str, str], float] = {
    ("full", "all", "right_first"): 0.92,
    ("full", "all", "in_five"): 0.98,
    ("full", "en", "right_first"): 0.90,
    ("full", "zh", "right_first"): 0.90,
    ("full", "mixed", "right_first"): 0.90,
    ("hidden", "all", "in_five"): 0.85,
}

# What was promised of the queries for new entries; an entry is mended where one is missed, never a query.
PROMISED_OF_NEW: dict[tuple[str, str, str], float] = {
    ("full", "all", "right_first"): 0.93,
    ("full", "all", "in_five"): 0.99,
}
PROMISED_OF_BLIND: dict[tuple[str, str, str], float] = {
    ("full", "all", "right_first"): 0.92,
    ("full", "all", "in_five"): 0.97,
}
LEAST_QUERIES = 5

Figures = Callable[..., Mapping[tuple[str, str, str], float]]


# ---- the set


@pytest.fixture(scope="module")
def judged() -> tuple[JudgedQuery, ...]:
    return evaluate.read_judged(OWN)


def test_the_set_is_large_mixed_and_has_what_no_entry_answers(judged: tuple[JudgedQuery, ...]) -> None:
    kinds = Counter(one.kind for one in judged)
    assert sum(kinds[kind] for kind in SEARCHED_KINDS) >= 150
    assert kinds["negative"] >= 30
    across = [one for one in judged if one.id in ACROSS]
    assert len(across) >= 50
    assert set(kinds) == {*SEARCHED_KINDS, *DIAGNOSED_KINDS}
    assert {one.lang for one in judged if one.kind in SEARCHED_KINDS} == {"en", "zh", "mixed"}
    assert {one.lang for one in across} == {"en", "zh"}


@pytest.fixture(scope="module")
def both(judged: tuple[JudgedQuery, ...]) -> tuple[JudgedQuery, ...]:
    return judged + evaluate.read_judged(NEW)


def test_ids_and_queries_are_unique(both: tuple[JudgedQuery, ...]) -> None:
    assert [name for name, count in Counter(one.id for one in both).items() if count > 1] == []
    assert [query for query, count in Counter(one.query for one in both).items() if count > 1] == []


def test_negatives_expect_nothing_and_all_others_entries_that_exist(
    shipped: Snapshot, both: tuple[JudgedQuery, ...]
) -> None:
    assert [one.id for one in both if (one.kind == "negative") == bool(one.expected)] == []
    assert {name for one in both for name in one.expected} <= set(shipped.library.entries)


def test_every_entry_is_asked_for_and_a_new_one_often(
    shipped: Snapshot, both: tuple[JudgedQuery, ...]
) -> None:
    asked = {name for one in both if one.kind in SEARCHED_KINDS for name in one.expected}
    assert set(shipped.library.entries) - asked == set()
    of_new = Counter(name for one in evaluate.read_judged(NEW) for name in one.expected)
    assert {name: count for name, count in of_new.items() if count < LEAST_QUERIES} == {}


def test_no_query_is_a_title_or_alias(shipped: Snapshot, both: tuple[JudgedQuery, ...]) -> None:
    """Case, width, script, spacing and punctuation apart: those are found by another rule."""
    key = shipped.searcher.analyzer.key
    named = {
        key(text)
        for entry in shipped.library.entries.values()
        for edition in entry.editions.values()
        for text in (edition.title, *edition.aliases)
    }
    assert [one.id for one in both if key(one.query) in named] == []


def test_no_query_has_an_invisible_space_in_it(both: tuple[JudgedQuery, ...]) -> None:
    assert [one.id for one in both if set("\u200b\u200c\u200d\u2060\ufeff") & set(one.query)] == []


# ---- the figures


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory, analyzers: Analyzers) -> Figures:
    """Measures a file of judged queries over the shipped content; what is searched whole was built for all tests."""
    folder = tmp_path_factory.mktemp("judged")
    settings = Settings.load({}, content=[ROOT / "content"], data=str(copy_data(folder / "whole")))
    bench = Bench(settings, analyzers)

    def measure(path: Path, *, hidden: bool = True) -> dict[tuple[str, str, str], float]:
        queries = evaluate.read_judged(path)
        searched = [one for one in queries if one.kind in SEARCHED_KINDS]
        negative = [bench.search(one) for one in queries if one.kind == "negative"]
        full = [bench.search(one) for one in searched]
        measured = _by_group("full", full) | _of_negatives(full, negative)
        if hidden:
            across = [bench.search(one, hidden=True) for one in searched if one.lang != "mixed"]
            measured |= _by_group("hidden", across)
        return measured

    return measure


def _by_group(name: str, results: list[QueryResult]) -> dict[tuple[str, str, str], float]:
    groups = {"all": list(results), "cross": [one for one in results if one.judged.id in ACROSS]}
    for one in results:
        groups.setdefault(one.judged.kind, []).append(one)
        groups.setdefault(one.judged.lang, []).append(one)
    measured = {}
    for group, members in groups.items():
        found = evaluate.compute_figures(members)
        measured[name, group, "right_first"] = found["right_first"]
        measured[name, group, "in_five"] = found["in_five"]
    return measured


def _of_negatives(full: list[QueryResult], negative: list[QueryResult]) -> dict[tuple[str, str, str], float]:
    right = [one for one in full if one.rank == 1]
    return {
        ("full", "all", "negatives weak"): sum(one.grade != FOUND for one in negative) / (len(negative) or 1),
        ("full", "all", "right not weak"): sum(one.grade != WEAK for one in right) / (len(right) or 1),
    }


@pytest.fixture(scope="module")
def own(figures: Figures) -> Mapping[tuple[str, str, str], float]:
    return figures(OWN)


def test_no_figure_is_below_its_floor(own: Mapping[tuple[str, str, str], float]) -> None:
    assert {name: own[name] for name, floor in FLOORS.items() if own[name] < floor} == {}


def test_no_floor_is_more_than_its_slack_below_what_is_measured(
    own: Mapping[tuple[str, str, str], float],
) -> None:
    """Raise it: what has been reached is to be held."""
    assert {name: own[name] for name, floor in FLOORS.items() if own[name] > floor + SLACK + 0.001} == {}


@pytest.mark.parametrize(("file", "promised"), [(NEW, PROMISED_OF_NEW), (BLIND, PROMISED_OF_BLIND)])
def test_what_was_written_without_searching_is_found_as_promised(
    figures: Figures, file: Path, promised: dict[tuple[str, str, str], float]
) -> None:
    measured = figures(file, hidden=False)
    assert {name: measured[name] for name, floor in promised.items() if measured[name] < floor} == {}


@pytest.mark.skipif(not DEVELOPMENT.exists(), reason="the development set is not part of a checkout")
def test_the_development_set_is_answered_as_promised(figures: Figures) -> None:
    measured = figures(DEVELOPMENT)
    assert {name: measured[name] for name, floor in PROMISED.items() if measured[name] < floor} == {}
