"""What a single line of a log is, whatever stands around it: tables of patterns, one look-up."""

import re
from dataclasses import dataclass
from enum import Enum, auto


class LineKind(Enum):
    """The parts that tracebacks are made of; what `LineRead.first` and `.second` hold stands in brackets."""

    HEADER = auto()
    REMOTE = auto()
    """A traceback that Ray carries over from another process (its exception's name, or empty)."""
    CHAIN = auto()
    """What Python writes between two tracebacks, the second of which came of the first: no part of either."""
    FRAME = auto()
    """(path, function)"""
    RAISING = auto()
    """A line of source that raises an exception (its type): what broke off may have no other trace of it."""
    EXCEPTION = auto()
    """(type, message)"""
    FAMILY = auto()
    """A failure that is no Python exception (family, message)."""
    TEXT = auto()


@dataclass(frozen=True, slots=True)
class LineRead:
    """A line, classified. `line` is the line of the source file that a frame names, otherwise 0."""

    kind: LineKind
    first: str = ""
    second: str = ""
    line: int = 0
    verbatim: bool = False
    """True for an exception that begins its line."""


@dataclass(frozen=True, slots=True)
class Family:
    """Messages of one origin. A line is looked at only where it holds one of `hints`."""

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _family(name: str, hints: tuple[str, ...], pattern: str) -> Family:
    return Family(name, hints, re.compile(pattern))


FAMILIES: tuple[Family, ...] = (
    _family("C++", ("terminate called",), r"terminate called after throwing an instance of '([^']{1,200})'"),
    _family("Xid", ("Xid",), r"(NVRM: Xid .{1,300})"),
    _family(
        "NCCL",
        ("NCCL ", "nccl", "Watchdog"),
        r"((?:NCCL (?:WARN|[Ee]rror|failure|communicator was aborted)|nccl[A-Z]\w{1,40}Error"
        r"|Watchdog caught collective operation timeout).{0,300})",
    ),
    _family(
        "CUDA",
        ("CUDA ", "cuda"),
        r"((?:CUDA (?:error|failure|out of memory|driver)|cudaError\w{1,60}).{0,300})",
    ),
    _family("ECC", ("ECC",), r"((?:[Uu]ncorrectable|double[- ]bit) ECC.{0,200})"),
    _family(
        "out of memory",
        ("of memory", "oom"),
        r"((?:Out of memory: Killed process|oom-kill:|oom_reaper:).{0,300})",
    ),
    _family("HTTP", ("ConnectionPool(host=",), r"(HTTPS?ConnectionPool\(host=.{1,400})"),
    _family(
        "arguments",
        (": error: ",),
        r"^\s{0,20}\S{1,200}: (error: (?:unrecognized|argument|the following arguments|invalid|expected).{1,300})",
    ),
    _family("OS", ("[Errno ",), r"(\[Errno \d{1,4}\] .{1,300})"),
    _family(
        "signal",
        ("fault", "SIG", "Bus error", "core dumped"),
        r"((?:Segmentation fault|Bus error|Aborted \(core dumped\)|\*{3} SIG[A-Z]{2,5} |<Signals\.SIG[A-Z]{2,5}"
        r"|SIG[A-Z]{2,5} received|[Ss]ignal \d{1,2} \(SIG[A-Z]{2,5}\)).{0,200})",
    ),
    _family(
        "shell",
        ("sh: ",),
        r"(\b(?:ba|z|da|c|k)?sh: .{0,200}(?:not found|No such file|denied|rror\b|unexpected|bad interpreter).{0,100})",
    ),
    _family(
        "YAML",
        ("are not allowed here", "could not find expected", "that cannot start"),
        r"((?:mapping values are not allowed here|could not find expected ':'|found character .{1,8} that cannot start"
        r" any token).{0,200})",
    ),
    _family(
        "gradient norm",
        ("grad_norm", "grad norm"),
        # Healthy values are below a hundred or so; four digits before the point are a run that is going wrong.
        r"(grad[_ ]norm['\"]?\s?[:=]\s?(?:\d{4,20}(?:\.\d{1,20})?|\d(?:\.\d{1,20})?e\+?(?:0?[3-9]|[1-9]\d)))\b",
    ),
    _family("assertion", ("assert ",), r"^\s{0,40}(assert\s.{1,300})"),
)

