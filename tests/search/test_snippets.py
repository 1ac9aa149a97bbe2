"""What a hit shows of its entry and gives as its reasons: exact marks, whole words, nothing but text."""

import random
import re
from html import unescape

import pytest
from jieda.entry import Language
from jieda.search.answers import SearchRequest, Snippet
from jieda.search.snippet import LENGTH, EditionLine, join_blocks, opening, snippet
from jieda.snapshot.snapshot import Snapshot

from tests.search.small import MakeSnapshot, ask, concept, error, first, reasons
from tests.support.cost import assert_linear

MARK = re.compile(r"<mark>(.*?)</mark>", re.DOTALL)
FILLERS = {
    f"en/filler{number}": concept(f"Filler {number}", "Rain, tea and old songs.") for number in range(4)
}


def marks(snippet: str) -> list[str]:
    return [unescape(text) for text in MARK.findall(snippet)]


def plain(snippet: str) -> str:
    return unescape(re.sub("</?mark>", "", snippet))


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("先看ＢＡＴＣＨ再说。", "batch", ["ＢＡＴＣＨ"]),
        ("先看batch再说。", "ＢＡＴＣＨ", ["batch"]),
        ("這裡顯存不夠用。", "显存", ["顯存"]),
        ("这里显存不够用。", "顯存", ["显存"]),
        ("安装简单，没有复杂的配置。", "简单配置", ["简单", "配置"]),
        ("The models were resumed twice.", "resuming model", ["models", "resumed"]),
        ("Then max_tokens_per_gpu is low.", "tokens", ["max_tokens_per_gpu"]),
        ("It raises torch.OutOfMemoryError there.", "memory", ["OutOfMemoryError"]),
        ("Start it with --micro-batch-size now.", "batch", ["--micro-batch-size"]),
        ("显存看total_gpu_nums即可。", "gpu", ["total_gpu_nums"]),
        ("Then max_tokens_per_gpu is low.", "max-tokens-per-gpu", ["max_tokens_per_gpu"]),
        ("It raises torch.cuda.OutOfMemoryError there.", "OutOfMemoryError", ["OutOfMemoryError"]),
        ("It reads self.node2pg[node_rank] there.", "node_rank", ["node_rank"]),
        (
            "Start it with --use-dynamic-batch-size now.",
            "use_dynamic_batch_size",
            ["--use-dynamic-batch-size"],
        ),
        ("Add ﬁne words.", "fine", ["ﬁne"]),
        ("看🎉完成🎉了", "完成", ["完成"]),
        ("数字𠮷在这里", "𠮷", ["𠮷"]),
    ],
)
def test_exactly_what_was_found_is_marked_in_the_text_as_written(
    small: MakeSnapshot, text: str, query: str, marked: list[str]
) -> None:
    shown = first(small(FILLERS | {"en/one": concept("About it", text)}), query).snippet.html
    assert marks(shown) == marked
    assert plain(shown) == text


def test_a_synonym_is_marked_where_it_stands(small: MakeSnapshot) -> None:
    snapshot = small(
        FILLERS | {"en/one": concept("About it", "The job got stuck here.")}, "- {en: [stuck], zh: [卡住]}\n"
    )
    assert marks(first(snapshot, "卡住").snippet.html) == ["stuck"]


def test_the_inside_of_a_chinese_word_is_not_marked_for_itself(shipped: Snapshot) -> None:
    """`存不` of `显存不足` stands in `内存不够`, and means nothing."""
    hits = shipped.searcher.search(SearchRequest("显存不足", Language.ZH)).hits
    assert hits
    assert not [hit.snippet.html for hit in hits if "<mark>存不</mark>" in hit.snippet.html + hit.title]


def test_what_looks_like_markup_is_text(small: MakeSnapshot) -> None:
    text = 'Zebra `<script>alert("x")</script>` & `a<b>c</b>` `&lt;` zebra.'
    shown = first(small(FILLERS | {"en/one": concept("About it", text)}), "zebra script <b>").snippet.html
    assert re.findall(r"<(?!/?mark>)|(?<!mark)>", shown) == []
    assert plain(shown) == text.replace("`", "")
    assert {"Zebra", "script", "zebra", "b"} <= set(marks(shown))


def test_the_fix_is_shown_rather_than_the_symptom(small: MakeSnapshot) -> None:
    entry = error("About it", fix="Zebras go away by feeding.", symptom="Zebras are everywhere.")
    assert (
        plain(first(small(FILLERS | {"en/one": entry}), "zebras").snippet.html)
        == "Zebras go away by feeding."
    )


def test_the_line_that_holds_most_of_the_question_is_shown(small: MakeSnapshot) -> None:
    text = "A zebra stands here.\n\nA zebra met a walrus there.\n\nA walrus lies there."
    shown = first(small(FILLERS | {"en/one": concept("About it", text)}), "walrus and zebra").snippet.html
    assert plain(shown).startswith("A zebra met a walrus there.")
    assert marks(shown)[:2] == ["zebra", "walrus"]


