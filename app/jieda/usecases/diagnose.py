"""Diagnosis for a visitor. The text is matched and then discarded: it reaches no file, log or metric, and secrets in
quoted parts are masked. If gaps are recorded, so are the type and the redacted message of an unexplained failure.

Of a log above the size limit, the end and the lines around the first failure are read; answers use the line numbers of
the whole log.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from jieda.diagnosis.answers import Confidence, Diagnosis, Verdict
from jieda.entry import Language
from jieda.errors import TooBusy
from jieda.log.lines import PIECE, physical_lines, strip_codes
from jieda.log.traceback import NO_LAYOUT
from jieda.log.window import GAP, LogExtract, LogWindow
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import known_tag
from jieda.usecases.gaps.recorder import NOBODY, note_of_diagnosis
from jieda.usecases.judge import judge
from jieda.usecases.secrets import masked_for_others, without_secrets
from jieda.usecases.service import LARGE_LOG, Service

NONE = "none"
"""Label instead of a confidence if nothing matched."""


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """A diagnosis and the snapshot that gave it."""

    diagnosis: Diagnosis
    snapshot: Snapshot


async def diagnose(  # noqa: PLR0913 - one parameter per field of the request
    service: Service, text: str, lang: Language, framework: str, asker: bytes = NOBODY, *, usual: str = ""
) -> Diagnosed:
    """Find the entries that explain a log. `framework`: the stated origin of the log, or empty; `usual`: the framework
    that the asker works with, used if the diagnosis would ask for one; `asker` as in `search`.

    Raises UnknownTag, TooBusy. A megabyte takes a good part of a second, so the work is offloaded, and only few logs
    are processed at once, so that searches are not delayed.
    """
    snapshot = service.current()
    if framework:
        framework = known_tag("framework", framework, snapshot.library.taxonomy)
    async with turn(service, len(text)):
        diagnosis = await service.offload(partial(_judge, service, snapshot, text, lang, framework, usual))
    found = Diagnosed(diagnosis, snapshot)
    service.metrics.diagnoses.labels(diagnosis.verdict.value, diagnosis.confidence or NONE).inc()
    service.note(note_of_diagnosis(asker, diagnosis, lang))
    return found


def _judge(  # noqa: PLR0913, PLR0917 - as `diagnose`
    service: Service, snapshot: Snapshot, text: str, lang: Language, framework: str, usual: str
) -> Diagnosis:
    asked = SearchRequest(text, lang, frameworks=tuple(filter(None, (framework or usual,))))
    return judge(snapshot, asked, framework, explain=partial(explain, service, snapshot, text, lang))


def explain(service: Service, snapshot: Snapshot, text: str, lang: Language, framework: str) -> Diagnosis:
    """Return the diagnosis of a log without secrets; large logs go to the log process, if there is one."""
    found = None
    if service.log_process and len(text) > LARGE_LOG:
        found = service.log_process.explain((snapshot.generation, text, lang, framework), service.knowledge)
    return found or without_secrets(snapshot.diagnoser.diagnose(text, lang, framework))


@asynccontextmanager
async def turn(service: Service, size: int) -> AsyncIterator[None]:
    """Wait for a turn to work on a text of `size` characters. Raises TooBusy, and counts it."""
    lane = service.large_logs if size > LARGE_LOG else service.small_logs
    try:
        async with lane.turn(size):
            yield
    except TooBusy:
        service.metrics.refused.labels("busy").inc()
        raise


BLOCK = 1 << 20


def window(service: Service, encoding: str = "utf-8") -> LogWindow:
    """Return a window that takes a log of any size, with the current formats."""
    return LogWindow(service.settings.max_log_bytes, service.current().diagnoser.formats, encoding)


def extracted(service: Service, text: str) -> LogExtract:
    """Return the parts to read of a text of any size."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= service.settings.max_log_bytes:
        return LogExtract(text)
    taken = window(service)
    for start in range(0, len(raw), BLOCK):
        taken.feed(raw[start : start + BLOCK])
    return taken.extract()


async def diagnose_log(
    service: Service, log: LogExtract, lang: Language, framework: str, asker: bytes = NOBODY
) -> Diagnosed:
    """Diagnose the extract of a log, as `diagnose` does, with the line numbers of the whole log."""
    found = await diagnose(service, log.text, lang, framework, asker)
    if not log.parts:
        return found
    matches = tuple(
        replace(
            match,
            matched=tuple(replace(each, line=log.line(each.line)) for each in match.matched),
            highlights={log.line(number): parts for number, parts in match.highlights.items()},
        )
        for match in found.diagnosis.matches
    )
    errors = tuple(replace(each, line=log.line(each.line)) for each in found.diagnosis.errors)
    whole = replace(found.diagnosis, matches=matches, errors=errors, parts=log.parts, layout=NO_LAYOUT)
    return replace(found, diagnosis=whole)


