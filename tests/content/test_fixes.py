"""The rule `fix`: a fix is shown without the rest of its page, so it must not lean on it."""

from pathlib import Path

import pytest

from app.content.check.rules import dependent_fixes
from app.content.read.load import load_corpus
from tests.support.small_content import TAXONOMY, edition, write

TITLES = {"en": ("Symptom", "Fix", "Notes"), "zh": ("现象", "解决办法", "说明")}


def complaints(folder: Path, fix: str, lang: str = "en") -> list[tuple[int, str]]:
    """Line within the fix, and message, of everything the rule finds in an entry whose fix is `fix`."""
    symptom, title, notes = TITLES[lang]
    body = f"## {symptom}\n\nSee above and below, 见下.\n\n## {title}\n\n{fix}\n\n## {notes}\n\nThe line above.\n"
    path = f"{lang}/roll/a.md"
    write(
        folder, {"taxonomy.yaml": TAXONOMY, path: edition("A", body, kind="error", symptoms="['It breaks.']")}
    )
    start = (folder / path).read_text(encoding="utf-8").splitlines().index(f"## {title}") + 3
    return [(found.line - start, found.message) for found in dependent_fixes(load_corpus([folder]), "roll/a")]


@pytest.mark.parametrize(
    ("fix", "lang", "line", "said"),
    [
        ("Set `x: 1`.\nThen do as shown above.", "en", 1, "shown above"),
        ("Set the value of the table below.", "en", 0, "below"),
        ("Use the above command.", "en", 0, "the above command"),
        ("按上面的命令执行。", "zh", 0, "上面"),
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
        ("Keep the ratio above 0.5 and the norm below the limit.", "en"),
        ("Run `cat above.txt` and set `below`.", "en"),
        ("```\nsee above\n```", "en"),
        ("In `train.py`, remove the line that reads `a = 1`.", "en"),
        ("Add the line to the YAML of the run.", "en"),
        ("Set `x: 1`, as [upstream's page](https://example.com/fix) says.", "en"),
        ("用 `--context-parallel-size` 打开上下文并行（CP）。", "zh"),
        ("在 `train.py` 里删掉这一行。", "zh"),
    ],
)
def test_a_fix_that_stands_alone_is_none(tmp_path: Path, fix: str, lang: str) -> None:
    assert complaints(tmp_path, fix, lang) == []
