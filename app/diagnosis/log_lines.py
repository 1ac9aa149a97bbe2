"""A paste as lines: decoration taken off, the copies that other ranks print folded into one, first places kept.

Everything here is linear in the length of the text, and total: any string is a log.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

PIECE = 2000
"""Longer lines are cut into pieces of so many characters, so that no pattern ever sees an endless line."""
OVERLAP = 400
"""What neighboring pieces share: a message shorter than this is whole in one of them."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])")
# Color codes whose escape character was lost on the way, as they stand in many a bug report.
_ANSI_REMAINS = re.compile(r"(?:␛|\^\[|\\x1b|\\u001b|\\033)?\[\d{1,3}(?:;\d{1,3}){0,4}m")
# What an issue tracker or a chat makes of the characters that HTML reserves.
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&"}
_ENTITY = re.compile("|".join(_ENTITIES))
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u2060\ufeff]")
_TQDM = re.compile(r"\d%\|[^|]{0,400}\|")
_REPEATED = re.compile(r" ?\[repeated (\d{1,9})x across cluster\].*")
_DECORATION_ONLY = re.compile(r"[\s^~`│╭╰╮╯─=*_-]*")

_LEVEL = r"(?:DEBUG|INFO|NOTICE|SUCC|WARN(?:ING)?|ERR(?:OR)?|CRITICAL|FATAL)"
_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
_PLACE = r"\[?[\w./<>-]{1,80}(?::[\w.<>]{1,60})?:\d{1,6}\]?"
_PREFIX = re.compile(
    rf"""
    (?P<source>
        \((?:[\w.:<>=+\[\] -]{{0,80}}(?:\([\w.:=+ -]{{0,60}}\))?\ )?pid=\d{{1,10}}(?:,\ ip=[\w.:%-]{{1,45}})?\)
      | \((?:raylet|autoscaler|gcs_server)[^()]{{0,60}}\)                         # Ray
      | \[{{1,2}}(?:rank|default)\ ?\d{{1,5}}\]{{1,2}}:?                            # torchrun
      | \[\d{{1,4}},\d{{1,5}}\](?:<std(?:out|err)>)?:                              # mpirun
      | \d{{1,4}}:(?=\ )                                                          # srun --label
      | [a-z][\w.-]{{0,60}}-\d{{1,3}}\ {{1,20}}\|                                  # docker compose
    )
  | \[?\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}[T ]{_CLOCK}(?:Z|\ ?[+-]\d{{2}}:?\d{{2}})?
        (?:\ (?:TP|DP|PP|EP|CP)\d{{1,4}}){{0,4}}\]?(?:\ std(?:out|err)\ [FP])?     # ISO, SGLang, Kubernetes
  | \[?(?:\d{{2}}[-/]\d{{2}}\ )?{_CLOCK}\]?                                        # clock
  | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ {{1,2}}\d{{1,2}}\ {_CLOCK}\ [\w.-]{{1,60}}  # syslog
  | \[?[EWIF]\d{{4}}\ {_CLOCK}(?:\ {{1,4}}\d{{1,10}})?\ [\w./-]{{1,80}}:\d{{1,6}}\]  # glog
  | \[\ {{0,8}}\d{{1,9}}\.\d{{3,9}}\]                                              # kernel
  | {_LEVEL}\ {{1,5}}\d{{2}}-\d{{2}}\ {_CLOCK}(?:\ {_PLACE})?                        # vLLM
  | [-|\s]{{0,4}}\[?{_LEVEL}\]?[\s|]{{1,10}}{_PLACE}(?:\ --?|\ \||:)?(?=\s)          # logger with its place
  | -\ [\w.]{{1,60}}\ -\ {_LEVEL}\ -                                             # logging's classic format
  | [│>](?=\ ) | E\ \ (?=\ )                                                           # rich, quoted mail, pytest
    """,
    re.VERBOSE,
)
_MAY_BEGIN_PREFIX = frozenset("([0123456789{│>-|\tabcdefghijklmnopqrstuvwxyzDEFIJMNOSWAC")
_PROCESS = re.compile(r"[(\[]{1,2}((?:rank|default)(?=[ \d])|[A-Za-z_]\w{0,80})")
_MOST_PREFIXES = 8
_JSON_KEYS = ("log", "message", "msg", "textPayload", "text")


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line without decoration. `number` counts from 1 in the paste, where it first stands; `count` is how often."""

    number: int
    text: str
    count: int


@dataclass(frozen=True, slots=True)
class FoldedLog:
    """`lines`, each once, in the order of their first appearance, and who wrote what in which order.

    A stream belongs to one rank or process: (line number in the paste, index in `lines`, times printed).
    `processes` are the names in the prefixes of Ray and torchrun, each with the index of the first line below it.
    """

    lines: tuple[LogLine, ...]
    streams: tuple[tuple[tuple[int, int, int], ...], ...]
    processes: Mapping[str, int]


def physical_lines(text: str) -> list[str]:
    """The lines of a paste as an editor numbers them.

    A lone carriage return ends a line only where nothing else does: otherwise it is a progress bar's.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\n" not in text:
            text = text.replace("\r", "\n")
    return text.split("\n")


