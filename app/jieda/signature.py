"""The grammar of the patterns of lines and paths in the content: text with placeholders.

Signatures, families, prefixes and the names of folders use it; they differ only in their placeholders. A line becomes
one regular expression whose cost is linear in the text. Every placeholder is bounded. One of open width is matched
lazily, in an atomic group with the literal after it: once the earliest match of the literal is found, no other is
tried, so the costs of several placeholders add up instead of multiplying. Within a line, the earliest match is as good
as any later one.
"""

import math
import operator
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from jieda.han import HAN, is_han
from jieda.places import PACKAGE, read_words

_QUOTED = "|".join(
    f"{left}[^{right}\\n]{{0,300}}+{right}" for left, right in ("''", '""', "``", "‘’", "“”", "「」")
)
_NUMBER = r"(?:\d{1,40}+(?:\.\d{1,40}+)?+|\.\d{1,40}+)(?:e[+-]?\d{1,4}+)?+"
_NAME = r"[\w.+:/@$<>-]"


@dataclass(frozen=True, slots=True)
class Grammar:
    """Placeholders by name. Those of `closed` are complete patterns. Those of `open` end where the next literal starts;
    their values are a character class with the least and most characters.

    `whole`: a line is matched from its start, so a leading open placeholder has its whole width. `compares`: a number
    may have a condition, `{num>1000}`.
    """

    closed: Mapping[str, str]
    open: Mapping[str, tuple[str, int, int]]
    whole: bool = False
    compares: bool = False


_CLOSED = {
    "int": r"[+-]?\d{1,40}+",
    # Only ASCII letters: whatever the case, `i` also matches the Turkish `ı`, with which `inf` is no number.
    "num": rf"[+-]?(?:{_NUMBER}|(?a:nan|inf(?:inity)?)\b)",
    "hex": r"(?:0x)?[0-9a-f]{1,128}+",
    "size": rf"{_NUMBER}[ \t]?(?:[kmgtp]i?b?\b|b\b|bytes?\b)",
    "shape": r"(?:(?:[a-z]\w{0,20}\.\w{1,20}\()?[\[(]{1,2}[-\d ,*x]{0,200}+[\])]{1,3}|\d{1,12}+(?:x\d{1,12}+){1,8}+)",
    "quoted": f"(?:{_QUOTED})",
}
_OPEN = {
    "any": (r"[^\n]", 0, 300),
    "path": (r"[^\s\"'`<>|]", 1, 400),
    "addr": (r"[\w.:%\[\]-]", 1, 255),
    "word": (_NAME, 1, 200),
}
SIGNATURES = Grammar(_CLOSED, _OPEN, compares=True)
"""Signatures and families of failures, which match anywhere in a line."""

PREFIXES = Grammar(
    {
        "int": r"\d{1,10}+",
        "num": r"\d{1,10}+(?:\.\d{1,9}+)?+",
        "date": r"\d{4}[-/]\d{1,2}+[-/]\d{1,2}+",
        "month": r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)",
        "clock": r"\d{1,2}+:\d{2}:\d{2}(?:[.,]\d{1,9}+)?+",
        "place": r"\[?[\w./<>-]{1,80}+(?::[\w.<>]{1,60}+(?=:\d))?+:\d{1,6}+\]?+",
        "level": r"(?!)",
    },
    {"any": (r"[\w.:<>=+\[\] ,()-]", 0, 80), "word": (r"[\w.<>+-]", 1, 60), "addr": (r"[\w.:%-]", 1, 45)},
    whole=True,
)
"""The text before the message of a log line; the caller fills in the words of `level`."""

REMOTE = Grammar(
    {"int": r"\d{1,10}+", "exception": r"(\w{1,80}+)"}, {"word": (r"[\w.<>]", 1, 160)}, whole=True
)
"""The beginning of a traceback from another process; the last group is its exception."""

REPEATS = Grammar({"int": r"(\d{1,9}+)"}, {})
"""The count of a repeated line, in the last group."""

FOLDERS = Grammar({}, {"any": (r"[^/]", 0, 200)}, whole=True)
"""Names of folders, as `folder_line` writes them."""

