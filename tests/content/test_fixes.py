"""The rules `fix` and `long-fix`: a fix is shown alone and read in a hurry, so it stands alone and is short."""

from pathlib import Path

import pytest
from jieda.content.check.rules import check_entry
from jieda.content.read.corpus import Corpus
from jieda.content.read.load import Loaded

from tests.support.small_content import TAXONOMY, edition, write

TITLES = {"en": ("Symptom", "Fix", "Notes"), "zh": ("现象", "解决办法", "说明")}


def entry(folder: Path, fix: str, lang: str = "en") -> tuple[Corpus, int]:
    """The corpus of one entry whose fix is `fix`, and the line of the heading above it."""
    symptom, title, notes = TITLES[lang]
    body = f"## {symptom}\n\nSee above and below, 见下.\n\n## {title}\n\n{fix}\n\n## {notes}\n\nThe line above.\n"
    path = f"{lang}/roll/a.md"
    write(
        folder, {"taxonomy.yaml": TAXONOMY, path: edition("A", body, kind="error", symptoms="['It breaks.']")}
    )
    heading = (folder / path).read_text(encoding="utf-8").splitlines().index(f"## {title}") + 1
    return Loaded([folder]).corpus, heading


def complaints(folder: Path, fix: str, lang: str = "en") -> list[tuple[int, str]]:
    """Line within the fix, and message, of everything the rule `fix` finds in an entry whose fix is `fix`."""
    corpus, heading = entry(folder, fix, lang)
    return [(line - heading - 2, message) for line, message in problems(corpus, "fix")]


def problems(corpus: Corpus, rule: str) -> list[tuple[int, str]]:
    return [(each.line, each.message) for each in check_entry(corpus, "roll/a") if each.rule == rule]


@pytest.mark.parametrize(
    ("fix", "lang", "line", "said"),
    [
        ("Set `x: 1`.\nThen do as shown above.", "en", 1, "shown above"),
        ("Set\u2028`x:\u20281`.\nThen do as shown above.", "en", 1, "shown above"),
        ("```\n  a.b(c)\n  ~~~^^^\n```\n\nThen do as shown above.", "en", 5, "shown above"),
        ("Set the value of the table below.", "en", 0, "below"),
        ("Use the above command.", "en", 0, "the above command"),
        ("按上面的命令执行。", "zh", 0, "上面"),
        ("按前面的命令执行。", "zh", 0, "前面的"),
        ("把 `x` 设为 1，原因见下。", "zh", 0, "见下"),
        ("[The upstream page](https://example.com/fix)", "en", 0, "only a link"),
        ("- [见这里](https://example.com/fix)", "zh", 0, "only a link"),
        ("Remove the line that reads `a = 1`.", "en", 0, "'the line' and names no file"),
        ("注释掉这一行。", "zh", 0, "'这一行' and names no file"),
    ],
)
def test_a_fix_that_leans_on_something_else_is_a_problem_at_its_line(
    tmp_path: Path, fix: str, lang: str, line: int, said: str
) -> None:
    found = complaints(tmp_path, fix, lang)
    assert [place for place, _ in found] == [line]
    assert said in found[0][1]


@pytest.mark.parametrize(
    ("fix", "lang"),
    [
        ("```\n  a.b(c)\n  ~~~^^^\nthe line: see above\n```", "en"),
        ("````\n```\nthe line: see above\n```\n````", "en"),
        ("Keep the ratio above 0.5 and the norm below the limit.", "en"),
        ("Run `cat above.txt` and set `below`.", "en"),
        ("```\nsee above\n```", "en"),
        ("In `train.py`, remove the line that reads `a = 1`.", "en"),
        ("Add the line to the YAML of the run.", "en"),
        ("Set `x: 1`, as [upstream's page](https://example.com/fix) says.", "en"),
        ("用 `--context-parallel-size` 打开上下文并行（CP）。", "zh"),
        ("在 `train.py` 里删掉这一行。", "zh"),
        ("按等待时间排序，终止最前面的那个会话。", "zh"),
    ],
)
def test_a_fix_that_stands_alone_is_none(tmp_path: Path, fix: str, lang: str) -> None:
    assert complaints(tmp_path, fix, lang) == []


@pytest.mark.parametrize(
    ("fix", "lang", "words"),
    [
        ("1. Do it, " + "then wait " * 59 + "again.", "en", 121),
        ("改" * 241, "zh", 121),
        ("把 `a b c` 设为 [1](https://example.com/x)，" + "再等一下" * 60, "zh", 124),
    ],
)
def test_a_fix_of_more_than_120_words_is_a_problem_at_its_heading(
    tmp_path: Path, fix: str, lang: str, words: int
) -> None:
    corpus, heading = entry(tmp_path, fix, lang)
    (found,) = problems(corpus, "long-fix")
    assert found[0] == heading
    assert f" {words} words " in found[1]


@pytest.mark.parametrize(
    "fix",
    [
        "word " * 120,
        "- " + "`--a-flag its value` " * 120,
        "| you run | do this |\n| --- | --- |\n| it | " + "wait " * 200 + "|",
        "```bash\n" + "wait\n" * 200 + "```\n\nRun this.",
    ],
)
def test_code_and_tables_do_not_make_a_fix_long(tmp_path: Path, fix: str) -> None:
    corpus, _ = entry(tmp_path, fix)
    assert problems(corpus, "long-fix") == []
