"""What lines of a log are: the tables of failures.yaml, compiled (prefixes of lines, failures that are not Python's,
names of exceptions), and messages without their values, by which two occurrences of one failure are the same.

What is Python's own stands here; everything else is data, built in (app/jieda/knowledge) or of the content.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import accumulate, chain
from typing import NamedTuple

from jieda.anchors import AnchorIndex
from jieda.log_knowledge import Failures
from jieda.signature import (
    PREFIXES,
    REMOTE,
    REPEATS,
    Grammar,
    SignatureLine,
    compile_signature_line,
    expression,
    parts_of,
)

# Order matters: what looks like several things is taken for the first of them.
_VALUES = (
    ("addr", r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b|\b0x[0-9a-fA-F]{1,64}\b"),
    ("hex", r"\b[0-9a-f]{16,128}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    ("size", r"\b\d{1,20}(?:\.\d{1,20})? ?(?:[KMGT]i?B|[Bb]ytes)\b"),
    ("device", r"\b(?:cuda|npu|cpu):\d{1,4}\b|\b(?:GPU|gpu|[Rr]ank|device|node)[ _:=]\d{1,6}\b"),
    ("shape", r"\[\d{1,9}(?:, ?\d{1,9}){0,8}\]"),
    ("quoted", r"""'[^'\n]{0,300}'|"[^"\n]{0,300}\""""),
    ("path", r"(?<![\w<./])(?:~|\.{1,2})?/[\w.@+-]{1,200}(?:/[\w.@+-]{1,200}){1,40}/?"),
    ("num", r"(?<![\w.])[+-]?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,4})?(?!\w)"),
)
# No value begins with another character: most places of a message need no further look.
_BEGINNING = r"(?=[\da-fgnrGR\['\"~./+-])"
_WORDLESS = tuple((name, pattern) for name, pattern in _VALUES if name not in {"device", "quoted"})


_CODE = re.compile(r"(?<!\w)(?<!\+ )0x[0-9a-fA-F]{2,8}\b")
"""What has more digits is an address, and what is added to one is a place in it."""

# What punctuation a value stood between, when it is gone: `allocate . GPU`, `(, )`.
_LEFT_OVER = re.compile(r"(?<=\s)[.,;:=]{1,3}(?=\s|$)|\([\s,;:]{0,8}\)")


