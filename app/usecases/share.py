"""The few lines of a log that lead to the same answer as the whole: for a link that has no server to keep it."""

from collections.abc import Iterator

from app.diagnosis.answers import Diagnosis
from app.diagnosis.diagnose import Diagnoser
from app.entry import Language
from app.log.lines import PIECE, physical_lines, strip_codes
from app.usecases.secrets import masked

LONGEST = 2000
"""Characters: longer addresses are cut by some programs that people send them with."""
LONGEST_LINE = 500
AROUND = 2
"""Lines on both sides of what matched, where that alone is not enough."""


def telling_lines(diagnoser: Diagnoser, text: str, diagnosis: Diagnosis, framework: str) -> str:
    """As few lines of `text` as are diagnosed like all of it, secrets masked; empty where no few are."""
    if not diagnosis.matches:
        return ""
    lines = physical_lines(strip_codes(text))
    for numbers in _choices(diagnosis, len(lines)):
        chosen = "\n".join(_shown(lines[number - 1]) for number in sorted(numbers))
        if len(chosen) <= LONGEST and _is_alike(
            diagnoser.diagnose(chosen, Language.EN, framework), diagnosis
        ):
            return chosen
    return ""


def _shown(line: str) -> str:
    """Masked before it is cut short: a pattern may not know a part of a secret."""
    return masked(line.strip()[:PIECE])[:LONGEST_LINE]


def _choices(diagnosis: Diagnosis, count: int) -> Iterator[set[int]]:
    """Numbers of lines, from 1, fewest first."""
    best = {line.line for line in diagnosis.matches[0].matched}
    every = {line.line for match in diagnosis.matches for line in match.matched}
    failures = {error.line for error in diagnosis.errors}
    near = {
        number
        for line in every | failures
        for number in range(max(1, line - AROUND), min(count, line + AROUND) + 1)
    }
    yield from (best, every, every | failures, near)


def _is_alike(one: Diagnosis, other: Diagnosis) -> bool:
    return bool(one.matches) and (
        (one.matches[0].entry.id, one.matches[0].confidence)
        == (other.matches[0].entry.id, other.matches[0].confidence)
    )
