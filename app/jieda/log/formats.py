"""The tables of failures.yaml, compiled: prefixes of lines, failures that are not Python's, names of exceptions.

What is Python's own stands here; everything else is data, built in (app/jieda/knowledge) or of the content.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain

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
    the anchors of families.
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
    trouble: re.Pattern[str] | None
    no_trouble: re.Pattern[str]

    @property
    def failing(self) -> tuple[str, ...]:
        """Words of which a line that tells a failure has one, without case."""
        exceptions = (words for words in self.telling if words not in _TELLING)
        return tuple(dict.fromkeys((*exceptions, *(each.line.anchor for each in self.families))))

    def tells_of_trouble(self, text: str) -> bool:
        """Whether `text` has a word by which somebody tells that something went wrong, and not that nothing did."""
        # Most lines have none, and looking for what tells that nothing happened takes longer.
        if self.trouble is None or not self.trouble.search(text):
            return False
        return self.trouble.search(self.no_trouble.sub(" ", text)) is not None


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
        trouble=_any_of(
            (_beginning(word) + (ends if word[-1:].isascii() else "") for word in failures.troubled),
            re.IGNORECASE,
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


def _any_of(patterns: Iterable[str], flags: int = 0) -> re.Pattern[str] | None:
    alternatives = "|".join(patterns)
    return re.compile(alternatives, flags) if alternatives else None


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
