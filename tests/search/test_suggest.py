"""Completion while typing."""

from dataclasses import replace

import pytest
from jieda.entry import Language
from jieda.search.answers import CompletionType, SearchRequest
from jieda.search.completion import CompletionCandidate, entry_candidates
from jieda.snapshot.snapshot import Snapshot

from tests.search.small import MakeSnapshot, concept
from tests.support.cost import assert_linear

TITLE, IDENTIFIER, TAG, GLOSSARY = CompletionType


def complete(snapshot: Snapshot, text: str, lang: str = "en", limit: int = 10) -> list[tuple[str, str]]:
    """Text and type of each completion."""
    return [(one.text, one.type) for one in snapshot.completer.complete(text, Language(lang), limit)]


@pytest.fixture
def typed(small: MakeSnapshot) -> Snapshot:
    files = {
        "en/stuck": concept(
            "Training is stuck", "Pass `--use-dynamic-batch-size` and `max_tokens_per_gpu=8`."
        ),
        "zh/stuck": concept("训练卡住不动", "加上 `--use-dynamic-batch-size`。").replace(
            "## Answer", "## 回答"
        ),
        "en/resume": concept("Resume a stopped training", "Call `resume_from()`.", topics="[storage]"),
        "zh/oom": concept("显存不足怎么办", "减小批次。").replace("## Answer", "## 回答"),
        "en/draft": concept("Training draft", "`secret_draft_flag`", draft="true"),
    }
    return small(files, '- {en: ["GPU memory", "VRAM"], zh: ["显存", "显卡内存"]}\n')


def test_a_title_is_completed_from_its_start_and_leads_to_its_entry(typed: Snapshot) -> None:
    assert complete(typed, "train")[0] == ("Training is stuck", TITLE)
    (title,) = typed.completer.complete("Training is st", Language.EN, 5)
    assert (title.text, title.type, title.target) == ("Training is stuck", TITLE, "roll/stuck")


def test_what_starts_with_the_text_comes_before_what_has_it_inside(typed: Snapshot) -> None:
    assert complete(typed, "training") == [("Training is stuck", TITLE), ("Resume a stopped training", TITLE)]
    assert complete(typed, "stopped") == [("Resume a stopped training", TITLE)]
    assert complete(typed, "opped")[0] == ("Resume a stopped training", TITLE)


def test_a_word_counts_from_its_start_wherever_it_stands_in_another_before(small: MakeSnapshot) -> None:
    inside, start = "Upload then download a file", "Preload the model and load weights"
    snapshot = small({"en/inside": concept(inside), "en/start": concept(start)})
    assert complete(snapshot, "load") == [(start, TITLE), (inside, TITLE)]


@pytest.mark.parametrize("half", ["显", "显存", "显存不", "显存不足怎", "顯存不", "显存不足怎么办"])
def test_a_half_typed_chinese_question_is_completed(typed: Snapshot, half: str) -> None:
    assert ("显存不足怎么办", TITLE) in complete(typed, half, "zh")


def test_a_word_inside_a_chinese_title_is_enough(typed: Snapshot) -> None:
    assert complete(typed, "卡住", "zh")[0] == ("训练卡住不动", TITLE)
    assert ("显存不足怎么办", TITLE) in complete(typed, "不足", "zh")


@pytest.mark.parametrize(
    "half",
    [
        "--use-dyn",
        "--use",
        "use-dyn",
        "use_dyn",
        "USE DYN",
        "dynamic",
        "dynamic_batch",
        "--use_dynamic_batch",
        "batch-s",
    ],
)
def test_a_half_typed_flag_is_completed_under_any_separator(typed: Snapshot, half: str) -> None:
    assert ("--use-dynamic-batch-size", IDENTIFIER) in complete(typed, half)


def test_an_identifier_is_offered_without_what_stands_around_it(typed: Snapshot) -> None:
    assert complete(typed, "max_tok") == [("max_tokens_per_gpu", IDENTIFIER)]
    assert complete(typed, "resume_f") == [("resume_from", IDENTIFIER)]


@pytest.mark.parametrize("long", ["a-", "A", "-", "x.y"])
def test_identifiers_are_found_in_code_of_any_length(shipped: Snapshot, long: str) -> None:
    entry = next(iter(shipped.library.entries.values()))
    (lang, edition), *_ = entry.editions.items()

    def read(size: int) -> list[CompletionCandidate]:
        code = "".join(character * size for character in long)
        return [*entry_candidates(replace(entry, editions={lang: replace(edition, code=(code,))}))]

    assert_linear(read, 250)