_LEVEL = r"(?:\[?(?:ERROR|CRITICAL|FATAL|WARNING|WARN|INFO)\]?[\s:|-]{1,4})?"
_MODULE = r"(?:[A-Za-z_]\w{0,80}\.){0,10}"
_ENDING = r"(?:Error|Exception|Interrupt|Exit|Timeout|Failed|Failure|Died|Killed|Unsupported|Aborted)"
_EXCEPTION = re.compile(
    rf"\s{{0,40}}{_LEVEL}({_MODULE}[A-Za-z_]\w{{0,80}}?{_ENDING}|{_MODULE}{_ENDING})(?::\s?(.*)|\s*)$"
)
_LOWERED = re.compile(r"\s{0,40}((?:\w{1,40}\.){1,10}\w{0,80}error): (.*)$")
_ANYTHING_RAISED = re.compile(rf"\s{{0,4}}({_MODULE}[A-Z]\w{{0,80}})(?::\s(.*)|:?\s*)$")
_INLINE = re.compile(
    rf"(?<![\w.])({_MODULE}[A-Z]\w{{0,80}}?(?:Error|Exception))\b(?![(\w])(?!\.__)[:`]?\s?(.*)"
)
_NOT_RAISED_HERE = re.compile(r"\b(?:raise|except|catch|import|class|isinstance)\b")
_RAISING = re.compile(rf"\s{{3,80}}raise ({_MODULE}[A-Z]\w{{0,80}}?{_ENDING})\b(?!\.)")
_REMOTE = re.compile(
    r"\s{0,40}(?:ray\.exceptions\.)?RayTaskError\((\w{1,80})\)|\s{0,40}ray::[\w.<>]{1,160}\(\) \(pid=()"
)
_FRAMES = (
    re.compile(r'\s{0,40}File "([^"]{1,600})", line (\d{1,9})(?:, in (.{1,200}))?'),
    re.compile(r"\s{0,8}File (\S{1,600}):(\d{1,9}), in ([\w.<>]{1,200})"),
    re.compile(r"\s{0,8}(\S{1,600}\.py):(\d{1,9}):? {1,4}in ([\w.<>]{1,200})"),
    re.compile(r"\s{0,8}(\S{1,600}\.py):(\d{1,9}): (?:in )?()"),
    re.compile(r"\s{0,8}(\S{1,600}\.py),() in ([\w.<>]{1,200})"),
    re.compile(r"\s{0,8}frame #\d{1,4}: ()()(.{1,400}?) \+ 0x"),
)
_HEADER = "Traceback (most recent call last)"
_CHAINS = ("During handling of the above exception", "was the direct cause of the following")


Hints = tuple[tuple[str, Family], ...]
"""Each hint of some families, with its family."""


def hints_in(text: str) -> Hints:
    """The hints that lines of `text` can hold."""
    return tuple((hint, family) for family in FAMILIES for hint in family.hints if hint in text)


def classify(line: str, hints: Hints) -> LineRead:
    """What `line` is. `hints` come from `hints_in`, asked once for the whole log."""
    if _HEADER in line:
        return _HEADER_READ
    if ("File " in line or ".py" in line or "frame #" in line) and (frame := _frame(line)):
        return frame
    if ("ray::" in line or "RayTaskError(" in line) and (found := _REMOTE.match(line)):
        return LineRead(LineKind.REMOTE, found[1] or "")
    if " raise " in line and (found := _RAISING.match(line)):
        return LineRead(LineKind.RAISING, found[1])
    if " of the " in line and any(words in line for words in _CHAINS):
        return _CHAIN_READ
    return _exception(line) or _of_family(line, hints) or _inline(line) or _TEXT_READ


_HEADER_READ, _CHAIN_READ, _TEXT_READ = map(LineRead, (LineKind.HEADER, LineKind.CHAIN, LineKind.TEXT))


def raised_at_the_end(line: str) -> LineRead | None:
    """Read the line below the last frame of a traceback, where whatever stands is an exception."""
    found = _ANYTHING_RAISED.match(line)
    return LineRead(LineKind.EXCEPTION, found[1], found[2] or "", verbatim=True) if found else None


def _frame(line: str) -> LineRead | None:
    for pattern in _FRAMES:
        if found := pattern.match(line):
            return LineRead(LineKind.FRAME, found[1], (found[3] or "").strip(), int(found[2] or 0))
    return None


def _exception(line: str) -> LineRead | None:
    found = _EXCEPTION.match(line) or (_LOWERED.match(line) if "error: " in line else None)
    return LineRead(LineKind.EXCEPTION, found[1], (found[2] or "").strip(), verbatim=True) if found else None


def _of_family(line: str, hints: Hints) -> LineRead | None:
    for hint, family in hints:
        if hint in line and (found := family.pattern.search(line)):
            return LineRead(LineKind.FAMILY, family.name, found[1].strip())
    return None


def _inline(line: str) -> LineRead | None:
    """An exception named in the middle of a line, as in prose or in a message of another system."""
    if ("Error" in line or "Exception" in line) and not _NOT_RAISED_HERE.search(line):
        found = _INLINE.search(line)
        if found:
            return LineRead(LineKind.EXCEPTION, found[1], found[2].strip())
    return None
