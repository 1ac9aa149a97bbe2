"""`jieda search`, `jieda index`, `jieda eval` and `jieda read`: what they print and how they end."""

import json
import re
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import httpx
import pytest

from tests.support import command
from tests.support.server import Server, until
from tests.support.small_content import edition, write

CONTENT = {
    "en/roll/stuck.md": edition("The job is stuck", "## Answer\n\nRestart `ray_head` & wait.\n", topics="[]"),
    "zh/roll/stuck.md": edition("任务卡住不动", "## 回答\n\n重启 `ray_head`。\n", topics="[]"),
    "en/roll/oom.md": edition("Out of memory", "## Answer\n\nLower `batch_size`.\n"),
}


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("cli") / "content", CONTENT)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli-data")


class Jieda:
    """The command over one content directory."""

    def __init__(self, content: Path, data: Path, semantic: str = "0") -> None:
        # Words only: what is found must not depend on which extras are installed.
        self._settings = {"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(data), "JIEDA_SEMANTIC": semantic}

    def __call__(self, *arguments: str | bytes) -> command.Done:
        """In this process."""
        return command.jieda(*arguments, **self._settings)

    def process(self, *arguments: str | bytes) -> command.Done:
        """As a process of its own."""
        return command.process(*arguments, **self._settings)


@pytest.fixture(scope="module")
def jieda(content: Path, data: Path) -> Jieda:
    return Jieda(content, data)


# ---- search


def test_who_searches_is_told_of_files_that_are_missing_and_of_no_other_problem(tmp_path: Path) -> None:
    content = write(tmp_path / "content", CONTENT)
    jieda = Jieda(content, tmp_path / "data")
    assert "sync" in jieda("check").stdout, "twins that were never synced are a problem, and served"
    assert jieda.process("search", "ray_head").stderr == ""
    (content / "en/roll/oom.md").write_text("---\ntitle: [\n---\n", encoding="utf-8")
    told = "files left out for a mistake: 1; `jieda check` names them\n"
    assert jieda.process("search", "ray_head").stderr == told


def test_what_is_found_is_printed_with_its_reason_and_ends_with_0(jieda: Jieda) -> None:
    ended = jieda.process("search", "why", "ray_head")
    assert ended.returncode == 0
    first, reason, snippet = ended.stdout.splitlines()[:3]
    assert first == "1. The job is stuck"
    assert reason.strip() == "roll/stuck [In code: ray_head]"
    assert snippet.strip() == "Restart ray_head & wait."


def test_nothing_runs_on_when_the_command_has_ended(jieda: Jieda) -> None:
    before = set(threading.enumerate())
    assert jieda("search", "ray_head").returncode == 0
    until(lambda: before.issuperset(threading.enumerate()))


def test_a_reason_that_is_of_no_word_stands_by_itself(content: Path, tmp_path: Path) -> None:
    ended = Jieda(content, tmp_path, semantic="1")("search", "--lang", "en", "内存不够用了")
    assert "roll/oom [Similar in meaning: 内存 ↔ memory]\n" in ended.stdout
    assert "roll/stuck [Similar in meaning]\n" in ended.stdout


@pytest.mark.quick
def test_a_query_is_answered_in_its_own_language_unless_told_otherwise(jieda: Jieda) -> None:
    assert "任务卡住不动" in jieda("search", "卡住").stdout
    assert "The job is stuck" in jieda("search", "--lang", "en", "卡住").stdout


@pytest.mark.quick
def test_nothing_found_ends_with_1(jieda: Jieda) -> None:
    ended = jieda("search", "ray_head", "--kind", "error")
    assert (ended.returncode, ended.stdout) == (1, "Nothing found\n")
    ended = jieda("search", "批次", "--framework", "roll")
    assert (ended.returncode, ended.stdout) == (1, "没有找到\n")


def test_json_is_what_the_api_answers(
    jieda: Jieda, content: Path, serve: Callable[..., httpx.Client]
) -> None:
    ended = jieda("search", "--json", "--limit", "3", "stuk", "ray_head", "卡住")
    answer = json.loads(ended.stdout)
    assert ended.returncode == 0
    assert (answer["query"], answer["total"]) == ("stuk ray_head 卡住", 1)
    assert (answer["hits"][0]["id"], answer["hits"][0]["lang"]) == ("roll/stuck", "zh")
    with serve(content) as client:
        asked = {"q": "stuk ray_head 卡住", "lang": "zh", "limit": "3"}
        told = client.get("/api/v1/search", params=asked).text
        # A server names itself in addresses; a command that reads the content itself has no name.
        assert json.loads(told.replace(str(client.base_url).rstrip("/"), "")) == answer
    nothing = jieda("search", "--json", "qwrtzpsd")
    assert (nothing.returncode, json.loads(nothing.stdout)["hits"]) == (1, [])


def test_a_correction_is_said_and_can_be_refused(jieda: Jieda) -> None:
    assert jieda("search", "memroy").stdout.startswith("Showing results for “memory”\n")
    ended = jieda("search", "--verbatim", "memroy")
    assert (ended.returncode, ended.stdout) == (1, "Nothing found\n")


def test_operators_that_were_understood_are_said(jieda: Jieda) -> None:
    assert jieda("search", "memory", "framework:roll").stdout.startswith("Understood: framework:roll\n1. ")
    assert jieda("search", "内存", "框架:roll").stdout.startswith("已识别的条件：框架:roll\n")


@pytest.mark.quick
@pytest.mark.parametrize(
    "arguments",
    [
        ("search",),
        ("search", "x", "--limit", "51"),
        ("search", "x", "--framework", "nosuch"),
        ("index", "--content", "/does/not/exist"),
        ("eval", "/does/not/exist.jsonl"),
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(jieda: Jieda, arguments: tuple[str, ...]) -> None:
    ended = jieda(*arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Error: " in ended.stderr
    assert "Traceback" not in ended.stderr


def test_leading_dashes_are_text_behind_the_usual_two(jieda: Jieda) -> None:
    assert jieda("search", "--", "--batch-size").stdout.startswith("1. Out of memory\n")
    refused = jieda("search", "--batch_size")
    assert refused.returncode == 2
    assert "If it is not meant as an option: jieda search -- --batch_size\n" in refused.stderr


def test_bytes_that_are_no_text_do_no_harm(jieda: Jieda) -> None:
    for run, options in ((jieda.process, ()), (jieda, ("--json",))):
        ended = run("search", *options, b"ray_head \xff")
        assert ended.returncode == 0
        assert "Traceback" not in ended.stderr


# ---- index


def test_an_index_is_built_once_and_then_only_opened(content: Path, tmp_path: Path) -> None:
    jieda = Jieda(content, tmp_path)
    ended = jieda("index")
    assert ended.returncode == 0
    generation = re.fullmatch(r"entries: 2, generation ([0-9a-f]{12})\n", ended.stdout)
    assert generation
    (built,) = (tmp_path / "generations").iterdir()
    assert built.name.startswith(generation[1])
    before = {path: path.stat().st_mtime_ns for path in built.rglob("*")}
    assert jieda("index").stdout == ended.stdout
    assert {path: path.stat().st_mtime_ns for path in built.rglob("*")} == before


def test_a_data_directory_that_cannot_be_made_ends_with_2(content: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    ended = Jieda(content, tmp_path / "file" / "data")("index")
    assert ended.returncode == 2
    assert "the index cannot be written" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_broken_taxonomy_ends_with_2_and_its_place_beside_a_generation_of_before(tmp_path: Path) -> None:
    content = write(tmp_path / "content", CONTENT)
    jieda = Jieda(content, tmp_path / "data")
    assert jieda("index").returncode == 0
    write(content, {"taxonomy.yaml": "frameworks:\n  roll: [\n"})
    ended = jieda("index")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert re.search(r"taxonomy\.yaml:\d+: ", ended.stderr)


# ---- eval

JUDGED = [
    {
        "id": "a",
        "kind": "question",
        "lang": "en",
        "query": "the job is stuck again",
        "expected": ["roll/stuck"],
    },
    {"id": "b", "kind": "question", "lang": "zh", "query": "任务又卡住了", "expected": ["roll/stuck"]},
    {"id": "c", "kind": "paraphrase", "lang": "mixed", "query": "memory 不够", "expected": ["roll/stuck"]},
    {"id": "d", "kind": "error", "lang": "en", "query": "ray_head: stuck", "expected": ["roll/stuck"]},
    {"id": "n", "kind": "negative", "lang": "en", "query": "how do I bake\u2028bread", "expected": []},
]


def write_judged(path: Path, rows: Sequence[Mapping[str, object]]) -> str:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.quick
def test_eval_prints_a_row_for_each_kind_and_language_and_why_queries_failed(
    jieda: Jieda, tmp_path: Path
) -> None:
    ended = jieda("eval", "--failures", write_judged(tmp_path / "judged.jsonl", JUDGED))
    assert ended.returncode == 0
    table, _, misses = ended.stdout.partition("c [paraphrase, mixed]")
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line.strip()}
    assert rows["search"] == ["queries", "right_first", "in_five", "mrr", "zero_results"]
    assert rows["all"] == ["4", "0.750", "0.750", "0.750", "0.000"]
    assert rows["question"] == ["2", "1.000", "1.000", "1.000", "0.000"]
    assert rows["paraphrase"] == ["1", "0.000", "0.000", "0.000", "0.000"]
    assert {"en", "zh", "mixed", "error", "negatives:", "diagnosis"} <= set(rows)
    assert "'memory 不够'" in misses
    assert "expected roll/stuck: not among the first 10" in misses
    assert "roll/oom" in misses
    assert re.search(r"\d+\.\d\d memory \(text, title_en, [xt]:", misses)
    assert "[question" not in ended.stdout
    refused = jieda("eval", write_judged(tmp_path / "bad.jsonl", [{"id": "x", "query": "y"}]))
    assert refused.returncode == 2
    assert "bad.jsonl:1: is not a judged query ({id, kind, lang, query, expected}): kind is missing\n" in (
        refused.stderr
    )


def test_eval_in_json_has_the_same_figures(jieda: Jieda, tmp_path: Path) -> None:
    report = json.loads(jieda("eval", "--json", write_judged(tmp_path / "judged.jsonl", JUDGED)).stdout)
    assert report["search"]["all"] == {
        "queries": 4,
        "right_first": 0.75,
        "in_five": 0.75,
        "mrr": 0.75,
        "zero_results": 0.0,
    }
    assert report["nothing fits"]["negatives"] == 1
    assert set(report["diagnosis"]) == {"error", "traceback", "negative"}


def test_eval_finds_an_entry_by_its_old_id_and_refuses_one_that_never_was(
    content: Path, tmp_path: Path
) -> None:
    moved = shutil.copytree(content, tmp_path / "moved")
    for file in moved.glob("*/roll/stuck.md"):
        text = file.read_text(encoding="utf-8").replace("\nkind:", "\nformerly: [roll/hung]\nkind:", 1)
        file.write_text(text, encoding="utf-8")
    old = [{**row, "expected": ["roll/hung"] if row["expected"] else []} for row in JUDGED]
    path = write_judged(tmp_path / "judged.jsonl", old)
    report = json.loads(Jieda(moved, tmp_path)("eval", "--json", path).stdout)
    assert report["search"]["question"]["right_first"] == 1.0
    write_judged(tmp_path / "judged.jsonl", [*JUDGED, {**JUDGED[0], "expected": ["roll/never"]}])
    ended = Jieda(moved, tmp_path)("eval", path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"query {JUDGED[0]['id']} expects roll/never" in ended.stderr


def test_hiding_a_querys_language_leaves_the_other_editions_and_mixed_queries_out(
    content: Path, tmp_path: Path
) -> None:
    """The English question about a stuck job finds the Chinese edition, by a word of the glossary."""
    (content / "glossary.yaml").write_text("- {en: [stuck], zh: [卡住]}\n", encoding="utf-8")
    path = write_judged(tmp_path / "judged.jsonl", JUDGED)
    report = json.loads(Jieda(content, tmp_path)("eval", "--json", "--hide-lang", "query", path).stdout)
    assert report["search"]["all"]["queries"] == 3
    assert report["search"]["en"]["right_first"] == 1.0
    assert "mixed" not in report["search"]
    assert "diagnosis" not in report
    (content / "glossary.yaml").write_text("[]\n", encoding="utf-8")


def test_mixed_negatives_are_left_out_as_well(jieda: Jieda, tmp_path: Path) -> None:
    mixed = {"id": "m", "kind": "negative", "lang": "mixed", "query": "怎么 bake bread", "expected": []}
    path = write_judged(tmp_path / "judged.jsonl", [*JUDGED, mixed])
    assert jieda("eval", "--hide-lang", "query", path).returncode == 0


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        '{"id": "x", "kind": "question", "lang": "en", "query": "q"}',
        '{"id": "x", "kind": "question", "lang": "en", "query": "q", "expected": "roll/oom"}',
        '{"id": "x", "kind": "frage", "lang": "en", "query": "q", "expected": []}',
        '{"id": "x", "kind": "question", "lang": "fr", "query": "q", "expected": []}',
        "\udcff",
    ],
)
def test_a_bad_line_of_a_judged_file_ends_with_2_and_its_place(
    jieda: Jieda, tmp_path: Path, line: str
) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_bytes(f"{json.dumps(JUDGED[0])}\n\n{line}\n".encode(errors="surrogateescape"))
    ended = jieda("eval", str(path))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"{path}:3: " in ended.stderr
    assert "Traceback" not in ended.stderr


# ---- read, and asking a server


def test_an_entry_is_read_whole_or_in_part(jieda: Jieda) -> None:
    whole = jieda("read", "roll/stuck", "--lang", "zh")
    assert jieda("read", "https://faq.example.com/kb/zh/entries/roll/stuck").stdout == whole.stdout
    assert whole.returncode == 0
    assert whole.stdout.startswith("# 任务卡住不动\n")
    assert "## 来源\n\n- [" in whole.stdout
    assert jieda("read", "roll/oom", "--lang", "en", "--section", "answer").stdout == "Lower `batch_size`.\n"
    assert jieda("read", "roll/oom", "--json", "--section", "answer").returncode == 2
    wrong = jieda("read", "roll/oom", "--section", "fix")
    assert (wrong.returncode, "it has answer" in wrong.stderr) == (2, True)
    missing = jieda("read", "roll/nosuch")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "roll/nosuch" in missing.stderr
    unprintable = jieda("read", b"roll/\xff")
    assert (unprintable.returncode, "no entry 'roll/\\udcff'" in unprintable.stderr) == (1, True)


def test_a_server_is_asked_instead_and_answers_as_its_api_does(jieda: Jieda, server: Server) -> None:
    with server.client() as client:
        found = client.get("/api/v1/search?q=node2pg&limit=2&framework=roll&lang=en").json()
        entry = client.get("/api/v1/entries/roll/node2pg-keyerror?lang=zh").json()
    asked = ("--url", server.base, "--json", "--lang")
    search = jieda("search", *asked, "en", "--limit", "2", "--framework", "roll", "node2pg")
    assert (search.returncode, json.loads(search.stdout)) == (0, found)
    assert json.loads(jieda("read", *asked, "zh", "roll/node2pg-keyerror").stdout) == entry
    refused = jieda("search", "--url", server.base, "--framework", "nosuch", "x")
    assert (refused.returncode, refused.stderr.count("nosuch")) == (2, 1)
    assert jieda("read", "--url", server.base, "roll/nosuch").returncode == 1