def test_where_only_the_title_matches_the_answer_is_shown(small: MakeSnapshot) -> None:
    entry = error("Zebra", fix="Feed it twice.", symptom="It is striped.")
    assert first(small(FILLERS | {"en/one": entry}), "zebra").snippet.html == "Feed it twice."


@pytest.mark.parametrize("before", range(0, 24, 3))
def test_no_word_or_identifier_is_cut(small: MakeSnapshot, before: int) -> None:
    names = [f"--some-very-long-option-name-{number}=value_{number}" for number in range(12)]
    text = f"{'x' * before} {' '.join(names)} zebra {' '.join(names)}"
    shown = plain(first(small(FILLERS | {"en/one": concept("About it", text)}), "zebra").snippet.html)
    assert "zebra" in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert set(shown.strip("… ").split()) <= set(text.split())
    assert len(shown) < LENGTH + 2 * len(names[0]) + 10


def test_a_line_without_any_break_is_shown_whole_rather_than_cut(small: MakeSnapshot) -> None:
    text = "a_" * 300 + "zebra"
    shown = plain(first(small(FILLERS | {"en/one": concept("About it", f"`{text}`")}), "zebra").snippet.html)
    assert shown == text


def test_any_snippet_is_a_stretch_of_the_text_between_whole_characters(small: MakeSnapshot) -> None:
    chance = random.Random(7)
    words = "显存 不足 zebra 🎉 𠮷 max_tokens ＯＯＭ a<b & é ， e\u0301 rain".split()
    texts = {
        f"one{number}": chance.choice(["", " "]).join(chance.choices(words, k=chance.randint(1, 150)))
        for number in range(40)
    }
    snapshot = small({f"en/{slug}": concept(f"About {slug}", text) for slug, text in texts.items()})
    for query in ("显存 zebra oom", "𠮷", "tokens", "不足", "é <b"):
        for hit in ask(snapshot, query, limit=50).hits:
            text = texts[hit.entry.slug]
            assert plain(hit.snippet.html).removeprefix("… ").removesuffix(" …").strip() in text
            assert all(mark in text for mark in marks(hit.snippet.html))
            hit.snippet.html.encode()


# ---- reasons


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("zebra crossing", ("title", "Zebra crossing", "")),
        ("striped horse", ("alias", "striped horse", "")),
        ("a zebra there", ("title", "zebra", "")),
        ("one striped thing", ("alias", "striped", "")),
        ("max_stripes now", ("identifier", "max_stripes", "")),
        ("galloped wildly", ("signature", "galloped", "")),
        ("looking left", ("text", "looking", "")),
        ("斑马 tomorrow", ("glossary", "斑马", "Zebra")),
        ("crosing", ("typo", "crosing", "crossing")),
    ],
)
def test_a_hit_says_why_it_was_found(small: MakeSnapshot, query: str, expected: tuple[str, str, str]) -> None:
    entry = error(
        "Zebra crossing",
        fix="Set `max_stripes` after looking left.",
        aliases="[striped horse]",
        signatures="['it galloped {int} times']",
    )
    snapshot = small(FILLERS | {"en/one": entry}, "- {en: [zebra], zh: [斑马]}\n")
    assert expected in reasons(first(snapshot, query))


def test_a_reason_names_what_was_typed_and_not_its_stem(small: MakeSnapshot) -> None:
    snapshot = small(FILLERS | {"en/one": concept("About it", "Use `max_dynamic_batches` there.")})
    hit = first(snapshot, "dynamic-batches")
    assert {text for _, text, _ in reasons(hit)} <= {
        "dynamic",
        "batches",
        "dynamic-batches",
        "dynamic_batches",
    }


def test_each_word_is_named_once_by_its_best_reason(small: MakeSnapshot) -> None:
    entry = concept("Zebra", "A zebra `zebra` zebra.", aliases="[my zebra]")
    hit = first(small(FILLERS | {"en/one": entry}), "zebra walrus")
    assert reasons(hit) == [("title", "zebra", "")]


def test_a_reason_names_no_more_of_a_word_than_is_there(small: MakeSnapshot) -> None:
    """One title has two of the three characters, the other all."""
    content = {"zh/one": "数据丢失", "zh/two": "数据库配置"}
    files = {
        name: concept(title, "数据库满了。").replace("## Answer", "## 回答")
        for name, title in content.items()
    }
    answer = ask(small(files), "数据库", "zh")
    said = {hit.entry.id: reasons(hit) for hit in answer.hits}
    assert said == {"roll/one": [("title", "数据", "")], "roll/two": [("title", "数据库", "")]}


