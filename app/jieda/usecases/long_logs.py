"""Diagnosis of logs above the size limit: their end and the lines around their first failure are read, and answers use
the line numbers of the whole log."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from jieda.diagnosis.answers import Diagnosis, Match
from jieda.entry import Language
from jieda.log.layout import NO_LAYOUT
from jieda.log.lines import LogExtract, LogWindow
from jieda.usecases.diagnose import Diagnosed, diagnose
from jieda.usecases.gaps.recorder import NOBODY
from jieda.usecases.service import Service

BLOCK = 1 << 20
T = TypeVar("T")


def window(service: Service) -> LogWindow:
    """Return a window that takes a log of any size, with the current formats."""
    return LogWindow(service.limits.log_bytes, service.current().diagnoser.formats)


def extracted(service: Service, text: str) -> LogExtract:
    """Return the parts to read of a text of any size."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= service.limits.log_bytes:
        return LogExtract(text)
    taken = window(service)
    for start in range(0, len(raw), BLOCK):
        taken.feed(raw[start : start + BLOCK])
    return taken.extract()


async def diagnose_log(
    service: Service, log: LogExtract, lang: Language, framework: str, asker: bytes = NOBODY
) -> Diagnosed:
    """Diagnose the extract of a log, as `diagnose` does."""
    found = await diagnose(service, log.text, lang, framework, asker)
    return replace(found, diagnosis=renumbered(found.diagnosis, log)) if log.parts else found


def renumbered(found: Diagnosis, log: LogExtract) -> Diagnosis:
    """Return the diagnosis of an extract with the line numbers of the whole log."""

    def match(one: Match) -> Match:
        lines = tuple(replace(each, line=log.line(each.line)) for each in one.matched)
        return replace(one, matched=lines, telling=by_line(one.telling))

    def by_line(told: Mapping[int, T]) -> dict[int, T]:
        return {log.line(number): value for number, value in told.items()}

    return replace(
        found,
        matches=tuple(map(match, found.matches)),
        errors=tuple(replace(each, line=log.line(each.line)) for each in found.errors),
        parts=log.parts,
        layout=NO_LAYOUT,
    )
