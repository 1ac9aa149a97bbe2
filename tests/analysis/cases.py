"""Reads the cases of tests/fixtures/analysis, whose README says how they are written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "analysis"
EXPECTATION = re.compile(
    r"- (?P<what>exact|term|part|gram|same key as|marked by (?P<query>.+?)): (?P<value>.+)"
)


@dataclass(frozen=True, slots=True)
class Case:
    """One expectation of one text. `what` is a kind of token, `marked` or `key`."""

    name: str
    text: str
    what: str
    query: str
    value: str


class CaseError(ValueError):
    """A line of a file of cases is none of what the README lists."""


def read_cases() -> list[Case]:
    """Every expectation of every file, in order."""
    files = [path for path in sorted(FOLDER.glob("*.md")) if path.name != "README.md"]
    return [case for path in files for case in _cases(path)]


def _cases(path: Path) -> Iterator[Case]:
    title, text = "", ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("## "):
            title, text = line.removeprefix("## "), ""
        elif line.startswith("> "):
            text = f"{text}\n{line[2:]}".lstrip("\n")
        elif match := EXPECTATION.fullmatch(line):
            kind = {"same": "key", "marked": "marked"}.get(match["what"].split()[0], match["what"])
            name = f"{path.stem}: {title}: {match['what']}"
            yield Case(name, text, kind, match["query"] or "", match["value"])
        elif line.strip() and not line.startswith("# "):
            raise CaseError(f"{path}:{number}: neither title, text nor expectation: {line!r}")