def strip_codes(text: str) -> str:
    """`text` without terminal codes, control characters and HTML's way to write some; line ends stay."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "[0m" in text:
        text = _ANSI_REMAINS.sub("", text)
    if "&" in text:
        text = _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)
    return _CONTROL.sub("", text)


def fold(text: str) -> FoldedLog:
    """Read a paste: each distinct line once, and the streams it came in."""
    index: dict[str, int] = {}
    numbers: list[int] = []
    counts: list[int] = []
    streams: dict[str, list[tuple[int, int, int]]] = {}
    seen: dict[str, tuple[tuple[str, int, int], ...]] = {}
    for number, physical in enumerate(physical_lines(strip_codes(text)), 1):
        rows = seen.get(physical)
        if rows is None:
            rows = seen[physical] = tuple(_read(physical, index))
            numbers.extend([number] * (len(index) - len(numbers)))
            counts.extend([0] * (len(index) - len(counts)))
        for source, place, times in rows:
            counts[place] += times
            streams.setdefault(source, []).append((number, place, times))
    lines = tuple(map(LogLine, numbers, index, counts))
    processes: dict[str, int] = {}
    for source, stream in streams.items():
        if found := _PROCESS.match(source):
            processes.setdefault(found[1], stream[0][1])
    return FoldedLog(lines, tuple(map(tuple, streams.values())), processes)


def _read(physical: str, index: dict[str, int]) -> Iterator[tuple[str, int, int]]:
    """Source, place in `index` and times printed of all that a physical line holds; new texts get a place."""
    if not physical or physical.isspace():
        return
    for written in _unwrapped(physical):
        for piece in _pieces(written):
            source, start = _prefix(piece)
            line, times = _without_repeats(piece[start:].rstrip(" \t│"))
            if line in index or _says_something(line):
                yield source, index.setdefault(line, len(index)), times


def _unwrapped(line: str) -> list[str]:
    """What a physical line holds: the states of a progress bar, or the text inside a JSON log record."""
    if "\r" in line:
        return [state for state in line.split("\r") if state]
    if line[0] == "{" and line.rstrip()[-1] == "}":
        line = _json_text(line)
    if "\\n" in line and "Traceback (most recent call last)" in line:
        line = line.replace("\\\\n", "\n").replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")
    return [part for part in re.split(r"[\r\n]+", line) if part] if "\n" in line else [line]


def _json_text(line: str) -> str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return line
    texts = (record[key] for key in _JSON_KEYS if isinstance(record.get(key), str))
    return strip_codes(next(texts, line))


def _pieces(line: str) -> Iterator[str]:
    if len(line) <= PIECE:
        yield line
        return
    step = PIECE - OVERLAP
    for start in range(0, len(line) - OVERLAP, step):
        yield line[start : start + PIECE]


def _prefix(line: str) -> tuple[str, int]:
    """Who printed a line (empty where it does not say), and where its text begins. Indentation is kept."""
    source, start = "", 0
    for _ in range(_MOST_PREFIXES):
        if line[start : start + 1] not in _MAY_BEGIN_PREFIX:
            break
        found = _PREFIX.match(line, start)
        if found is None:
            break
        source += found["source"] or ""
        start = found.end()
        if line[start : start + 1] in {" ", "\t"}:
            start += 1
    return source, start


def _without_repeats(line: str) -> tuple[str, int]:
    if "[repeated " not in line:
        return line, 1
    found = _REPEATED.search(line)
    return (line[: found.start()], int(found[1])) if found else (line, 1)


def _says_something(line: str) -> bool:
    return not _DECORATION_ONLY.fullmatch(line) and not ("%|" in line and _TQDM.search(line))
