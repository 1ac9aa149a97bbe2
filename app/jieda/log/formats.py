"""Classifies the lines of a log by the compiled tables of failures.yaml (prefixes of lines, failures that are not
Python's, names of exceptions).

Python's own formats are code here; everything else is data, built in (app/jieda/knowledge) or from the content.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from itertools import accumulate, chain
from typing import NamedTuple

from jieda.han import HAN
from jieda.log_knowledge import Failures
from jieda.signature import (
    PREFIXES,
    REMOTE,
    REPEATS,
    AnchorIndex,
    Grammar,
    SignatureLine,
    compile_signature_line,
    expression,
    normalize,
    parts_of,
)

_FRACTION = r"\s{0,8}(?:\d{0,9}\.\d{1,20}(?:e[+-]?\d{1,4})?%?|\d{1,9}%)(?=\s{0,8}(?:[,;|-]|$))"
_MEASURED = re.compile(_FRACTION)
"""The value of a measure: `Test error: 3.2%`."""
# Text that reports no trouble: a counter at 0 (`失败数：0` too), a measured error, `(no failures)`, a heading alone, a
# setting (`check_nan .... True`).
_AT_ZERO = (
    r"^\s{0,20}\w{1,80} \.{3,100} .*|^\s{0,20}(?-i:[A-Z])[\w /-]{1,40}:\s{0,20}$|\(no [^()]{0,60}\)"
    r"|(?<![\w#-])[A-Za-z#-][\w #-]{0,60}['\"]?\s{0,4}[:=]\s{0,8}0(?:\.0{1,8})?%?(?![\w.])"
    rf"|[{HAN}]{{2,8}}\s?[:：=]\s{{0,4}}0(?=\s?(?:[个条次项件行,，。;；、)）|]|$))"
    rf"|error['\"]?\s{{0,4}}[:=]{_FRACTION}"
)
_SPACES_BEHIND = ("", r"(?=\s)", r"[^\S\n]{1,40}(?=\s)")
"""The patterns of no, one and more spaces at the end of a line."""
# Words end at a word boundary, or before the next word of a name: `CrashLoop`, but not `LeakyReLU`, `FAILOVER`,
# `src/errors`, `error.py` and `errors::new`.
_WORD_BEGINS = r"(?<![\w/])"
_WORD_ENDS = r"(?-i:(?<![a-z])|(?![a-z]))(?-i:(?<![A-Z])|(?![A-Za-z]))(?!::|(?-i:\.[a-z]))"
_MESSAGE = 300
"""Most characters kept of a message."""

MODULE = r"(?:[A-Za-z_]\w{0,80}\.){0,10}"
PYTHON_ENDINGS = ("Error", "Exception", "Interrupt", "Exit")
_PYTHON_CLUES = (
    "traceback (most",
    "file ",
    ".py",
    "frame #",
    " raise ",
    " of the ",
    "error: ",
    "errors.",
    "exceptions.",
    "assert ",
)
"""Python's own words: a line that is more than text has one of these, or of the formats' words."""


@dataclass(frozen=True, slots=True)
class FamilyLine:
    """One line of a family; `start`: it matches only at the first word of the text."""

    name: str
    line: SignatureLine
    start: bool

    def find(self, text: str) -> str:
        """Return the message from the start of the match; empty if `text` does not match."""
        if (found := self.line.find(normalize(text))) is None:
            return ""
        start = word = found.start()
        # A match may begin inside a word: `sh: …` in `bash: …`, and `{word}` matches one character of it there.
        if text[start - 1 : start].isalnum():
            word = text.rfind(" ", 0, start) + 1
        cut = word < start and not self.line.text.startswith("{")
        if self.start and (cut or " " in text[:start].strip() or _MEASURED.match(text, found.end())):
            return ""
        return text[word : word + _MESSAGE].strip()


@dataclass(frozen=True, slots=True)
class Formats:
    """The compiled log formats.

    `prefix` has the group `source`; it gives equal results for lines that `digits` maps to the same text. The last
    group of `repeats` is the count, that of `remote` an exception. `exception` matches type and message in a line that
    names an exception, `raises` the type in a source line. A line that is more than text matches one of `families` or
    has one of the words of `clues`, whatever the case; `anchors` searches for the anchors of these words and of the
    families. Each pattern of `trouble` comes with a case-folded word that every match has.

    `error_level` finds the level of an error, `error_field` a field of a record with one, in lower case. They begin
    with what they look for: a pattern that begins by looking back takes four times as long.
    """

    failures: Failures
    """What they were compiled from."""
    prefix: re.Pattern[str]
    repeats: re.Pattern[str]
    level: re.Pattern[str]
    error_level: re.Pattern[str]
    error_field: re.Pattern[str]
    error_levels: frozenset[str]
    wrappers: frozenset[str]
    remote: re.Pattern[str]
    families: tuple[FamilyLine, ...]
    anchors: AnchorIndex
    meanings: Mapping[str, str]
    exception: re.Pattern[str]
    raises: re.Pattern[str]
    clues: Mapping[str, str]
    digits: Mapping[int, str]
    trouble: tuple[tuple[str, re.Pattern[str]], ...]
    no_trouble: re.Pattern[str]

    @property
    def failure_words(self) -> tuple[str, ...]:
        """Case-folded words; a line that reports a failure has at least one."""
        exceptions = (words for words in self.clues if words not in _PYTHON_CLUES)
        return tuple(dict.fromkeys((*exceptions, *(each.line.anchor for each in self.families))))

    def tells_of_trouble(self, text: str) -> bool:
        """Whether `text` has a word of trouble outside phrases that report none, such as a counter at 0."""
        # Most lines have no word of trouble, and the search for such phrases takes longer.
        return self._has_trouble(text) and self._has_trouble(self.no_trouble.sub(" ", text))

    def _has_trouble(self, text: str) -> bool:
        # A substring search is a hundred times faster than a search for word boundaries.
        folded = text.casefold()
        return any(word in folded and pattern.search(text) for word, pattern in self.trouble)


@lru_cache(maxsize=4)
def compile_formats(failures: Failures) -> Formats:
    """Compile the formats of failures.yaml."""
    level = f"(?:{'|'.join(map(re.escape, sorted(failures.levels, key=len, reverse=True))) or '(?!)'})"
    endings = sorted({*PYTHON_ENDINGS, *failures.exception_endings}, key=len, reverse=True)
    ending = f"(?:{'|'.join(map(re.escape, endings))})"
    name = rf"{MODULE}[A-Za-z_]\w{{0,80}}?{ending}|{MODULE}{ending}"
    families = tuple(
        FamilyLine(family.name, compile_signature_line(line), family.start)
        for family in failures.families
        for line in family.lines
    )
    clues = {
        words.casefold(): max(words.casefold().split(), key=len)
        for words in (*_PYTHON_CLUES, *endings, *map(_longest_word, failures.remote))
    }
    error_level, error_field = _compile_error_levels(failures)
    return Formats(
        failures=failures,
        prefix=_compile_prefixes(failures, level),
        repeats=_compile_any(_pattern_of(line, REPEATS) for line in failures.repeats),
        level=re.compile(rf"(?<!\w){level}(?!\w)"),
        error_level=error_level,
        error_field=error_field,
        error_levels=frozenset(failures.error_levels),
        wrappers=frozenset(failures.wrappers),
        remote=_compile_any(r"\s{0,40}" + _pattern_of(line, REMOTE) for line in failures.remote),
        families=families,
        anchors=AnchorIndex((*(each.line.anchor for each in families), *clues.values())),
        meanings={family.name: family.meaning for family in failures.families if family.meaning},
        exception=re.compile(rf"\s{{0,40}}(?:\[?{level}\]?[\s:|-]{{1,4}})?({name})(?::\s?(.*)|\s*)$"),
        raises=re.compile(rf"\s{{3,80}}raise ({MODULE}[A-Z]\w{{0,80}}?{ending})\b(?!\.)"),
        clues=clues,
        digits=_digit_table(failures),
        trouble=_compile_trouble(failures),
        no_trouble=re.compile("|".join((_AT_ZERO, *map(_start_of, failures.untroubled))), re.IGNORECASE),
    )


def _compile_error_levels(failures: Failures) -> tuple[re.Pattern[str], re.Pattern[str]]:
    error = "|".join(_pattern_of(line, PREFIXES) for line in failures.error_levels) or "(?!)"
    fields = "|".join(re.escape(field.lower()) for field in failures.level_fields) or "(?!)"
    return (
        re.compile(rf"(?:{error})(?:(?<=\])|(?=[\]\s:|>),]|$))"),
        re.compile(rf"(?:{fields})[\"']?\s?[=:]\s?[\"']?(?i:{error})(?!\w)"),
    )


def _compile_trouble(failures: Failures) -> tuple[tuple[str, re.Pattern[str]], ...]:
    ends = f"(?:{'|'.join(map(re.escape, failures.word_endings))})?{_WORD_ENDS}"
    return tuple(
        (
            max(word.casefold().split(), key=len),
            re.compile(_start_of(word) + (ends if word[-1:].isascii() else ""), re.IGNORECASE),
        )
        for word in failures.troubled
    )


def _digit_table(failures: Failures) -> Mapping[int, str]:
    literals = (
        part.literal or ""
        for each in failures.prefixes
        for line in each.lines
        for part in parts_of(line, PREFIXES)
    )
    says_digits = any(map(str.isdigit, chain.from_iterable((*literals, *failures.levels))))
    return {} if says_digits else str.maketrans(dict.fromkeys("123456789", "0"))


def _longest_word(line: str) -> str:
    words = (word for part in parts_of(line, REMOTE) for word in (part.literal or "").split())
    return max(words, key=len, default="(")


def _start_of(word: str) -> str:
    named = word[:1].isascii() and word[:1].isalnum()
    return (_WORD_BEGINS if named else "") + re.escape(word).replace(r"\ ", r"\s{1,20}")


def _compile_any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns) or "(?!)")


def _compile_prefixes(failures: Failures, level: str) -> re.Pattern[str]:
    """Return one pattern of all prefixes; the group `source` holds prefixes that name the process of the line."""
    grammar = replace(PREFIXES, closed={**PREFIXES.closed, "level": level})

    def pattern(lines: Iterable[str]) -> str:
        return "|".join(_pattern_of(line, grammar) for line in sorted(lines, key=len, reverse=True))

    naming = pattern(line for each in failures.prefixes if each.source for line in each.lines)
    others = pattern(line for each in failures.prefixes if not each.source for line in each.lines)
    return _compile_any((f"(?P<source>{naming or '(?!)'})", *filter(None, (others,))))


def _pattern_of(line: str, grammar: Grammar) -> str:
    """Return the pattern of a line. A space at its end must follow, but is not consumed: it may be indentation."""
    written = line.rstrip(" ")
    end = _SPACES_BEHIND[min(len(line) - len(written), 2)]
    return expression(parts_of(written, grammar), grammar, end)


ASSERTION = "assertion"
"""The family of a line of source that asserts something."""


class LineKind(Enum):
    """The kinds of log lines; `LineRead.name` and `.detail` hold the values in parentheses."""

    HEADER = auto()
    REMOTE = auto()
    """The start of a traceback from another process (its exception's name, or empty)."""
    CHAIN = auto()
    """Python's line between two chained tracebacks: part of neither."""
    FRAME = auto()
    """(path, function)"""
    RAISING = auto()
    """A source line that raises an exception (its type): a truncated traceback may name it nowhere else."""
    EXCEPTION = auto()
    """(type, message)"""
    FAMILY = auto()
    """A failure that is not a Python exception (family, message)."""
    TEXT = auto()


class LineRead(NamedTuple):
    """A classified line. `line` is the line of the source file in a frame, otherwise 0."""

    kind: LineKind
    name: str = ""
    detail: str = ""
    line: int = 0
    verbatim: bool = False
    """Whether an exception begins its line."""


_DOTTED = re.compile(
    r"\s{0,40}((?:\w{1,40}\.){1,10}\w{0,80}error|(?:\w{1,40}\.){0,9}(?:errors|exceptions)\.[A-Z]\w{0,80}): (.*)$"
)
_ANYTHING_RAISED = re.compile(rf"\s{{0,4}}({MODULE}[A-Z]\w{{0,80}})(?::\s(.*)|:?\s*)$")
_INLINE = re.compile(
    rf"(?<![\w.])({MODULE}[A-Z]\w{{0,80}}?(?:Error|Exception))\b(?![(\w])(?!\.__)[:`]?\s?(.*)"
)
_NOT_RAISED_HERE = re.compile(r"^\s{1,40}at |\b(?:raise|except|catch|import|class|isinstance)\b")
_ASSERTION = re.compile(r"\s{0,40}(assert\s.{1,300})")
_FRAMES = (
    re.compile(r'\s{0,40}File "([^"]{1,600})", line (\d{1,9})(?:, in (.{1,200}))?'),
    re.compile(r"\s{0,8}File (\S{1,600}):(\d{1,9}), in ([\w.<>]{1,200})"),
    re.compile(r"\s{0,8}(\S{1,600}\.py):(\d{1,9}):? {1,4}in ([\w.<>]{1,200})"),
    re.compile(r"\s{0,8}(\S{1,600}\.py):(\d{1,9}): (?:in )?()"),
    re.compile(r"\s{0,8}(\S{1,600}\.py),() in ([\w.<>]{1,200})"),
    re.compile(r"\s{0,8}frame #\d{1,4}: ()()(.{1,400}?) \+ 0x"),
)
HEADER = "Traceback (most recent call last)"
_CHAINS = ("During handling of the above exception", "was the direct cause of the following")


def read_lines(texts: Sequence[str], formats: Formats) -> Mapping[int, LineRead]:
    """Classify the lines that are more than text, by index. Searches all lines at once for their anchors."""
    folded = normalize("\n".join(texts)).casefold()
    found = formats.anchors.find(folded)
    families = [each for each in formats.families if each.line.anchor in found]
    clues = {words for words, anchor in formats.clues.items() if anchor in found}
    if not clues and not families:
        return {}
    lines = folded.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    places = {
        place
        for words in clues.union(each.line.anchor for each in families)
        for place in lines_with(words, folded, starts)
    }
    reads = ((place, _classify(texts[place], lines[place], formats, families)) for place in sorted(places))
    return {place: read for place, read in reads if read.kind is not LineKind.TEXT}


def lines_with(words: str, folded: str, starts: Sequence[int]) -> Iterator[int]:
    """Yield the lines of a case-folded text that have some words, given where each line and the end start."""
    at = folded.find(words)
    while at >= 0:
        place = bisect_right(starts, at) - 1
        yield place
        at = folded.find(words, starts[place + 1])


def _classify(line: str, folded: str, formats: Formats, families: Sequence[FamilyLine]) -> LineRead:
    """Classify `line`; `folded` is the line case-folded, `families` are those that occur in the log."""
    if HEADER in line:
        return _HEADER_READ
    if ("File " in line or ".py" in line or "frame #" in line) and (frame := _read_frame(line)):
        return frame
    if found := formats.remote.match(line):
        return LineRead(LineKind.REMOTE, found[found.lastindex] if found.lastindex else "")
    if " raise " in line and (found := formats.raises.match(line)):
        return LineRead(LineKind.RAISING, found[1])
    if " of the " in line and any(words in line for words in _CHAINS):
        return _CHAIN_READ
    return (
        _read_exception(line, formats)
        or _read_family(line, folded, families)
        or _read_mention(line)
        or TEXT_READ
    )


_HEADER_READ, _CHAIN_READ, TEXT_READ = map(LineRead, (LineKind.HEADER, LineKind.CHAIN, LineKind.TEXT))


def raised_at_the_end(line: str) -> LineRead | None:
    """Read the line below the last frame of a traceback, where any name is an exception."""
    found = _ANYTHING_RAISED.match(line)
    return LineRead(LineKind.EXCEPTION, found[1], found[2] or "", verbatim=True) if found else None


def _read_frame(line: str) -> LineRead | None:
    for pattern in _FRAMES:
        if found := pattern.match(line):
            return LineRead(LineKind.FRAME, found[1], (found[3] or "").strip(), int(found[2] or 0))
    return None


def _read_exception(line: str, formats: Formats) -> LineRead | None:
    found = formats.exception.match(line) or _DOTTED.match(line)
    if found is None:
        return None
    type_, message = found.groups("")
    return LineRead(LineKind.EXCEPTION, type_, message.strip(), 0, True)


def _read_family(line: str, folded: str, families: Sequence[FamilyLine]) -> LineRead | None:
    for family in families:
        if family.line.anchor in folded and (message := family.find(line)):
            return LineRead(LineKind.FAMILY, family.name, message)
    if "assert " in line and (found := _ASSERTION.match(line)):
        return LineRead(LineKind.FAMILY, ASSERTION, found[1].strip())
    return None


def _read_mention(line: str) -> LineRead | None:
    """Find an exception named in the middle of a line, as in prose or in a message of another system."""
    if ("Error" not in line and "Exception" not in line) or _NOT_RAISED_HERE.search(line):
        return None
    found = _INLINE.search(line)
    return LineRead(LineKind.EXCEPTION, found[1], found[2].strip()) if found else None
