"""The query language: what is an operator is one beyond doubt, and everything else stays text."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jieda.entry import Entry, Language
from jieda.search.answers import SearchAnswer, SearchRequest, SuggestionType
from jieda.search.whoosh.language import QueryLanguage
from jieda.snapshot.snapshot import Snapshot

from tests.search.small import TAXONOMY, MakeSnapshot, concept
from tests.support.server import ROOT

PASTED = ("content/samples", "content/background", "content/en", "content/zh", "docs")
"""Logs of every kind, and lines of prose, code and tables."""

OPERATORS = {
    "framework:slime": ["framework:slime"],
    "CUDA out of memory framework:slime": ["framework:slime"],
    "显存不足 框架:chatlearn": ["框架:chatlearn"],
    "显存不足 框架：chatlearn": ["框架：chatlearn"],
    "类型:故障 主题:memory": ["类型:故障", "主题:memory"],
    "kind:error -framework:roll": ["kind:error", "-framework:roll"],
    "title:memory": ["title:memory"],
    '标题:显存 title:"out of memory"': ["标题:显存", 'title:"out of memory"'],
    "memory -host": ["-host"],
    'memory -"out of memory"': ['-"out of memory"'],
    "memory NOT host": ["NOT host"],
    "memory NOT framework:roll": ["NOT framework:roll"],
    "memory NOT hos*": ["NOT hos*"],
    "memory OR 显存": ["memory OR 显存"],
    "framework:slime OR framework:roll": ["framework:slime OR framework:roll"],
    "mem*": ["mem*"],
    "nccl updated:2025-10..": ["updated:2025-10.."],
    "更新:..2030-01-31 updated:2020..2040": ["更新:..2030-01-31", "updated:2020..2040"],
}
TEXT = [
    "kind: error",
    "error_type:",
    "framework:nothing",
    '{"framework":"slime"}',
    "https://host/framework:slime",
    "error code:137",
    "at 12:30:45",
    "C:\\temp\\file",
    "status: NOT NULL",
    "file NOT found",
    "module NOT installed",
    "THIS IS NOT WHAT I WANT",
    "is it NOT memory",
    "a -b",
    "-memory",
    "--load dir -x",
    "tar -xzf model.tar",
    "python train.py -memory",
    "const char* memory",
    "memory NOT int*",
    "int*",
    "either this or that and more",
    "TRUE OR FALSE ON ERROR",
    "updated:yesterday",
    "updated:..",
    "updated:2025-13",
    "updated:2026-02-30..",
    "updated:..0000-01",
    '"!!" OR "??"',
    "title:zzzzzz",
    "标题：显存",
    "one two three four five six seven eight -memory",
    "memory -host\nmemory",
    "framework:slime\nmemory",
    '"',
    "OR",
    "NOT memory",
    "(",
]


@pytest.fixture(scope="module")
def language(shipped: Snapshot) -> QueryLanguage:
    return QueryLanguage(shipped.index, shipped.searcher.analyzer, shipped.library.taxonomy)


def found(shipped: Snapshot, text: str, limit: int = 1000) -> SearchAnswer:
    return shipped.searcher.search(SearchRequest(text, Language.EN, limit=limit))


def entries(shipped: Snapshot, text: str) -> list[Entry]:
    answer = found(shipped, text)
    assert answer.hits
    return [hit.entry for hit in answer.hits]


def said(entry: Entry) -> str:
    texts = [section.text for edition in entry.editions.values() for section in edition.sections]
    return " ".join([*texts, *(edition.title for edition in entry.editions.values())]).casefold()


@pytest.mark.parametrize("text", OPERATORS)
def test_operators_are_understood(text: str, language: QueryLanguage) -> None:
    typed = language.read(text)
    assert typed
    assert typed.admitted
    assert [one.text for one in typed.operators] == OPERATORS[text]
    for one in typed.operators:
        assert one.text not in one.without
        assert len(one.without.split()) == len(text.split()) - len(one.text.split())


@pytest.mark.parametrize("text", TEXT)
def test_text_stays_text(text: str, language: QueryLanguage) -> None:
    typed = language.read(text)
    assert typed is None or not typed.operators


def test_an_id_stays_that_of_its_tag_where_another_is_named_so(small: MakeSnapshot) -> None:
    files = {f"en/{topic}": concept(topic, topics=f"[{topic}]") for topic in ("network", "storage")}
    files["taxonomy.yaml"] = TAXONOMY.replace("{en: Storage,", "{en: Network,")
    hits = small(files).searcher.search(SearchRequest("topic:network", Language.EN)).hits
    assert [hit.entry.id for hit in hits] == ["roll/network"]


def pasted() -> Iterator[str]:
    for folder in PASTED:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".log", ".md"}:
                yield from path.read_text(encoding="utf-8", errors="replace").splitlines()


def judged() -> Iterator[str]:
    for path in [ROOT / "tests/judged.jsonl", *sorted(Path(ROOT, "tests/diagnosis/judged").glob("*.jsonl"))]:
        yield from (json.loads(line)["query"] for line in path.read_text(encoding="utf-8").splitlines())


def test_nothing_that_is_pasted_or_asked_changes_its_meaning(language: QueryLanguage) -> None:
    """But for this language's own page, which quotes it."""
    own = set(Path(ROOT, "docs/query-language.md").read_text(encoding="utf-8").splitlines())
    own |= set(Path(ROOT, "docs/query-language.zh-CN.md").read_text(encoding="utf-8").splitlines())
    lines = {line.strip() for line in pasted() if line.strip()} - own
    assert len(lines) > 4000
    asked = {*judged()}
    assert len(asked) > 1000
    assert [text for text in (*lines, *asked) if language.read(text)] == []