GENERIC_WORDS = frozenset(read_words(PACKAGE / "knowledge/generic_words.txt"))
"""Words that occur in the log of any program; they make no signature specific."""

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
"""Conditions on a number: `{num>1000}`."""
_CONDITION = re.compile(
    rf"(?P<name>int|num)(?P<sign>{'|'.join(COMPARISONS)})(?P<limit>-?\d{{1,15}}(?:\.\d{{1,15}})?)"
)
CONDITIONED = "condition"
"""Prefix of the groups with a number to compare."""
SHAPED = "shape"
"""Prefix of the groups with a shape."""

_PIECE = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}|(?P<brace>[{}])|(?P<text>[^{}]+)")
_WORD = re.compile(rf"[a-z0-9]+|[{HAN}]")


class SignatureSyntaxError(ValueError):
    """The line cannot be a signature."""


@dataclass(frozen=True, slots=True)
class Part:
    """Literal text, or a placeholder by name, with a `condition` on its number."""

    literal: str = ""
    placeholder: str = ""
    condition: tuple[str, float] | None = None


def literal_text(line: str) -> str:
    """Return the literal text of a line: a space for each placeholder, single braces for double ones."""

    def literal_of(piece: re.Match[str]) -> str:
        return " " if piece["name"] is not None else piece["text"] or piece[0][0]

    return _PIECE.sub(literal_of, line)


def folder_line(folder: str) -> str:
    """Return a folder's name, in which `*` is any run of characters, as a line of the grammar."""
    return folder.replace("{", "{{").replace("}", "}}").replace("*", "{any}")


def parts_of(line: str, grammar: Grammar = SIGNATURES) -> Sequence[Part]:
    """Return the parts of a line with normalized quotes and widths. Raises SignatureSyntaxError."""
    parts = list(_pieces(line, grammar))
    for left, right in pairwise(parts):
        if left.placeholder in grammar.open and right.placeholder in grammar.open:
            both = f"{{{left.placeholder}}}{{{right.placeholder}}}"
            raise SignatureSyntaxError(f"{both}: it is unclear where one ends and the other starts")
    return parts if grammar.whole else _trimmed(parts)


def _pieces(text: str, grammar: Grammar) -> Iterator[Part]:
    literal = ""
    for match in _PIECE.finditer(text):
        if match["name"] is None:
            if brace := match["brace"]:
                raise SignatureSyntaxError(f"has a lone {brace}; write {brace * 2} for a brace")
            literal += match["text"] or match[0][0]
            continue
        condition = _CONDITION.fullmatch(match["name"]) if grammar.compares else None
        name = condition["name"] if condition else match["name"]
        if name not in grammar.closed.keys() | grammar.open.keys():
            known = ", ".join(f"{{{name}}}" for name in (*grammar.closed, *grammar.open)) or "none"
            raise SignatureSyntaxError(f"{match[0]} is not one of {known}; write {{{{ and }}}} for braces")
        if literal:
            yield Part(literal=literal)
        literal = ""
        limit = (condition["sign"], float(condition["limit"])) if condition else None
        yield Part(placeholder=name, condition=limit)
    if literal:
        yield Part(literal=literal)


def _trimmed(parts: Sequence[Part]) -> Sequence[Part]:
    """Return the parts without `{any}` at the ends, where it has no effect."""
    while parts and parts[0].placeholder == "any":
        parts = parts[1:]
    while parts and parts[-1].placeholder == "any":
        parts = parts[:-1]
    return parts


