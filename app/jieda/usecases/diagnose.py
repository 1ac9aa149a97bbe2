"""Diagnosis for a visitor. The text is read, matched and forgotten: it reaches no file, log or metric, and what is
shown of it has no secrets in it. Where gaps are kept, the type of an unexplained failure is, and its message, redacted.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from jieda.diagnosis.answers import Diagnosis, Verdict
from jieda.entry import Language
from jieda.errors import TooBusy
from jieda.log.lines import PIECE, physical_lines, strip_codes
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import known_tag
from jieda.usecases.gaps.recorder import NOBODY, note_of_diagnosis
from jieda.usecases.judge import judge
from jieda.usecases.secrets import masked_for_others, without_secrets
from jieda.usecases.service import LARGE_LOG, Service

NONE = "none"
"""In place of a confidence where nothing matched."""
GAP = "\n\n[...]\n\n"
"""Stands where the middle of a text was left out."""


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """A diagnosis and the snapshot that gave it."""

    diagnosis: Diagnosis
    snapshot: Snapshot

    @property
    def confidence(self) -> str:
        """How sure the best match is, or `none`."""
        matches = self.diagnosis.matches
        return matches[0].confidence.value if matches else NONE


async def diagnose(  # noqa: PLR0913 - one parameter for each thing that an asker says
    service: Service,
    text: str,
    lang: Language,
    framework: str,
    asker: bytes = NOBODY,
    *,
    usual: str = "",
) -> Diagnosed:
    """The entries that explain a log. `framework`: where it is said to come from, or empty; `usual`: the framework that
    the asker works with, which answers where it would be asked; `asker` as in `search`.

    Raises UnknownTag, TooBusy. A megabyte takes a good part of a second, so it leaves the event loop, and few
    are worked on at once, so that searches go on.
    """
    snapshot = service.current()
    if framework:
        framework = known_tag("framework", framework, snapshot.library.taxonomy)
    async with turn(service, len(text)):
        diagnosis = await service.offload(partial(_judge, service, snapshot, text, lang, framework, usual))
    found = Diagnosed(diagnosis, snapshot)
    service.metrics.diagnoses.labels(diagnosis.verdict.value, found.confidence).inc()
    if service.recorder:
        service.note(note_of_diagnosis(asker, diagnosis, lang))
    return found


def _judge(  # noqa: PLR0913, PLR0917 - as `diagnose`
    service: Service, snapshot: Snapshot, text: str, lang: Language, framework: str, usual: str
) -> Diagnosis:
    asked = SearchRequest(text, lang, frameworks=tuple(filter(None, (framework or usual,))))
    return judge(snapshot, asked, framework, explain=partial(explain, service, snapshot, text, lang))


def explain(service: Service, snapshot: Snapshot, text: str, lang: Language, framework: str) -> Diagnosis:
    """Return the diagnosis of a log without secrets: a large one from its process, where there is one."""
    found = None
    if service.log_process and len(text) > LARGE_LOG:
        found = service.log_process.explain((snapshot.generation, text, lang, framework), service.knowledge)
    return found or without_secrets(snapshot.diagnoser.diagnose(text, lang, framework))


@asynccontextmanager
async def turn(service: Service, size: int) -> AsyncIterator[None]:
    """Entered when it is one's turn to do work on a text of `size` characters. Raises TooBusy, which is counted."""
    lane = service.large_logs if size > LARGE_LOG else service.small_logs
    try:
        async with lane.turn(size):
            yield
    except TooBusy:
        service.metrics.refused.labels("busy").inc()
        raise


def excerpt(service: Service, text: str) -> tuple[str, int]:
    """The whole text, or its first eighth of what is read and as much of its end as the rest allows: a log begins
    with what was started and ends with what went wrong. Second, how many bytes were left out."""
    limit = service.limits.log_bytes
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= limit:
        return text, 0
    head, tail = limit // 8 - len(GAP), limit - limit // 8 - len(GAP)
    first = raw[:head].decode("utf-8", "ignore").rpartition("\n")[0]
    last = raw[-tail:].decode("utf-8", "ignore").partition("\n")[2]
    shown = f"{first}{GAP}{last}"
    return shown, len(raw) - len(shown.encode("utf-8", "surrogatepass"))


LONGEST = 2000
"""Characters: longer addresses are cut by some programs that people send them with."""
LONGEST_LINE = 500
AROUND = 2
"""Lines on both sides of what matched, where that alone is not enough."""


def telling_lines(snapshot: Snapshot, text: str, diagnosis: Diagnosis, framework: str) -> str:
    """As few lines of `text` as are diagnosed like all of it, masked for others; empty where no few are."""
    if not diagnosis.matches:
        return ""
    lines = physical_lines(strip_codes(text))
    for numbers in _choices(diagnosis, len(lines)):
        chosen = "\n".join(_shown(lines[number - 1]) for number in sorted(numbers)).strip()
        if len(chosen) <= LONGEST and _is_alike(judge(snapshot, SearchRequest(chosen), framework), diagnosis):
            return chosen
    return ""


def kept_lines(service: Service, found: Diagnosed, text: str, framework: str, usual: str) -> str:
    """What matched of a log that is not surely explained, and as much as there is room for of what leads to its root
    failure, or to its end where none is: masked for others. Empty where that is not diagnosed like all of it; the other
    arguments are those of `diagnose`."""
    diagnosis = found.diagnosis
    lines = physical_lines(strip_codes(text))
    matched = sorted({line.line for match in diagnosis.matches for line in match.matched})
    end = min(diagnosis.root.line + AROUND if diagnosis.root else len(lines), len(lines))
    chosen: dict[int, str] = {}
    room = LONGEST
    for number in dict.fromkeys([*matched, *range(end, 0, -1)]):
        shown = _shown(lines[number - 1])
        room -= len(shown) + 1
        if room < 0:
            break
        chosen[number] = shown
    kept = "\n".join(chosen[number] for number in sorted(chosen))
    again = _judge(service, found.snapshot, kept, Language.EN, framework, usual)
    return kept if _told(again) == _told(diagnosis) else ""


def _told(diagnosis: Diagnosis) -> tuple[Verdict, tuple[str, ...], tuple[str, ...], str]:
    """What a diagnosis comes to, and of which failure."""
    matches = tuple(match.entry.id for match in diagnosis.matches[:1])
    return diagnosis.verdict, diagnosis.asks, matches, diagnosis.root.type if diagnosis.root else ""


def _shown(line: str) -> str:
    """Masked before it is cut short: a pattern may not know a part of a secret."""
    return masked_for_others(line.rstrip()[:PIECE])[:LONGEST_LINE]


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