PIECES = [*'-*:"()[]“” ', " OR ", " NOT ", "title:", "框架:", "slime", "mem", "显存", "2025-10.."]


@given(st.lists(st.sampled_from(PIECES), max_size=9))
def test_a_broken_query_is_an_answer(shipped: Snapshot, parts: list[str]) -> None:
    found(shipped, "".join(parts), limit=1)


def test_tags_are_conditions_and_words_rank(shipped: Snapshot) -> None:
    assert {one.framework for one in entries(shipped, "CUDA out of memory framework:slime")} == {"slime"}
    assert {one.kind for one in entries(shipped, "kind:concept")} == {"concept"}
    assert {one.framework for one in entries(shipped, "memory -framework:roll -框架:slime")} == {"chatlearn"}
    either = {one.framework for one in entries(shipped, "framework:slime OR framework:roll")}
    assert either == {"slime", "roll"}


def test_what_is_excluded_is_in_no_hit(shipped: Snapshot) -> None:
    everything = entries(shipped, "memory")
    without = entries(shipped, "memory -host")
    assert len(without) < len(everything)
    assert not [one.id for one in without if " host " in said(one)]
    assert [one.id for one in without] == [one.id for one in entries(shipped, "memory NOT host")]
    beginning = [one.id for one in entries(shipped, "memory NOT hos*")]
    assert beginning == [one.id for one in entries(shipped, "memory -hos*")]
    assert set(beginning) <= {one.id for one in without}


def test_titles_beginnings_and_days_are_conditions(shipped: Snapshot) -> None:
    assert all("memory" in said(one) for one in entries(shipped, "title:memory"))
    beginning = {one.id for one in entries(shipped, "mem*")}
    assert beginning > {one.id for one in entries(shipped, "title:memory")}
    days = [one.updated for one in entries(shipped, "updated:2000..")]
    assert len(days) == len(shipped.library.listed())
    assert days == sorted(days, reverse=True)
    assert found(shipped, "updated:..2001").total == 0


def test_an_operator_keeps_what_fits_of_what_the_words_find_and_text_is_none(shipped: Snapshot) -> None:
    words, kept = entries(shipped, "memory"), entries(shipped, "memory framework:slime")
    assert {one.id for one in kept} == {one.id for one in words if one.framework == "slime"}
    answer = found(shipped, "framework: slime")
    assert answer.operators == ()
    assert {hit.entry.framework for hit in answer.hits} > {"slime"}


def test_a_value_that_does_not_exist_is_answered_with_the_nearest(shipped: Snapshot) -> None:
    answer = found(shipped, "memory framework:slimee")
    assert answer.operators == ()
    offered = [one.query for one in answer.suggestions if one.type is SuggestionType.SPELLING]
    assert offered == ["memory framework:slime"]
    answer = found(shipped, "framework:roll topic:memori disk")
    assert [one.text for one in answer.operators] == ["framework:roll"]
    offered = [one.query for one in answer.suggestions if one.type is SuggestionType.SPELLING]
    assert offered == ["framework:roll topic:memory disk"]
    alone = found(shipped, "-framework:roll")  # only exclusions: text, but nothing is wrong with the value
    assert SuggestionType.SPELLING not in {one.type for one in alone.suggestions}


def test_a_correction_keeps_the_operators(shipped: Snapshot) -> None:
    answer = found(shipped, "chekpoint framework:slime")
    assert answer.correction == "checkpoint framework:slime"
    assert answer.hits


def test_a_field_is_completed_with_its_values(shipped: Snapshot) -> None:
    frameworks = tuple(f"memory framework:{name}" for name in ("chatlearn", "roll", "slime"))
    assert shipped.searcher.complete_field("memory framework:") == frameworks
    assert shipped.searcher.complete_field("-框架:sl") == ("-框架:slime",)
    assert shipped.searcher.complete_field("https://sl") == shipped.searcher.complete_field("title:me") == ()
