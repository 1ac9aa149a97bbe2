"""The shipped entries found from their samples, and from logs judged by hand; and logs of no entry left alone."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from jieda.content.library import Library
from jieda.diagnosis.answers import Confidence, Diagnosis, Match, Near
from jieda.diagnosis.diagnose import Diagnoser
from jieda.entry import Language, Sample
from jieda.snapshot.snapshot import Snapshot

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
OWN = ROOT / "tests" / "judged.jsonl"
NEW = ROOT / "tests" / "judged_new_entries.jsonl"
OPEN = ROOT / "tests" / "diagnosis" / "judged" / "open.jsonl"
DEVELOPMENT = ROOT.parent / "shared" / "eval" / "dev.jsonl"
SURE = {Confidence.EXACT, Confidence.LIKELY}


def samples(library: Library) -> list[Sample]:
    return [sample for entry_id in library.ids for sample in library.samples(entry_id)]


def test_every_sample_is_diagnosed_as_its_entry(shipped: Snapshot) -> None:
    """First, unless another entry is as sure of the same lines, or the reader is asked which framework is meant."""
    wrong = []
    for sample in samples(shipped.library):
        diagnosis = shipped.diagnoser.diagnose(sample.text, Language.EN)
        matches = diagnosis.matches
        told = [match for match in matches if match.confidence in SURE or diagnosis.asks]
        first = [match.entry.id for match in told if match.confidence is told[0].confidence]
        if sample.entry_id not in first:
            wrong.append((sample.path.name, [(match.entry.id, match.confidence.value) for match in matches]))
    assert not wrong


@pytest.mark.parametrize(
    "log",
    [
        "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is "
        "needed, which is larger than the available KV cache memory (11.42 GiB). Try increasing "
        "`gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
        "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the "
        "cached files.\nCheck your internet connection or see how to run the library in offline mode.",
    ],
)
def test_no_entry_is_near_for_a_few_ordinary_words(log: str, diagnoser: Diagnoser) -> None:
    answer = diagnoser.diagnose(log, Language.EN)
    assert (answer.verdict, answer.near) == ("unknown", ())


def named_first(diagnosis: Diagnosis) -> Sequence[Match | Near]:
    """The first match, or where there is none the first entry that is named as another framework's; or nothing."""
    foreign = [near for near in diagnosis.near if near.foreign]
    return diagnosis.matches[:1] or foreign[:1]


def rows(path: Path, kind: str) -> list[dict[str, object]]:
    if not path.exists():
        pytest.skip(f"{path.name} is not part of a checkout")
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in found if row["kind"] == kind]


# Right first, of these exact or likely: floors at most 0.02 below what was measured.
# That of the own tracebacks was 0.97: what other programs print needs more that speaks for the entry, and so two more
# of the 68 are `possible`. Of the 27 errors of the development set two are out of memory in no framework: which one is
# meant is asked.
@pytest.mark.parametrize(
    ("path", "kind", "right", "sure"),
    [
        (OWN, "error", 0.98, 0.85),
        (OWN, "traceback", 0.98, 0.94),
        (NEW, "error", 0.95, 0.7),
        (NEW, "traceback", 0.95, 0.7),
        (DEVELOPMENT, "error", 0.98, 0.88),
        (DEVELOPMENT, "traceback", 0.98, 0.92),
    ],
    ids=lambda value: value.stem if isinstance(value, Path) else str(value),
)
def test_logs_find_their_entry(
    path: Path, kind: str, right: float, sure: float, diagnoser: Diagnoser
) -> None:
    asked = rows(path, kind)
    found = [diagnoser.diagnose(str(row["query"]), Language.EN) for row in asked]
    hits = [
        first
        for row, diagnosis in zip(asked, found, strict=True)
        for first in named_first(diagnosis)
        if first.entry.id in row["expected"]  # type: ignore[operator]
    ]
    matches = [hit for hit in hits if isinstance(hit, Match)]
    assert len(hits) / len(asked) >= right
    assert sum(match.confidence in SURE for match in matches) / len(matches) >= sure