def excerpt(service: Service, text: str) -> tuple[str, int]:
    """Return a text cut to the limit, and the number of bytes left out. One eighth of the limit is for the start, the
    rest for the end: a log begins with what was started and ends with what went wrong. A line that the cut breaks is
    left out, unless it is most of what would stay."""
    limit = service.settings.max_log_bytes
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= limit:
        return text, 0
    head, tail = limit // 8 - len(GAP), limit - limit // 8 - len(GAP)
    first = raw[:head].decode("utf-8", "ignore")
    last = raw[-tail:].decode("utf-8", "ignore")
    first = first.rpartition("\n")[0] or first
    last = last[last.find("\n", 0, len(last) // 2) + 1 :]
    shown = f"{first}{GAP}{last}"
    return shown, len(raw) - len(shown.encode("utf-8", "surrogatepass"))


LONGEST = 2000
"""Maximum of characters in an address: some programs cut longer ones when people send them."""
LONGEST_LINE = 500
AROUND = 2
"""Lines of context on both sides of matched lines, if those alone are not enough."""


def telling_lines(snapshot: Snapshot, text: str, diagnosis: Diagnosis, framework: str) -> str:
    """Return the fewest lines of `text` with the same diagnosis as all of it, masked; empty if a few do not suffice."""
    if not diagnosis.matches:
        return ""
    lines = physical_lines(strip_codes(text))
    for numbers in _line_sets(diagnosis, len(lines)):
        chosen = "\n".join(_mask_line(lines[number - 1]) for number in sorted(numbers)).strip()
        again = judge(snapshot, SearchRequest(chosen), framework) if len(chosen) <= LONGEST else None
        if again and again.matches and _best(again) == _best(diagnosis):
            return chosen
    return ""


def kept_lines(service: Service, found: Diagnosed, text: str, framework: str, usual: str) -> str:
    """Return the matched lines of a log without a certain explanation, masked, and as many lines as fit before its root
    failure, or before its end if there is none. Empty if their diagnosis differs from that of the whole log. The other
    arguments are those of `diagnose`."""
    diagnosis = found.diagnosis
    lines = physical_lines(strip_codes(text))
    matched = sorted({line.line for match in diagnosis.matches for line in match.matched})
    end = min(diagnosis.root.line + AROUND if diagnosis.root else len(lines), len(lines))
    chosen: dict[int, str] = {}
    room = LONGEST
    for number in dict.fromkeys([*matched, *range(end, 0, -1)]):
        shown = _mask_line(lines[number - 1])
        room -= len(shown) + 1
        if room < 0:
            break
        chosen[number] = shown
    kept = "\n".join(chosen[number] for number in sorted(chosen))
    again = _judge(service, found.snapshot, kept, Language.EN, framework, usual)
    return kept if _outcome(again) == _outcome(diagnosis) else ""


def _outcome(diagnosis: Diagnosis) -> tuple[Verdict, tuple[str, ...], tuple[str, ...], str]:
    matches = tuple(match.entry.id for match in diagnosis.matches[:1])
    return diagnosis.verdict, diagnosis.asks, matches, diagnosis.root.type if diagnosis.root else ""


def _mask_line(line: str) -> str:
    """Mask a line and cut it; masking comes first, because a pattern may miss a truncated secret."""
    return masked_for_others(line.rstrip()[:PIECE])[:LONGEST_LINE]


def _line_sets(diagnosis: Diagnosis, count: int) -> Iterator[set[int]]:
    """Yield sets of line numbers, from 1, smallest first."""
    best = {line.line for line in diagnosis.matches[0].matched}
    every = {line.line for match in diagnosis.matches for line in match.matched}
    failures = {error.line for error in diagnosis.errors}
    near = {
        number
        for line in every | failures
        for number in range(max(1, line - AROUND), min(count, line + AROUND) + 1)
    }
    yield from (best, every, every | failures, near)


def _best(diagnosis: Diagnosis) -> tuple[str, Confidence]:
    return diagnosis.matches[0].entry.id, diagnosis.matches[0].confidence