def test_a_reason_names_no_characters_across_two_words_where_it_can_name_a_word(small: MakeSnapshot) -> None:
    answer = concept("节点内存不足", "显存够的话，调小批次。").replace("## Answer", "## 回答")
    for typed in ("显存不够", "顯存不夠"):
        said = {text for _, text, _ in reasons(first(small({"zh/one": answer}), typed, "zh"))}
        assert "存不" not in said, typed
        assert "显存" in said, typed


def test_the_snippet_is_of_the_edition_that_is_shown(small: MakeSnapshot) -> None:
    files = {
        "en/one": concept("Batch", "The batch is big."),
        "zh/one": concept("批次", "批次太大。").replace("## Answer", "## 回答"),
    }
    snapshot = small(FILLERS | files, "- {en: [batch], zh: [批次]}\n")
    hit = first(snapshot, "batch size", "zh")
    assert hit.edition.lang is Language.ZH
    assert marks(hit.snippet.html) == ["批次"]


def test_blocks_stand_apart_in_one_line() -> None:
    """A setting and the number that the next sentence begins with must not read as one."""
    apart = join_blocks(map(Snippet, ["Set this:", "ports=30000-30050", "50 ports are enough."]))
    assert apart.html == "Set this: ports=30000-30050 · 50 ports are enough."
    marked = join_blocks([Snippet("二选一："), Snippet("改配置。", ((1, 4),)), Snippet("换版本")])
    assert marked.html == "二选一：改<mark>配置。</mark>换版本"


def test_long_answers_and_lines_full_of_matches_cost_in_proportion_to_their_length() -> None:
    assert_linear(
        lambda size: join_blocks([Snippet("a block of eight words, none of them long")] * size), 500
    )
    lines = {size: (EditionLine("title", ""), EditionLine("fix", "ab cd " * size)) for size in (1000, 8000)}
    places = {size: [(1, 6 * at, 6 * at + 2) for at in range(size)] for size in lines}
    assert_linear(lambda size: snippet(lines[size], [(1.0, places[size])]), 1000)


def test_code_of_the_entry_is_code_and_nothing_else_is(small: MakeSnapshot) -> None:
    text = "A zebra `<eats max_grass>` & ![the `zebra --fast`](x.png) zebra_like."
    text += "\n\n```sh\nzebra  --fast\n\nrest\n```\n"
    snapshot = small(FILLERS | {"en/one": concept("About it", text)})
    assert first(snapshot, "zebra grass").snippet.html_with_code == (
        "A <mark>zebra</mark> <code>&lt;eats <mark>max_grass</mark>&gt;</code> &amp; the "
        "<code><mark>zebra</mark> --fast</code> <mark>zebra_like</mark>. "
        "<code><mark>zebra</mark>  --fast</code> · <code>rest</code>"
    )


def test_a_mark_that_runs_into_code_is_parted_there(small: MakeSnapshot) -> None:
    snapshot = small(FILLERS | {"en/one": concept("About it", "请先设置`max_grass`再跑。")})
    shown = first(snapshot, "设置 max_grass").snippet
    assert shown.html == "请先<mark>设置max_grass</mark>再跑。"
    assert shown.html_with_code == "请先<mark>设置</mark><code><mark>max_grass</mark></code>再跑。"


def test_code_that_a_snippet_cuts_is_code_up_to_its_edge(small: MakeSnapshot) -> None:
    code = " ".join(f"step{number}" for number in range(60))
    shown = first(
        small(FILLERS | {"en/one": concept("About it", f"Do `{code} zebra {code}` now.")}), "zebra"
    ).snippet
    assert shown.html_with_code == f"… <code>{shown.html[2:-2]}</code> …"


def test_code_in_tables_and_lists_is_code(small: MakeSnapshot) -> None:
    table = "| name | zebra |\n| --- | --- |\n| `a` b | zebra `c` d |\n\n- one\n- `e` zebra"
    snapshot = small(FILLERS | {"en/one": concept("About it", table)})
    shown = first(snapshot, "zebra").snippet
    assert shown.text == "name | zebra · a b | zebra c d · one · e zebra"
    assert [shown.text[start:end] for start, end in shown.code] == ["a", "c", "e"]


def test_the_beginning_of_an_answer_keeps_its_code_where_it_ends(small: MakeSnapshot) -> None:
    snapshot = small({"en/one": concept("About it", f"Set `a=1`:\n\n    {'b' * 50}\n")})
    (entry,) = snapshot.library.entries.values()
    edition = entry.edition(Language.EN)
    assert opening(edition, 400).html_with_code == f"Set <code>a=1</code>: <code>{'b' * 50}</code>"
    assert opening(edition, 20).html_with_code == f"Set <code>a=1</code>: <code>{'b' * 10}</code>…"