def _pattern(values: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    return re.compile(
        _BEGINNING + "(?:" + "|".join(f"(?P<{name}>{pattern})" for name, pattern in values) + ")"
    )


_ANY_VALUE = _pattern(_VALUES)
_WORDLESS_VALUE = _pattern(_WORDLESS)


def mask(message: str) -> str:
    """`message` with each value replaced by its kind in braces: `{num}`, `{path}`, `{addr}`, …"""
    return _ANY_VALUE.sub(lambda found: f"{{{found.lastgroup}}}", message)


def without_values(message: str) -> str:
    """`message` as words to search for: what has none in it is gone, what stands in quotes is kept."""
    return " ".join(_LEFT_OVER.sub(" ", _WORDLESS_VALUE.sub(" ", message)).split())


def codes_in(message: str) -> tuple[str, ...]:
    """The codes of errors in it that are written in hexadecimal, each once: `0xC0000005`."""
    return tuple(dict.fromkeys(_CODE.findall(message)))


# What tells that nothing happened: a counter at 0, `(no failures)`, a heading alone, a setting (`check_nan .... True`)
_AT_ZERO = (
    r"^\s{0,20}\w{1,80} \.{3,100} .*|^\s{0,20}(?-i:[A-Z])[\w /-]{1,40}:\s{0,20}$|\(no [^()]{0,60}\)"
    r"|(?<![\w#-])[A-Za-z#-][\w #-]{0,60}['\"]?\s{0,4}[:=]\s{0,8}0(?:\.0{1,8})?%?(?![\w.])"
)
_SPACES_BEHIND = ("", r"(?=\s)", r"[^\S\n]{1,40}(?=\s)")
"""The pattern of no, one and more spaces at the end of a line."""
# A word begins and ends where it does, or before the next one of a name: `CrashLoop`, but not `LeakyReLU`, `FAILOVER`,
# `src/errors` and `errors::new`.
_WORD_BEGINS = r"(?<![\w/])"
_WORD_ENDS = r"(?-i:(?<![a-z])|(?![a-z]))(?-i:(?<![A-Z])|(?![A-Za-z]))(?!::)"
_MESSAGE = 300
"""Characters of a message that are kept."""

MODULE = r"(?:[A-Za-z_]\w{0,80}\.){0,10}"
PYTHON_ENDINGS = ("Error", "Exception", "Interrupt", "Exit")
_TELLING = ("traceback (most", "file ", ".py", "frame #", " raise ", " of the ", "error: ", "assert ")
"""What a line that is anything but text has in it, where none of the formats says it."""


@dataclass(frozen=True, slots=True)
class FamilyLine:
    """One line of a family; `start`: only where its first word is the text's."""

    name: str
    line: SignatureLine
    start: bool

    def find(self, text: str) -> str:
        """The message, from where the line begins; empty where `text` has none."""
        found = self.line.find(text)
        if found is None or (self.start and " " in text[: found.start()].strip()):
            return ""
        start = found.start()
        # A line may begin inside a word: `sh: …` in `bash: …`, and `{word}` matches one character of it there.
        if text[start - 1 : start].isalnum():
            start = text.rfind(" ", 0, start) + 1
        return text[start : start + _MESSAGE].strip()


@dataclass(frozen=True, slots=True)
class Formats:
    """What reading a log needs to know.

    `prefix` has the group `source`, and is the same for lines that `digits` makes the same. The last group of `repeats`
    is how often, that of `remote` an exception. `exception` finds the type and the message where a line names an
    exception, `raises` the type where it is one of source. A line that is anything but text fits one of `families` or
    has one of the words of `telling` in it, without case; `anchors` looks for what these words are filed under, and for
    the anchors of families. Before a pattern of `trouble` stands a case-folded word of what it matches.
    """

    prefix: re.Pattern[str] | None
    repeats: re.Pattern[str] | None
    message_fields: tuple[str, ...]
    level_fields: tuple[str, ...]
    wrappers: frozenset[str]
    remote: re.Pattern[str] | None
    families: tuple[FamilyLine, ...]
    anchors: AnchorIndex
    meanings: Mapping[str, str]
    exception: re.Pattern[str]
    raises: re.Pattern[str]
    telling: Mapping[str, str]
    digits: Mapping[int, str]
    trouble: tuple[tuple[str, re.Pattern[str]], ...]
    no_trouble: re.Pattern[str]

    @property
    def failing(self) -> tuple[str, ...]:
        """Words of which a line that tells a failure has one, without case."""
        exceptions = (words for words in self.telling if words not in _TELLING)
        return tuple(dict.fromkeys((*exceptions, *(each.line.anchor for each in self.families))))

    def tells_of_trouble(self, text: str) -> bool:
        """Whether `text` has a word by which somebody tells that something went wrong, and not that nothing did."""
        # Most lines have none, and looking for what tells that nothing happened takes longer.
        return self._has_trouble(text) and self._has_trouble(self.no_trouble.sub(" ", text))

    def _has_trouble(self, text: str) -> bool:
        # Where a word stands is found a hundred times faster than where it begins and ends as words do.
        folded = text.casefold()
        return any(word in folded and pattern.search(text) for word, pattern in self.trouble)


def compile_formats(failures: Failures) -> Formats:
    """`failures`, ready for use."""
    level = f"(?:{'|'.join(map(re.escape, sorted(failures.levels, key=len, reverse=True))) or '(?!)'})"
    endings = sorted({*PYTHON_ENDINGS, *failures.exception_endings}, key=len, reverse=True)
    ending = f"(?:{'|'.join(map(re.escape, endings))})"
    before = rf"\s{{0,40}}(?:\[?{level}\]?[\s:|-]{{1,4}})?"
    ends = f"(?:{'|'.join(map(re.escape, failures.word_endings))})?{_WORD_ENDS}"
    name = rf"{MODULE}[A-Za-z_]\w{{0,80}}?{ending}|{MODULE}{ending}"
    families = tuple(
        FamilyLine(family.name, compile_signature_line(line), family.start)
        for family in failures.families
        for line in family.lines
    )
    telling = {
        words.casefold(): max(words.casefold().split(), key=len)
        for words in (*_TELLING, *endings, *map(_longest_word, failures.remote))
    }
    return Formats(
        prefix=_prefixes(failures, level),
        repeats=_any_of(_matched(line, REPEATS) for line in failures.repeats),
        message_fields=failures.message_fields,
        level_fields=failures.level_fields,
        wrappers=frozenset(failures.wrappers),
        remote=_any_of(r"\s{0,40}" + _matched(line, REMOTE) for line in failures.remote),
        families=families,
        anchors=AnchorIndex((*(each.line.anchor for each in families), *telling.values())),
        meanings={family.name: family.meaning for family in failures.families if family.meaning},
        exception=re.compile(rf"{before}({name})(?::\s?(.*)|\s*)$"),
        raises=re.compile(rf"\s{{3,80}}raise ({MODULE}[A-Z]\w{{0,80}}?{ending})\b(?!\.)"),
        telling=telling,
        digits=_digits(failures),
        trouble=tuple(
            (
                max(word.casefold().split(), key=len),
                re.compile(_beginning(word) + (ends if word[-1:].isascii() else ""), re.IGNORECASE),
            )
            for word in failures.troubled
        ),
        no_trouble=re.compile("|".join((_AT_ZERO, *map(_beginning, failures.untroubled))), re.IGNORECASE),
    )


def _digits(failures: Failures) -> Mapping[int, str]:
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


def _beginning(word: str) -> str:
    named = word[:1].isascii() and word[:1].isalnum()
    return (_WORD_BEGINS if named else "") + re.escape(word).replace(r"\ ", r"\s{1,20}")


def _any_of(patterns: Iterable[str]) -> re.Pattern[str] | None:
    alternatives = "|".join(patterns)
    return re.compile(alternatives) if alternatives else None


def _prefixes(failures: Failures, level: str) -> re.Pattern[str] | None:
    """One pattern of all prefixes; those that name who wrote the line are its group `source`."""
    grammar = replace(PREFIXES, closed={**PREFIXES.closed, "level": level})

    def pattern(lines: Iterable[str]) -> str:
        return "|".join(_matched(line, grammar) for line in sorted(lines, key=len, reverse=True))

    naming = pattern(line for each in failures.prefixes if each.source for line in each.lines)
    others = pattern(line for each in failures.prefixes if not each.source for line in each.lines)
    return _any_of(filter(None, (f"(?P<source>{naming})" if naming else "(?P<source>(?!))", others)))


def _matched(line: str, grammar: Grammar) -> str:
    """The pattern of a line. A space at its end must be there, but is not taken: it may be an indentation."""
    written = line.rstrip(" ")
    end = _SPACES_BEHIND[min(len(line) - len(written), 2)]
    return expression(parts_of(written, grammar), grammar, end)


ASSERTION = "assertion"
"""The family of a line of source that asserts something."""


class LineKind(Enum):
    """The parts that tracebacks are made of; what `LineRead.first` and `.second` hold stands in brackets."""

    HEADER = auto()
    REMOTE = auto()
    """A traceback carried over from another process (its exception's name, or empty)."""
    CHAIN = auto()
    """What Python writes between two tracebacks, the second of which came of the first: no part of either."""
    FRAME = auto()
    """(path, function)"""
    RAISING = auto()
    """A line of source that raises an exception (its type): what broke off may have no other trace of it."""
    EXCEPTION = auto()
    """(type, message)"""
    FAMILY = auto()
    """A failure that is not a Python exception (family, message)."""
    TEXT = auto()


class LineRead(NamedTuple):
    """A line, classified. `line` is the line of the source file that a frame names, otherwise 0."""

    kind: LineKind
    first: str = ""
    second: str = ""
    line: int = 0
    verbatim: bool = False
    """True for an exception that begins its line."""


_LOWERED = re.compile(r"\s{0,40}((?:\w{1,40}\.){1,10}\w{0,80}error): (.*)$")
_ANYTHING_RAISED = re.compile(rf"\s{{0,4}}({MODULE}[A-Z]\w{{0,80}})(?::\s(.*)|:?\s*)$")
_INLINE = re.compile(
    rf"(?<![\w.])({MODULE}[A-Z]\w{{0,80}}?(?:Error|Exception))\b(?![(\w])(?!\.__)[:`]?\s?(.*)"
)
_NOT_RAISED_HERE = re.compile(r"\b(?:raise|except|catch|import|class|isinstance)\b")
_ASSERTION = re.compile(r"\s{0,40}(assert\s.{1,300})")
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


def read_lines(texts: Sequence[str], formats: Formats) -> Mapping[int, LineRead]:
    """Those of some lines that are not only text, by index. What tells one is looked for in all of them at once."""
    folded = "\n".join(texts).casefold()
    found = formats.anchors.find(folded)
    families = [each for each in formats.families if each.line.anchor in found]
    telling = {words for words, anchor in formats.telling.items() if anchor in found}
    if not telling and not families:
        return {}
    lines = folded.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    places = {
        place
        for words in telling.union(each.line.anchor for each in families)
        for place in _holding(words, folded, starts)
    }
    reads = ((place, _classify(texts[place], lines[place], formats, families)) for place in sorted(places))
    return {place: read for place, read in reads if read.kind is not LineKind.TEXT}


def _holding(words: str, folded: str, starts: Sequence[int]) -> Iterator[int]:
    at = folded.find(words)
    while at >= 0:
        place = bisect_right(starts, at) - 1
        yield place
        at = folded.find(words, starts[place + 1])


def _classify(line: str, folded: str, formats: Formats, families: Sequence[FamilyLine]) -> LineRead:
    """What `line` is, which is `folded` without case; `families` are those that the log can hold."""
    if _HEADER in line:
        return _HEADER_READ
    if ("File " in line or ".py" in line or "frame #" in line) and (frame := _frame(line)):
        return frame
    if formats.remote and "(" in line and (found := formats.remote.match(line)):
        return LineRead(LineKind.REMOTE, found[found.lastindex] if found.lastindex else "")
    if " raise " in line and (found := formats.raises.match(line)):
        return LineRead(LineKind.RAISING, found[1])
    if " of the " in line and any(words in line for words in _CHAINS):
        return _CHAIN_READ
    return _exception(line, formats) or _of_family(line, folded, families) or _inline(line) or TEXT_READ


_HEADER_READ, _CHAIN_READ, TEXT_READ = map(LineRead, (LineKind.HEADER, LineKind.CHAIN, LineKind.TEXT))


def raised_at_the_end(line: str) -> LineRead | None:
    """Read the line below the last frame of a traceback, where whatever stands is an exception."""
    found = _ANYTHING_RAISED.match(line)
    return LineRead(LineKind.EXCEPTION, found[1], found[2] or "", verbatim=True) if found else None


def _frame(line: str) -> LineRead | None:
    for pattern in _FRAMES:
        if found := pattern.match(line):
            return LineRead(LineKind.FRAME, found[1], (found[3] or "").strip(), int(found[2] or 0))
    return None


def _exception(line: str, formats: Formats) -> LineRead | None:
    found = formats.exception.match(line) or (_LOWERED.match(line) if "error: " in line else None)
    if found is None:
        return None
    type_, message = found.groups("")
    return LineRead(LineKind.EXCEPTION, type_, message.strip(), 0, True)


def _of_family(line: str, folded: str, families: Sequence[FamilyLine]) -> LineRead | None:
    for family in families:
        if family.line.anchor in folded and (message := family.find(line)):
            return LineRead(LineKind.FAMILY, family.name, message)
    if "assert " in line and (found := _ASSERTION.match(line)):
        return LineRead(LineKind.FAMILY, ASSERTION, found[1].strip())
    return None


def _inline(line: str) -> LineRead | None:
    """An exception named in the middle of a line, as in prose or in a message of another system."""
    if ("Error" in line or "Exception" in line) and not _NOT_RAISED_HERE.search(line):
        found = _INLINE.search(line)
        if found:
            return LineRead(LineKind.EXCEPTION, found[1], found[2].strip())
    return None
