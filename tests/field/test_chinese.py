"""Searching in Chinese. The editions are in `corpus.HAN`, the shipped content's in `content/zh`.

What does not apply, or is tested elsewhere:

- Excluding words (`-词`): there is no such operator, a dash is text; tested here as that.
- A process that refuses to be ready because its own index misses words: the contract has readiness mean that a
  snapshot is served. That every word is found holds for any content by the way it is indexed, and is tested here
  over whatever is shipped.
- Typing with an input method: only a browser composes; tests/e2e has it.
- Searches by agents over a protocol of their own: there is none yet.
"""

import re
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.field.asking import entries, hit, ids, marks, search
from tests.field.corpus import zh
from tests.support.small_content import write

HAN_RUN = re.compile(r"[\u4e00-\u9fff]{2,}")
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"


def pairs(text: str) -> set[str]:
    """Every two neighboring Han characters."""
    runs = HAN_RUN.findall(text)
    return {run[at : at + 2] for run in runs for at in range(len(run) - 1)}


def holders_of_pairs(client: httpx.Client) -> dict[str, set[str]]:
    """For every pair in a Chinese title, the entries whose title has it."""
    found: dict[str, set[str]] = {}
    for entry in entries(client):
        for edition in entry["editions"]:
            if edition["lang"] == "zh":
                for pair in pairs(edition["title"]):
                    found.setdefault(pair, set()).add(entry["id"])
    return found


@pytest.mark.parametrize(
    ("word", "entry"),
    [
        ("安装", "han/install"),
        ("简单", "han/install"),
        ("复杂", "han/install"),
        ("配置", "han/install"),
        ("深度", "han/sentence"),
        ("模型", "han/sentence"),
        ("训练", "han/sentence"),
        ("数据", "han/sentence"),
        ("检查", "han/places"),
        ("保存", "han/places"),
        ("对象", "han/places"),
        ("存储", "han/places"),
        ("首先", "han/places"),
        ("密钥", "han/places"),
        ("调度器", "han/places"),
    ],
)
def test_a_word_is_found_wherever_it_stands_in_a_chinese_title_or_sentence(
    field: httpx.Client, word: str, entry: str
) -> None:
    assert entry in ids(field, word)


def test_a_single_character_finds_every_word_that_has_it(field: httpx.Client) -> None:
    found = ids(field, "卡")
    assert {"han/stuck", "han/stuck-page", "han/card", "han/lost-card"} <= set(found)
    elsewhere = search(field, "灯")
    assert elsewhere["weak"]
    assert {reason["type"] for hit in elsewhere["hits"] for reason in hit["reasons"]} == {"meaning"}


def test_every_single_character_of_a_title_finds_something(field: httpx.Client) -> None:
    characters = {character for pair in holders_of_pairs(field) for character in pair}
    assert [character for character in sorted(characters) if not ids(field, character)] == []


def test_a_whole_question_finds_its_answer_in_any_order_of_its_parts(field: httpx.Client) -> None:
    assert ids(field, "为什么我的任务一直卡在ray提交的页面上")[0] == "han/stuck-page"
    for parts in permutations(("我的任务", "一直卡在", "ray提交的页面上")):
        assert ids(field, "".join(parts))[0] == "han/stuck-page", parts


def test_a_whole_question_finds_its_answer_in_the_shipped_content(client: httpx.Client) -> None:
    for parts in permutations(("为什么我的任务", "一直卡在", "ray提交的页面上")):
        assert ids(client, "".join(parts))[0] == "slime/stuck-on-ray-submission", parts


def test_a_word_comes_before_entries_that_share_only_its_characters(field: httpx.Client) -> None:
    found = ids(field, "权重")
    assert found[0] == "han/weight-sync"
    assert not {"han/permission", "han/retry", "han/clock"} & set(found)
    assert ids(field, "权重同步")[0] == "han/weight-sync"


def test_words_that_only_sound_alike_are_not_mixed_up(field: httpx.Client) -> None:
    assert ids(field, "奖励") == ["han/reward"]
    assert ids(field, "将立") == ["han/homophone"]


@pytest.mark.parametrize("q", ['"重同步"', "“重同步”", "「重同步」"])
def test_a_quoted_phrase_may_be_cut_in_the_middle_of_words(field: httpx.Client, q: str) -> None:
    assert ids(field, q) == ["han/weight-sync"]


def test_a_dash_before_a_word_excludes_it_and_one_within_text_does_not(field: httpx.Client) -> None:
    assert ids(field, "权重 同步")[0] == "han/weight-sync"
    assert "han/weight-sync" not in ids(field, "权重 -同步")
    assert ids(field, "权重 - 同步") == ids(field, "权重-同步") == ids(field, "权重 同步")


@pytest.mark.parametrize("part", ["农业", "发展", "银行", "农业发展", "发展银行", "农业发展银行"])
def test_a_compound_is_found_by_each_of_its_parts(field: httpx.Client, part: str) -> None:
    assert "han/bank" in ids(field, part)