@pytest.mark.parametrize("path", [OWN, NEW, DEVELOPMENT], ids=lambda path: path.stem)
def test_logs_of_other_programs_are_left_alone(path: Path, diagnoser: Diagnoser) -> None:
    asked = rows(path, "negative")
    answers = [diagnoser.diagnose(str(row["query"]), Language.EN).matches for row in asked]
    assert not [
        row["id"] for row, found in zip(asked, answers, strict=True) if found and found[0].confidence in SURE
    ]
    assert sum(not found for found in answers) / len(asked) >= 0.95


def test_hardly_any_log_that_resembles_an_entry_is_taken_for_it(diagnoser: Diagnoser) -> None:
    """Among them are logs of the entries' own frameworks, and what entries know printed by other programs."""
    asked = rows(OPEN, "negative")
    answers = [diagnoser.diagnose(str(row["query"]), Language.EN).matches for row in asked]
    firsts = [found[0].confidence for found in answers if found]
    assert Confidence.EXACT not in firsts
    assert sum(confidence in SURE for confidence in firsts) / len(asked) <= 0.01


def test_a_log_that_no_entry_explains_is_understood_all_the_same(diagnoser: Diagnoser) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/root/slime/slime/rollout/my_tool.py", line 3, in call\n    raise ToolError("no quota left")\n'
        "mytools.ToolError: no quota left for tenant 7"
    )
    diagnosis = diagnoser.diagnose(log, Language.EN)
    assert not diagnosis.matches
    assert diagnosis.framework == "slime"
    assert [(each.type, each.line) for each in diagnosis.errors] == [("mytools.ToolError", 4)]
    assert "no quota left" in diagnosis.query
    assert "/root" not in diagnosis.query


def test_the_root_is_told_and_searched_for_however_many_failures_follow(diagnoser: Diagnoser) -> None:
    words = [a + b for a in ("axle", "brake", "clutch", "door", "engine") for b in "fghjklmn"]
    log = "\n".join(f"PumpError: the {word} leaks" for word in words)
    found = diagnoser.diagnose(log, Language.EN)
    assert (found.root and found.root.line, found.errors[-1].line, len(found.errors)) == (1, 40, 20)
    assert found.query == "PumpError the axlef leaks PumpError the enginen leaks"


def test_the_code_of_an_error_is_searched_for_and_an_address_is_not(diagnoser: Diagnoser) -> None:
    log = "mytool: driver failed with status 0xC0000005 at 0x7f3a2b4c5d6e + 0x57"
    asked = diagnoser.diagnose(log, Language.EN).query
    assert "0xC0000005" in asked
    assert "0x7f3a2b4c5d6e" not in asked
    assert "0x57" not in asked


@pytest.mark.parametrize(
    "log",
    [
        "E   AssertionError: assert 3 == 4\nE    +  where 3 = f()",
        "AssertionError: assert 1",
        "AssertionError: loss is wrong",
    ],
)
def test_an_assertion_of_anybodys_is_no_entrys(log: str, diagnoser: Diagnoser) -> None:
    assert not diagnoser.diagnose(log, Language.EN).matches


@pytest.mark.parametrize(
    ("log", "query"),
    [
        (
            "我的任务 " + "训练到一半程序没有任何提示地退出了" * 20,
            "我的任务 " + ("训练到一半程序没有任何提示地退出了" * 20)[:195],
        ),
        ("the old worker gave up " * 20, "the old worker gave up " * 8 + "the old worker"),
        ("x" * 300, "x" * 200),
    ],
    ids=["Chinese", "English", "a word without end"],
)
def test_the_query_of_a_long_text_ends_with_a_whole_word(log: str, query: str, diagnoser: Diagnoser) -> None:
    assert diagnoser.diagnose(log, Language.EN).query == query


def test_no_search_is_made_of_what_is_no_text(diagnoser: Diagnoser) -> None:
    packed = gzip.compress(b"KeyError: 1 " * 9).decode("utf-8", "replace")
    assert not diagnoser.diagnose(packed, Language.EN).query
    latin = "mytools.ToolError: keine Quote übrig für Mandant".encode("latin-1").decode("utf-8", "replace")
    assert diagnoser.diagnose(latin, Language.EN).query == "mytools.ToolError: keine Quote brig f r Mandant"
