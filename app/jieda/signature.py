"""The grammar of the patterns of lines and paths in the content: text with placeholders.

Signatures, families, prefixes and the names of folders use it; they differ only in their placeholders. A line becomes
one regular expression whose cost is linear in the text. Every placeholder is bounded, and a placeholder of open width
is matched lazily in an atomic group together with the literal after it: once the earliest match of the literal is
found, no other is tried. So the costs of several placeholders add up instead of multiplying. For text within a line the
earliest match is as good as any later one.
"""

import math
import operator
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from jieda.han import HAN, is_han

_QUOTED = "|".join(
    f"{left}[^{right}\\n]{{0,300}}+{right}" for left, right in ("''", '""', "``", "‘’", "“”", "「」")
)
_NUMBER = r"(?:\d{1,40}+(?:\.\d{1,40}+)?+|\.\d{1,40}+)(?:e[+-]?\d{1,4}+)?+"
_NAME = r"[\w.+:/@$<>-]"


@dataclass(frozen=True, slots=True)
class Grammar:
    """Placeholders by name. Those of `closed` are complete patterns; those of `open` end where the text after them
    starts: characters, fewest, most.

    `whole`: a line is matched from its start, so that an open placeholder there has its whole width. `compares`: a
    number may have a condition, `{num>1000}`.
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
"""The text before the message of a log line; the caller that compiles it fills in the words of `level`."""

REMOTE = Grammar(
    {"int": r"\d{1,10}+", "exception": r"(\w{1,80}+)"}, {"word": (r"[\w.<>]", 1, 160)}, whole=True
)
"""The beginning of a traceback from another process; the last group is its exception."""

REPEATS = Grammar({"int": r"(\d{1,9}+)"}, {})
"""The count of a repeated line, in the last group."""

FOLDERS = Grammar({}, {"any": (r"[^/]", 0, 200)}, whole=True)
"""Names of folders, as `folder_line` writes them."""

GENERIC_WORDS = frozenset(
    """
    a an and are as at be by caller can cannot code could did does error errors exception exceptions exit exited
    expected fail failed failure fatal file for from got has have in info internal invalid is it level line logger
    lvl message most msg recent call last module no none not null object of on or process raise raised rank
    returned runtime self severity stack status stderr stdout system the this time timestamp to traceback ts type
    unknown value warning was with assert assertion assertionerror attributeerror baseexception eoferror
    filenotfounderror importerror indexerror ioerror keyerror modulenotfounderror nameerror notimplementederror
    oserror runtimeerror permissionerror syntaxerror systemerror timeouterror typeerror unboundlocalerror
    unicodedecodeerror valueerror zerodivisionerror jsondecodeerror connectionrefusederror true false
    """.split()
)
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

    def said(piece: re.Match[str]) -> str:
        return " " if piece["name"] is not None else piece["text"] or piece[0][0]

    return _PIECE.sub(said, line)


def folder_line(folder: str) -> str:
    """Return a folder's name, in which `*` is any run of characters, as a line of the grammar."""
    return folder.replace("{", "{{").replace("}", "}}").replace("*", "{any}")


def parts_of(line: str, grammar: Grammar = SIGNATURES) -> Sequence[Part]:
    """Return the parts of a line with normalized quotes and widths. Raises SignatureSyntaxError."""
    parts = list(_pieces(line, grammar))
    for one, other in pairwise(parts):
        if one.placeholder in grammar.open and other.placeholder in grammar.open:
            both = f"{{{one.placeholder}}}{{{other.placeholder}}}"
            raise SignatureSyntaxError(f"{both}: nothing tells where one ends and the other starts")
    return parts if grammar.whole else _trimmed(parts)


def _pieces(text: str, grammar: Grammar) -> Iterator[Part]:
    literal = ""
    for match in _PIECE.finditer(text):
        if match["name"] is None:
            if brace := match["brace"]:
                raise SignatureSyntaxError(f"has a lone {brace}; write {brace * 2} for a brace")
            literal += match["text"] or match[0][0]
            continue
        asked = _CONDITION.fullmatch(match["name"]) if grammar.compares else None
        name = asked["name"] if asked else match["name"]
        if name not in grammar.closed.keys() | grammar.open.keys():
            known = ", ".join(f"{{{name}}}" for name in (*grammar.closed, *grammar.open)) or "none"
            raise SignatureSyntaxError(f"{match[0]} is not one of {known}; write {{{{ and }}}} for braces")
        if literal:
            yield Part(literal=literal)
        literal = ""
        yield Part(placeholder=name, condition=(asked["sign"], float(asked["limit"])) if asked else None)
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
    """Return the regular expression of a line: atomic groups, each an open placeholder with everything up to the next.
    `end` is the pattern of the text that has to follow."""
    # From the end: `groups` are those after the part, `tail` the closed patterns between it and the first of them.
    groups, tail = "", end
    conditions = sum(part.condition is not None for part in parts)
    for index, part in reversed(list(enumerate(parts))):
        if part.placeholder in grammar.open:
            characters, fewest, most = grammar.open[part.placeholder]
            if index == 0 and not grammar.whole:
                # At the start one character is as good as many, as the text before it does not matter.
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
    """Return the pattern of a literal. Runs of white space are equal, and bounded so that no run is scanned again and
    again."""
    escaped = (re.escape(word) for word in re.split(r"\s+", text))
    return r"[^\S\n]{1,40}+".join(escaped)