def test_encoded_data_in_code_is_no_identifier(small: MakeSnapshot) -> None:
    snapshot = small({"en/blob": concept("Blob", f"Pass `to_{'a-B_' * 100}` to `blob_reader`.")})
    assert complete(snapshot, "to_a") == []
    assert complete(snapshot, "reader") == [("blob_reader", IDENTIFIER)]


def test_an_identifier_of_both_editions_is_offered_once(typed: Snapshot) -> None:
    assert [text for text, _ in complete(typed, "--use-dyn")].count("--use-dynamic-batch-size") == 1


def test_tags_in_use_are_offered_by_their_names_and_lead_to_their_pages(typed: Snapshot) -> None:
    (tag,) = [one for one in typed.completer.complete("stor", Language.EN, 5) if one.type is TAG]
    assert (tag.text, tag.target) == ("Storage", "topic/storage")
    assert complete(typed, "存储", "zh") == [("存储", TAG)]
    assert complete(typed, "network") == []


def test_words_of_the_glossary_are_offered(typed: Snapshot) -> None:
    assert ("VRAM", GLOSSARY) in complete(typed, "vr")
    assert ("GPU memory", GLOSSARY) in complete(typed, "memo")
    assert ("显卡内存", GLOSSARY) in complete(typed, "显卡", "zh")


def test_a_word_of_the_glossary_is_offered_only_where_its_search_finds_what_fits(small: MakeSnapshot) -> None:
    words = '- {en: ["GPU memory", "VRAM"]}\n- {en: ["VRAM leak", "graphics card"]}\n- {en: ["VPP"]}\n'
    files = {f"en/other-{n}": concept(f"Other {n}") for n in range(5)}
    snapshot = small({"en/oom": concept("Out of GPU memory", "Lower the batch size.")} | files, words)
    assert complete(snapshot, "v") == [("VRAM", GLOSSARY)]
    assert complete(snapshot, "graph") == []


@pytest.mark.slow
def test_every_suggested_word_of_the_shipped_glossary_leads_somewhere(shipped: Snapshot) -> None:
    offered = {
        text
        for group in shipped.library.glossary[::10]
        for text, kind in complete(shipped, group.words[0][:3], limit=50)
        if kind is GLOSSARY
    }
    assert len(offered) > 50
    for text in offered:
        answer = shipped.searcher.search(SearchRequest(text))
        assert (len(answer.hits) > 0, answer.weak) == (True, False), text


def test_what_is_in_the_readers_language_comes_first(small: MakeSnapshot) -> None:
    files = {
        "en/one": concept("ROLL in words"),
        "zh/one": concept("ROLL 文字").replace("## Answer", "## 回答"),
    }
    snapshot = small(files)
    titles = {
        lang: [text for text, kind in complete(snapshot, "roll ", lang) if kind is TITLE]
        for lang in ("en", "zh")
    }
    assert titles == {"en": ["ROLL in words", "ROLL 文字"], "zh": ["ROLL 文字", "ROLL in words"]}


@pytest.mark.parametrize(
    "nothing", ["", "   ", "\n", "zzzz", "secret_draft", "Training dr", "\x00", "\ud800", "((("]
)
def test_where_nothing_fits_nothing_is_offered(typed: Snapshot, nothing: str) -> None:
    assert complete(typed, nothing) == []


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_no_more_than_asked_for_are_offered_and_none_twice(shipped: Snapshot, limit: int) -> None:
    for half in ("a", "的", "-", "_", "memory", "roll"):
        offered = complete(shipped, half, limit=limit)
        assert len(offered) <= limit
        assert len(set(offered)) == len(offered)
        assert offered == complete(shipped, half, limit=50)[:limit]


def test_signs_that_mean_something_to_patterns_are_text(shipped: Snapshot) -> None:
    for odd in (".*", "[a-z]", "\\", "(?", "%s", "a|b", "^", "$"):
        assert complete(shipped, odd, limit=50) == [], odd


def test_every_title_is_offered_when_half_of_it_is_typed(shipped: Snapshot) -> None:
    for entry in shipped.library.entries.values():
        for lang, edition in entry.editions.items():
            half = edition.title[: len(edition.title) // 2]
            assert (edition.title, TITLE) in complete(shipped, half, lang, limit=10), half


@pytest.mark.parametrize("typed", ["x", "显存"])
def test_a_key_stroke_costs_no_more_than_what_is_typed_even_of_a_pasted_page(
    shipped: Snapshot, typed: str
) -> None:
    assert_linear(lambda size: complete(shipped, typed * size), 1_250)