def expression(parts: Sequence[Part], grammar: Grammar = SIGNATURES, end: str = "") -> str:
    """Return the regular expression of a line: atomic groups, each of an open placeholder and everything up to the next
    one. `end` is a pattern that has to follow."""
    # Built from the end: `groups` follow the part, with the closed patterns of `tail` in between.
    groups, tail = "", end
    conditions = sum(part.condition is not None for part in parts)
    for index, part in reversed(list(enumerate(parts))):
        if part.placeholder in grammar.open:
            characters, fewest, most = grammar.open[part.placeholder]
            if index == 0 and not grammar.whole:
                # At the start, one character is as good as many: the text before it does not matter.
                group = characters + tail
            elif not tail:
                group = f"{characters}{{{fewest},{most}}}+"
            else:
                group = f"(?>{characters}{{{fewest},{most}}}?{tail})"
            groups, tail = group + groups, ""
        else:
            pattern = grammar.closed[part.placeholder] if part.placeholder else _literal(part.literal)
            if part.placeholder == "shape":
                pattern = f"(?P<{SHAPED}{index}>{pattern})"
            if part.condition:
                conditions -= 1
                pattern = rf"(?P<{CONDITIONED}{conditions}>{pattern})(?![\w.]*\d)"
            tail = pattern + tail
    return tail + groups


def _literal(text: str) -> str:
    """Return the pattern of a literal, in which all runs of white space are equal; bounded, so that no run is rescanned
    over and over."""
    escaped = (re.escape(word) for word in re.split(r"\s+", text))
    return r"[^\S\n]{1,40}+".join(escaped)


def weight_of(literal: str) -> int:
    """Count the specific characters of a literal."""
    words = (word for word in _WORD.findall(literal.casefold()) if word not in GENERIC_WORDS)
    return sum(3 if is_han(word) else len(word) for word in words)


SPECIFIC_CHARACTERS = 6
"""Letters and digits outside `GENERIC_WORDS` that make a line specific; a Han character counts three."""

LONGEST_SURE = 400
"""Characters of the longest signature line that is always found; splitting a log line may hide a longer one."""

SHAPE_PARTS: dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]] = {
    "first": lambda shape: shape[:1],
    "rest": lambda shape: shape[1:],
}
SHAPE_RELATIONS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "differ": operator.ne,
    "equal": operator.eq,
}
"""Relations between parts of two shapes in a line."""
PAIR = 2
Shapes = tuple[tuple[str, str], ...]
"""Pairs of a part and a relation."""
MOST_TRIED = 50
"""Matches of a line that are tested against its conditions before it counts as not found."""
_NARROW = dict.fromkeys("‘’“”", "'") | {"\u00a0": " "} | {chr(n + 0xFEE0): chr(n) for n in range(0x21, 0x7F)}
_WIDE = re.compile(f"[{''.join(_NARROW)}]")