def weight_of(literal: str) -> int:
    """Count the specific characters of a literal."""
    words = (word for word in _WORD.findall(literal.casefold()) if word not in GENERIC_WORDS)
    return sum(3 if is_han(word) else len(word) for word in words)


SPECIFIC_CHARACTERS = 6
"""Letters and digits outside `GENERIC_WORDS` that make a line specific; a Han character counts three."""

LONGEST_SURE = 400
"""Longest signature line that is always found; a longer one is missed where a log line is cut into pieces."""

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
"""Most matches of a line whose numbers are compared before it counts as not found."""
_NORMAL = str.maketrans(
    dict.fromkeys('"`‘’“”', "'") | {"\u00a0": " "} | {chr(n + 0xFEE0): chr(n) for n in range(0x21, 0x7F)}
)


@dataclass(frozen=True, slots=True)
class SignatureLine:
    """A compiled line.

    `pattern` is for `search` on a text or a line of it, and never matches across a line end; it is compiled on demand,
    since few of thousands are ever needed. `anchor` is the longest literal without white space, case-folded: if the
    case-folded text lacks it, `pattern` cannot match. `weight` counts the specific characters. `conditions` apply to
    the numbers in the groups `condition0`, `condition1`, … of the pattern, `shapes` to its first two shapes (see
    `Signature`).
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
        found = zip(range(MOST_TRIED), self.pattern.finditer(text, start, end), strict=False)
        return next((each for _, each in found if self._holds(each)), None)

    def _holds(self, found: re.Match[str]) -> bool:
        numbers = [float(found[f"{CONDITIONED}{number}"]) for number in range(len(self.conditions))]
        pairs = zip(numbers, self.conditions, strict=True)
        return _are_shaped(found, self.shapes) and all(
            math.isfinite(number) and COMPARISONS[sign](number, limit) for number, (sign, limit) in pairs
        )


def _are_shaped(found: re.Match[str], shapes: Shapes) -> bool:
    shaped = [shape for name, shape in found.groupdict().items() if name[:5] == SHAPED][:PAIR]
    given = [tuple(map(int, re.findall(r"\d+", shape))) for shape in shaped]
    return not shapes or all(
        SHAPE_RELATIONS[relation](*map(SHAPE_PARTS[part], given)) for part, relation in shapes
    )


def normalize(text: str) -> str:
    """Normalize quotes and widths, which chats, editors and versions of Python change; the length stays."""
    return text.translate(_NORMAL)


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
        shapes=shapes if text.count("{shape}") >= PAIR else (),
    )


WIDTH = 5
"""Characters of a gram; a shorter literal is its own gram."""
_PRIME = 16_777_619
_SHIFT = 14
"""Low bits of a code that the table ignores."""

Codes = NDArray[np.uint32]


class AnchorIndex:
    """Finds which of many literals without white space occur in a text, in time that does not grow with their number.

    Every literal is indexed under its character n-gram that the fewest literals share. The n-grams of a text select the
    few literals that may occur in it, and only those are compared.
    """

    def __init__(self, anchors: Iterable[str]) -> None:
        known = frozenset(anchors)
        shared = Counter(gram for anchor in known for gram in _grams(anchor, min(WIDTH, len(anchor))))
        filed: dict[int, dict[int, list[tuple[int, str]]]] = defaultdict(dict)
        for anchor in sorted(known):
            width = min(WIDTH, len(anchor))
            rarest = min(_grams(anchor, width), key=lambda gram: (shared[gram], gram))
            code = int(dict(_codes(rarest, width))[width][0])
            filed[width].setdefault(code, []).append((anchor.index(rarest), anchor))
        self._filed = {width: (_table(codes), codes) for width, codes in filed.items()}

    def find(self, folded: str) -> frozenset[str]:
        """Return the literals that occur in `folded`, a case-folded text of any size."""
        found: set[str] = set()
        # No literal has white space, and a long log repeats its words.
        words = "\n".join(set(folded.split()))
        for width, codes in _codes(words, max(self._filed, default=0)):
            if width not in self._filed:
                continue
            table, filed = self._filed[width]
            for place in np.flatnonzero(table[codes >> _SHIFT]).tolist():
                for offset, anchor in filed.get(int(codes[place]), ()):
                    if anchor not in found and words.startswith(anchor, max(0, place - offset)):
                        found.add(anchor)
        return frozenset(found)


def _grams(text: str, width: int) -> set[str]:
    return {text[start : start + width] for start in range(len(text) - width + 1)}


def _codes(text: str, widest: int) -> Iterator[tuple[int, Codes]]:
    """Yield for each width from 1 the hash of the gram at each place of a text."""
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    codes = np.zeros(len(characters), dtype=np.uint32)
    for start in range(min(widest, len(characters))):
        codes = (codes[: len(characters) - start] ^ characters[start:]) * np.uint32(_PRIME)
        yield start + 1, codes


def _table(codes: Iterable[int]) -> NDArray[np.bool_]:
    """Return a table that says by the upper bits of a number whether it may be one of `codes`."""
    table = np.zeros(1 << (32 - _SHIFT), dtype=np.bool_)
    table[np.fromiter(codes, dtype=np.uint32) >> _SHIFT] = True
    return table
