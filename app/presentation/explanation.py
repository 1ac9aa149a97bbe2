"""Why a log got its answer, as lines of text: the log-odds of each entry, by evidence."""

from collections.abc import Callable, Iterator

from app.diagnosis.answers import Diagnosis, Evidence, Match, Near
from app.presentation.diagnosis_text import printable

Say = Callable[..., str]


def explained(diagnosis: Diagnosis, say: Say) -> str:
    """A table for each match and each near entry, ending in a line break."""
    verdict = say(f"diagnosis.verdict.{diagnosis.verdict}")
    answers: list[Match | Near] = [*diagnosis.matches, *diagnosis.near]
    blocks = [verdict, *("\n".join(_table(each, say)) for each in answers)]
    return "\n\n".join(blocks) + "\n"


def _table(one: Match | Near, say: Say) -> Iterator[str]:
    word = say(f"diagnosis.confidence.{one.confidence}") if isinstance(one, Match) else say("diagnosis.near")
    yield f"{one.score:+7.2f}  {one.entry.id}  [{word}]"
    for evidence in one.evidence:
        yield f"  {evidence.log_odds:+7.2f}  {_described(evidence, say)}"


def _described(evidence: Evidence, say: Say) -> str:
    kind, shown = say(f"diagnosis.evidence.{evidence.kind}"), printable(evidence.detail)
    return f"{kind}: {shown}" if shown else kind