def test_a_compound_that_no_entry_has_is_read_as_the_words_it_is_made_of(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    content = {
        "zh/roll/loan.md": zh("贷款的年限", "这家银行发放贷款时，先看申请人是不是从事农业，再看地块多大。"),
        "zh/roll/bank.md": zh("银行的网点", "银行在县城有网点，银行在镇上也有网点，银行周末也开门。"),
        "zh/roll/farm.md": zh("农业的补贴", "农业补贴一年发一次，农业补贴不能转让，农业补贴也不能抵押。"),
        "zh/roll/other.md": zh("机器的维修", "机器坏了先停机，停机后检查油路和电路，最后再开机试运行。"),
    }
    with serve(write(tmp_path / "content", content)) as client:
        assert not search(client, "农业银行")["weak"]
        loan, *others = search(client, "农业银行贷款")["hits"]
    assert loan["id"] == "roll/loan"
    assert {"农业", "银行"} <= {reason["text"] for reason in loan["reasons"]}
    assert {"roll/bank", "roll/farm"} <= {one["id"] for one in others}


def test_characters_across_the_border_of_two_words_are_found_below_the_word(field: httpx.Client) -> None:
    assert ids(field, "段简") == ["han/paragraph"]
    found = ids(field, "简单")
    assert {"han/install", "han/paragraph", "han/trimmed"} <= set(found)
    assert max(found.index("han/install"), found.index("han/paragraph")) < found.index("han/trimmed")
    assert "han/deploy" not in found


@pytest.mark.slow
@pytest.mark.parametrize("shelf", ["field", "client"])
def test_a_sentence_copied_from_an_entry_finds_that_entry_first(
    shelf: str, request: pytest.FixtureRequest
) -> None:
    client: httpx.Client = request.getfixturevalue(shelf)
    sentences: dict[str, set[str]] = {}
    for entry in entries(client):
        if "zh" in {edition["lang"] for edition in entry["editions"]}:
            markdown = client.get(entry["api_url"], params={"lang": "zh"}).json()["markdown"]
            found = re.findall(r"^[\u4e00-\u9fff，、]{14,}。$", markdown, re.MULTILINE)
            for sentence in found[:2]:
                sentences.setdefault(sentence, set()).add(entry["id"])
    assert sentences
    firsts = {sentence: ids(client, sentence, limit=1) for sentence in sentences}
    assert {s: found for s, found in firsts.items() if not set(found) <= sentences[s] or not found} == {}


@pytest.mark.parametrize("q", ["dynamic-batch", "use-dynamic", "--use-dynamic-batch-size", "batch-size"])
def test_part_of_a_flag_between_chinese_words_is_found(field: httpx.Client, q: str) -> None:
    found = ids(field, q)
    assert "han/dynamic" in found
    if "dynamic" in q:
        assert found[0] == "han/dynamic"


@pytest.mark.parametrize("q", ["C++", "c++", "C#", "c#", ".so", "libfoo.so", "~/.cache", ".cache"])
def test_punctuation_that_belongs_to_a_name_is_searched_for(field: httpx.Client, q: str) -> None:
    assert ids(field, q)[0] == "han/suffixes"


def test_completion_takes_traditional_characters_as_well(field: httpx.Client) -> None:
    def complete(q: str) -> list[dict[str, str]]:
        completions: list[dict[str, str]] = field.get("/api/v1/suggest", params={"q": q, "lang": "zh"}).json()
        return completions

    assert complete("顯存")
    assert complete("顯存") == complete("显存")
    assert "权重同步的时机" in [one["text"] for one in complete("權重") if one["type"] == "title"]


@pytest.mark.parametrize("separator", ["，", ",", " ", "。", "、", "\u3000", "；", "｜"])
def test_any_separator_between_words_finds_the_same(field: httpx.Client, separator: str) -> None:
    found = ids(field, f"显存{separator}不足")
    assert found[0] == "han/memory"
    assert found == ids(field, "显存 不足")


@pytest.mark.parametrize("q", ["ROLL", "掩码", "OOM", "掩码|OOM", "roll｜掩码"])
def test_a_bar_glued_to_words_does_not_hide_them(field: httpx.Client, q: str) -> None:
    assert "han/bars" in ids(field, q)


def test_a_question_in_one_language_works_on_a_page_in_the_other(client: httpx.Client) -> None:
    """No parameter says what language a query is in."""
    for lang in ("en", "zh"):
        for q, entry in (
            ("如何续训", "slime/resume-training"),
            ("how to resume training", "slime/resume-training"),
        ):
            assert ids(client, q, lang=lang)[0] == entry
            assert f"/{lang}/entries/{entry}" in client.get(f"/{lang}/search", params={"q": q}).text


def test_text_in_a_code_block_or_written_as_an_entity_is_found_as_it_is_read(field: httpx.Client) -> None:
    found = hit(field, "炉渣", "han/fence")
    assert marks(found) == ["炉渣"]
    assert ids(field, "首页") == ["han/fence"]
    assert "&amp;#" not in hit(field, "首页", "han/fence")["snippet"]
    assert "han/fence" not in ids(field, "x9996")


def test_a_word_of_the_content_directorys_dictionary_is_kept_whole(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    """A coinage of four characters: without the dictionary it is four characters like any others."""
    content = {
        "zh/roll/word.md": zh("名词", "这一节讲奥卡莫希，也只讲它一个，不讲别的。"),
        "zh/roll/pieces.md": zh("碎片", "这一节讲奥卡，也讲卡莫，还讲莫希，不讲别的。"),
    }
    q = "讲讲奥卡莫希的来历"
    with serve(write(tmp_path / "with", {**content, "dictionary.txt": "奥卡莫希\n"})) as client:
        assert ids(client, q)[0] == "roll/word"
        assert "奥卡莫希" in {reason["text"] for reason in hit(client, q, "roll/word")["reasons"]}
    with serve(write(tmp_path / "without", content)) as client:
        assert "奥卡莫希" not in {
            reason["text"] for one in search(client, q)["hits"] for reason in one["reasons"]
        }


def test_a_word_counts_where_the_entry_is_cut_across_it(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    """数据表面对齐 is cut into 数据, 表面 and 对齐, and 面对 is a word: its characters stand there all the same."""
    content = {
        "zh/roll/across.md": zh("写出", "报告在数据表面对齐之后写出，写在别的文件旁边，名字也取自别的文件。"),
        "zh/roll/other.md": zh("读入", "报告由别的节点读入。报告读入之后，报告放在一边。"),
    }
    with serve(write(tmp_path / "content", content)) as client:
        assert ids(client, "面对 报告")[0] == "roll/across"


@pytest.mark.parametrize(
    "q", ["显存", "权重同步", "显存不足", "卡", "训练数据", "任务一直卡在ray提交的页面上"]
)
def test_nothing_but_what_was_asked_for_is_marked(field: httpx.Client, q: str) -> None:
    """The small content has no glossary, whose words would be marked as well."""
    found = [mark for one in search(field, q)["hits"] for mark in marks(one)]
    assert found
    for mark in found:
        assert set(mark.casefold()) <= set(q), mark
        assert len(mark) <= 2 * len(q)


def test_a_word_glued_to_others_is_marked_exactly(field: httpx.Client) -> None:
    assert marks(hit(field, "显存", "han/glued")) == ["显存"]
    assert "前文<mark>显存</mark>不足后文" in hit(field, "显存", "han/glued")["snippet"]


def test_tags_that_look_like_numbers_or_switches_or_are_chinese_work(field: httpx.Client) -> None:
    assert "han/tagged" in ids(field, "点卯")
    for topic in ("2024", "on", "rollcall"):
        assert ids(field, "版本说明", topic=topic) == ["han/tagged"]
        assert field.get(f"/zh/topics/{topic}").status_code == 200
    labels = {topic["label"] for topic in search(field, "版本说明", lang="zh")["facets"]["topic"]}
    assert labels == {"2024 年", "开启", "点卯"}


@pytest.mark.parametrize("invisible", INVISIBLE)
def test_invisible_characters_in_a_pasted_query_change_nothing(field: httpx.Client, invisible: str) -> None:
    assert ids(field, f"{invisible}显存不足{invisible}") == ids(field, "显存不足")


@pytest.mark.parametrize("q", ["test", "FAQ", "faq", "模块", "FAQ模块", "test部分"])
def test_english_words_between_chinese_ones_are_found(field: httpx.Client, q: str) -> None:
    assert ids(field, q)[0] == "han/mixed"


@pytest.mark.parametrize(
    ("q", "entry"),
    [
        ("懵逼", "han/fragments"),
        ("懵逼了", "han/fragments"),
        ("碎片化", "han/fragments"),
        ("显存碎片化", "han/fragments"),
        ("掉卡", "han/lost-card"),
        ("一半掉卡", "han/lost-card"),
    ],
)
def test_coinages_that_no_dictionary_knows_are_found(field: httpx.Client, q: str, entry: str) -> None:
    assert ids(field, q)[0] == entry


@pytest.mark.parametrize(
    ("q", "entry", "marked"),
    [
        ("OOM", "han/wide", "ＯＯＭ"),
        ("KeyError", "han/wide", "ＫｅｙＥｒｒｏｒ"),
        ("(keyerror)", "han/wide", "ＫｅｙＥｒｒｏｒ"),
        ("1024", "han/wide", "１０２４"),
        ("ＮＣＣＬ", "code/nccl", "NCCL"),
        ("（ＫｅｙＥｒｒｏｒ）", "code/key-1", "KeyError"),
    ],
)
def test_full_width_and_half_width_are_one_and_marks_fit_the_text(
    field: httpx.Client, q: str, entry: str, marked: str
) -> None:
    assert marked in marks(hit(field, q, entry))


def test_an_ideographic_space_in_an_address_is_a_space(field: httpx.Client) -> None:
    address = f"/zh/search?q={quote('显存　不足')}"
    page = field.get(address)
    assert page.status_code == 200
    assert "/zh/entries/han/memory" in page.text
