"""The cases of tests/fixtures/logs, which anyone can add to; README.md there says how."""

import re
from pathlib import Path

import pytest
from jieda.diagnosis.answers import Confidence, Diagnosis
from jieda.diagnosis.diagnose import Diagnoser
from jieda.entry import Language

FOLDER = Path(__file__).parents[1] / "fixtures" / "logs"
ERROR = re.compile(r"(?P<type>[^:]+)(?:: (?P<message>.*))? \(line (?P<line>\d+), (?P<count>\d+) times\)")


def cases() -> list[Path]:
    return sorted(FOLDER.glob("*.txt"))


def read(path: Path) -> tuple[list[tuple[str, str]], str]:
    """What is expected, and the log."""
    head, log = path.read_bytes().decode().split("=====\n", 1)
    return [(line.partition(": ")[0], line.partition(": ")[2]) for line in head.splitlines()], log


@pytest.mark.parametrize("path", cases(), ids=lambda path: path.stem)
def test_log_is_diagnosed_as_its_header_says(path: Path, diagnoser: Diagnoser) -> None:
    expected, log = read(path)
    assert expected
    diagnosis = diagnoser.diagnose(log, Language.EN)
    for what, value in expected:
        CHECKS[what](diagnosis, value)


def check_match(diagnosis: Diagnosis, value: str) -> None:
    found = [f"{match.entry.id} {match.confidence}" for match in diagnosis.matches]
    found += [f"{near.entry.id} near" for near in diagnosis.near]
    if value == "nothing":
        assert not diagnosis.matches, found
    elif value == "at most possible":
        assert all(match.confidence is Confidence.POSSIBLE for match in diagnosis.matches), found
    else:
        assert found[:1] == [value], found


def check_error(diagnosis: Diagnosis, value: str) -> None:
    wanted = ERROR.fullmatch(value)
    assert wanted, f"not understood: {value}"
    found = [(e.type, e.message, e.line, e.count) for e in diagnosis.errors]
    assert any(
        error.type == wanted["type"]
        and error.message.startswith(wanted["message"] or "")
        and (error.line, error.count) == (int(wanted["line"]), int(wanted["count"]))
        for error in diagnosis.errors
    ), found


def check_lines(diagnosis: Diagnosis, value: str) -> None:
    assert [each.line for each in diagnosis.matches[0].matched] == [int(n) for n in value.split(", ")]


def check_framework(diagnosis: Diagnosis, value: str) -> None:
    assert diagnosis.framework == value


CHECKS = {
    "expect": check_match,
    "error": check_error,
    "matched": check_lines,
    "framework": check_framework,
}