@dataclass(frozen=True, slots=True)
class SignatureLine:
    """A compiled line.

    `pattern`, for `search`, never matches across a line end; it is compiled on demand, since few of thousands are ever
    needed. `anchor` is the longest literal without white space, case-folded: a case-folded text without it cannot
    match. `weight` counts the specific characters. `conditions` apply to the numbers in the groups `condition0`,
    `condition1`, … of the pattern, `shapes` to its first two shapes (see `Signature`).
    """

    text: str
    expression: str
    anchor: str
    weight: int
    conditions: tuple[tuple[str, float], ...] = ()
    shapes: Shapes = ()

    @property
    def pattern(self) -> re.Pattern[str]:
        return _compiled(self.expression)

    @property
    def specific(self) -> bool:
        return self.weight >= SPECIFIC_CHARACTERS

    def matches(self, text: str) -> bool:
        """Whether `text`, one line or many, contains this line."""
        folded = normalize(text)
        return self.anchor in folded.casefold() and self.find(folded) is not None

    def find(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match in a normalized `text` that meets all conditions and shapes."""
        if not (self.conditions or self.shapes):
            return self.pattern.search(text, start, end)
        matches = islice(self.pattern.finditer(text, start, end), MOST_TRIED)
        return next(filter(self._meets_conditions, matches), None)

    def _meets_conditions(self, match: re.Match[str]) -> bool:
        for index, (sign, limit) in enumerate(self.conditions):
            number = float(match[f"{CONDITIONED}{index}"])
            if not (math.isfinite(number) and COMPARISONS[sign](number, limit)):
                return False
        return not self.shapes or _meets_shapes(match, self.shapes)


def _meets_shapes(match: re.Match[str], shapes: Shapes) -> bool:
    texts = [text for name, text in match.groupdict().items() if name.startswith(SHAPED)][:PAIR]
    pair = [tuple(map(int, re.findall(r"\d+", text))) for text in texts]
    return all(SHAPE_RELATIONS[relation](*map(SHAPE_PARTS[part], pair)) for part, relation in shapes)


def normalize(text: str) -> str:
    """Normalize quotes and widths, which chats, editors and versions of Python change; keeps the length."""
    if not text.isascii():  # a table of `translate` takes ten times as long
        text = _WIDE.sub(lambda found: _NARROW[found[0]], text)
    return text.replace('"', "'").replace("`", "'")


@lru_cache(maxsize=4096)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


@lru_cache(maxsize=4096)
def compile_signature_line(text: str, shapes: Shapes = ()) -> SignatureLine:
    """Compile one line; `shapes` apply only if it has two. Raises SignatureSyntaxError."""
    parts = parts_of(normalize(text))
    literals = [part.literal for part in parts if part.literal]
    words = [word for literal in literals for word in literal.split()]
    if not words:
        raise SignatureSyntaxError("has no literal text")
    conditions = tuple(part.condition for part in parts if part.condition)
    return SignatureLine(
        text,
        expression(parts),
        anchor=max(words, key=len).casefold(),
        weight=sum(map(weight_of, literals)),
        conditions=conditions,
        shapes=shapes if sum(part.placeholder == SHAPED for part in parts) >= PAIR else (),
    )


WIDTH = 5
"""Characters of a gram; a shorter literal is a gram of its own."""
_PRIME = 16_777_619
_SHIFT = 14
"""Low bits of a code that the table ignores."""

Codes = NDArray[np.uint32]


class AnchorIndex:
    """Finds which of many literals without white space occur in a text, in time independent of their number.

    Each literal is indexed under the character n-gram that it shares with the fewest others. The n-grams of a text
    select the few literals that may occur in it, and only those are compared.
    """

    def __init__(self, anchors: Iterable[str]) -> None:
        distinct = frozenset(anchors)
        frequency = Counter(gram for anchor in distinct for gram in _grams(anchor, min(WIDTH, len(anchor))))
        buckets: dict[int, dict[int, list[tuple[int, str]]]] = defaultdict(dict)
        for anchor in sorted(distinct):
            width = min(WIDTH, len(anchor))
            rarest = min(_grams(anchor, width), key=lambda gram: (frequency[gram], gram))
            code = int(dict(_codes(rarest, width))[width][0])
            buckets[width].setdefault(code, []).append((anchor.index(rarest), anchor))
        self._by_width = {width: (_table(codes), codes) for width, codes in buckets.items()}

    def find(self, folded: str) -> frozenset[str]:
        """Return the literals that occur in `folded`, a case-folded text of any size."""
        found: set[str] = set()
        # No literal has white space, and a long log repeats its words.
        words = "\n".join(set(folded.split()))
        for width, codes in _codes(words, max(self._by_width, default=0)):
            if width not in self._by_width:
                continue
            table, buckets = self._by_width[width]
            for position in np.flatnonzero(table[codes >> _SHIFT]).tolist():
                for offset, anchor in buckets.get(int(codes[position]), ()):
                    if anchor not in found and words.startswith(anchor, max(0, position - offset)):
                        found.add(anchor)
        return frozenset(found)


def _grams(text: str, width: int) -> set[str]:
    return {text[start : start + width] for start in range(len(text) - width + 1)}


def _codes(text: str, widest: int) -> Iterator[tuple[int, Codes]]:
    """Yield, for each width from 1, the hash of the gram at each position of a text."""
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    codes = np.zeros(len(characters), dtype=np.uint32)
    for start in range(min(widest, len(characters))):
        codes = (codes[: len(characters) - start] ^ characters[start:]) * np.uint32(_PRIME)
        yield start + 1, codes


def _table(codes: Iterable[int]) -> NDArray[np.bool_]:
    """Return a table that says, by the upper bits of a number, whether it may be one of `codes`."""
    table = np.zeros(1 << (32 - _SHIFT), dtype=np.bool_)
    table[np.fromiter(codes, dtype=np.uint32) >> _SHIFT] = True
    return table
