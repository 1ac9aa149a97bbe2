"""`jieda gaps`: what maintainers see of what nobody could answer."""

import json
from pathlib import Path

from jieda.entry import Language
from jieda.feedback import FeedbackStore, Gap, GapOutcome, GapSource, TriedOutcome

from tests.support.command import Done, jieda
from tests.support.small_content import edition, write


def run(folder: Path, *arguments: str) -> Done:
    """The command over a content directory and a data directory in `folder`."""
    return jieda("gaps", *arguments, **settings(folder))


def settings(folder: Path) -> dict[str, str]:
    return {"JIEDA_CONTENT": str(folder / "content"), "JIEDA_DATA": str(folder / "data")}


def asked(text: str, lang: Language, kind: str = "") -> Gap:
    source, outcome = (GapSource.LOG, GapOutcome.UNKNOWN) if kind else (GapSource.SEARCH, GapOutcome.NOTHING)
    return Gap(source, kind, text, outcome, lang)


def prepare(folder: Path) -> Path:
    glossary = '- {en: ["export"], zh: ["导出"]}\n'
    texts = {"en/roll/alone.md": edition("Alone"), "glossary.yaml": glossary}
    body = "## 回答\n\n是。\n"
    both = {"en/roll/both.md": edition("Both"), "zh/roll/both.md": edition("两种", body)}
    write(folder / "content", texts | both)
    (folder / "data").mkdir()
    counts = {
        asked("export", Language.EN): 2,
        asked("导出", Language.ZH): 3,
        asked("router {num}", Language.EN): 4,
        asked("no {path} here", Language.EN, "WidgetError"): 1,
    }
    FeedbackStore(folder / "data").add_counts(counts, {}, 1)
    return folder


def test_the_most_frequent_question_comes_first_whatever_its_language(tmp_path: Path) -> None:
    prepare(tmp_path)
    printed = jieda("gaps", JIEDA_GAPS="1", **settings(tmp_path))
    assert printed.returncode == 0, printed.stderr
    rows = [line.split() for line in printed.stdout.splitlines()[2:5]]
    assert [(row[0], row[2:]) for row in rows] == [
        ("5", ["2", "3", "search", "导出"]),
        ("4", ["4", "0", "search", "router", "{num}"]),
        ("1", ["1", "0", "log", "WidgetError:", "no", "{path}", "here"]),
    ]
    assert "zh  roll/alone" in printed.stdout
    assert str(tmp_path / "data") in printed.stderr
    chinese = jieda("gaps", LC_ALL="zh_CN.UTF-8", **settings(tmp_path))
    assert "最近 90 天无果的提问：3 个，共问了 10 次" in chinese.stdout
    assert "只有一种语言（1）：补上另一种语言" in chinese.stdout
    assert chinese.stderr.endswith("没有记录无果的提问（JIEDA_GAPS 是 0）。\n")


def test_json_has_all_of_it_and_limits_hold(tmp_path: Path) -> None:
    prepare(tmp_path)
    day = run(tmp_path, "--limit", "1", "--days", "1").stdout.splitlines()
    assert day[0].startswith("Unanswered questions of the last day (questions: 3, asked in all: 10)")
    assert day[3] == "  … 2 more"
    found = json.loads(run(tmp_path, "--json", "--limit", "1", "--days", "7").stdout)
    assert found["totals"]["gaps"] == 3
    assert found["totals"]["asked"] == 10
    (first,) = found["gaps"]
    assert (first["text"], first["others"], first["count"]) == ("导出", ["export"], 5)
    assert first["langs"] == {"en": 2, "zh": 3}
    assert found["missing"] == [{"id": "roll/alone", "lang": "zh"}]
    assert found["never_read"] is None
    assert found["data"] == str(tmp_path / "data")


def test_a_site_in_one_language_lacks_none_and_counts_follow_an_entry_to_its_new_id(tmp_path: Path) -> None:
    prepare(tmp_path)
    (tmp_path / "content/zh/roll/both.md").unlink()
    (tmp_path / "content/en/roll/alone.md").unlink()
    write(tmp_path / "content", {"en/roll/now.md": edition("Alone", formerly="[roll/alone]")})
    store = FeedbackStore(tmp_path / "data")
    store.add_counts({}, {"roll/alone": 7}, 1)
    store.add_report("roll/alone", Language.EN, TriedOutcome.OUTDATED, "")
    for entry, solved in (
        ("roll/alone", True),
        ("roll/alone", False),
        ("roll/now", False),
        ("roll/gone", False),
    ):
        store.add_vote(entry, Language.EN, solved=solved)
    found = json.loads(run(tmp_path, "--json").stdout)
    assert found["missing"] == []
    assert found["never_read"] == ["roll/both"]
    assert [each["entry"] for each in found["reports"]] == ["roll/now"]
    assert found["voted_down"] == [{"id": "roll/now", "lang": "en", "solved": 1, "unsolved": 2}]
    votes = jieda("votes", JIEDA_DATA=str(tmp_path / "data"))
    assert votes.stdout == "     2 no ·      1 yes  en  roll/now\n     1 no ·      0 yes  en  roll/gone\n"


def test_empty_and_off_are_said_and_what_is_forgotten_is_gone(tmp_path: Path) -> None:
    prepare(tmp_path)
    unfinished = edition("To do", kind="error", draft="true")
    write(tmp_path / "content", {"en/roll/todo.md": unfinished, "zh/roll/both.md": "---\n"})
    assert run(tmp_path, "--forget").returncode == 0
    printed = run(tmp_path, "--days", "1")
    assert printed.returncode == 1
    assert "No unanswered question was recorded in this period." in printed.stdout
    assert "Drafts (1): " in printed.stdout
    assert "Problems in the files (1): jieda check reports the same.\n  zh/roll/both.md:1: " in printed.stdout
    assert "JIEDA_GAPS is 0" in printed.stderr
    assert "导出".encode() not in (tmp_path / "data" / "gaps-1.sqlite").read_bytes()


def test_a_file_that_cannot_be_read_is_an_error_that_says_so(tmp_path: Path) -> None:
    prepare(tmp_path)
    damaged = tmp_path / "data" / "gaps-1.sqlite"
    damaged.write_bytes(b"no database" * 100)
    (beside := damaged.with_name(f"{damaged.name}-wal")).write_bytes(b"asked")
    printed = run(tmp_path)
    assert printed.returncode == 2
    assert "cannot be read" in printed.stderr
    assert damaged.read_bytes().startswith(b"no database")
    assert run(tmp_path, "--forget").returncode == 0
    assert not damaged.exists()
    assert not beside.exists()
