"""The grammar of a signature line: error text with placeholders, to be found within one line of a log.

A line becomes one regular expression whose cost is linear in the text. Every placeholder is bounded, and
a placeholder of open width is matched lazily in an atomic group together with the literal behind it: once
the earliest place for the literal is found, it is never tried again. So the costs of several placeholders
add up instead of multiplying. For text within a line the earliest place is as good as any later one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

_QUOTED = "|".join(
    f"{left}[^{right}\\n]{{0,300}}+{right}" for left, right in ("''", '""', "``", "‘’", "“”", "「」")
)
_NUMBER = r"(?:\d{1,40}+(?:\.\d{1,40}+)?+|\.\d{1,40}+)(?:e[+-]?\d{1,4}+)?+"
_NAME = r"[\w.+:/@$<>-]"

CLOSED = {
    "int": r"[+-]?\d{1,40}+",
    "num": rf"[+-]?(?:{_NUMBER}|nan\b|inf(?:inity)?\b)",
    "hex": r"(?:0x)?[0-9a-f]{1,128}+",
    "size": rf"{_NUMBER}[ \t]?(?:[kmgtp]i?b?\b|b\b|bytes?\b)",
    "shape": r"(?:(?:torch\.size\()?[\[(]{1,2}[-\d ,*x]{0,200}+[\])]{1,3}|\d{1,12}+(?:x\d{1,12}+){1,8}+)",
    "quoted": f"(?:{_QUOTED})",
}
"""Placeholders that know where they end."""

OPEN = {
    "any": (r"[^\n]", 0, 300),
    "path": (r"[^\s\"'`<>|]", 1, 400),
    "addr": (r"[\w.:%\[\]-]", 1, 255),
    "word": (_NAME, 1, 200),
}
"""Placeholders that end where the text behind them starts: characters, fewest, most."""

GENERIC_WORDS = frozenset(
    """
    a an and are as at be by can cannot code could did does error errors exception exceptions exit exited
    expected fail failed failure fatal file for from got has have in info internal invalid is it line most
    recent call last module no none not null object of on or process raise raised rank returned runtime
    self stack status stderr stdout system the this to traceback type unknown value warning was with
    assert assertion assertionerror attributeerror baseexception eoferror filenotfounderror importerror
    indexerror ioerror keyerror modulenotfounderror nameerror notimplementederror oserror runtimeerror
    permissionerror syntaxerror systemerror timeouterror typeerror unboundlocalerror unicodedecodeerror
    valueerror zerodivisionerror jsondecodeerror true false
    """.split()
)
"""Words that any program's log may hold; they make no signature specific."""

SPECIFIC_CHARACTERS = 6
"""How many letters and digits outside `GENERIC_WORDS` make a line specific; a Han character counts three."""

_PIECE = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}|(?P<brace>[{}])|(?P<text>[^{}]+)")
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]")


class SignatureSyntaxError(ValueError):
    """The line is no signature; `message` says why."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class SignatureLine:
    """A compiled line.

    `pattern` is for `search` on a text or a line of it, and never reaches across a line end. `anchor` is the
    longest literal without white space, case-folded: where it is no part of the case-folded text, `pattern`
    finds nothing. `weight` counts the specific characters.
    """

    text: str
    pattern: re.Pattern[str]
    anchor: str
    weight: int

    @property
    def specific(self) -> bool:
        """Whether there is something in it that not every log has."""
        return self.weight >= SPECIFIC_CHARACTERS

    def matches(self, text: str) -> bool:
        """Whether `text`, one line or many, has this line in it."""
        return self.anchor in text.casefold() and self.pattern.search(text) is not None


@dataclass(frozen=True, slots=True)
class _Part:
    """Literal text, or a placeholder by name."""

    literal: str = ""
    placeholder: str = ""


@lru_cache(maxsize=4096)
def compile_signature_line(text: str) -> SignatureLine:
    """The matcher of one line. Raises SignatureSyntaxError."""
    parts = _trim(list(_parts(text)))
    literals = [part.literal for part in parts if part.literal]
    words = [word for literal in literals for word in literal.split()]
    if not words:
        raise SignatureSyntaxError("has no literal text")
    pattern = re.compile(_expression(parts), re.IGNORECASE)
    return SignatureLine(text, pattern, max(words, key=len).casefold(), sum(map(_weight, literals)))


def literal_text(line: str) -> str:
    """What a line says itself: a space for each placeholder, single braces for double ones."""

    def said(piece: re.Match[str]) -> str:
        return " " if piece["name"] is not None else piece["text"] or piece[0][0]

    return _PIECE.sub(said, line)


def _parts(text: str) -> Iterator[_Part]:
    literal = ""
    for match in _PIECE.finditer(text):
        if match["name"] is None:
            if match["brace"]:
                brace = match["brace"]
                raise SignatureSyntaxError(f"has a lone {brace}; write {brace * 2} for a brace")
            literal += match["text"] or match[0][0]
            continue
        if match["name"] not in CLOSED.keys() | OPEN.keys():
            known = ", ".join(f"{{{name}}}" for name in (*CLOSED, *OPEN))
            raise SignatureSyntaxError(f"{match[0]} is none of {known}; write {{{{ and }}}} for braces")
        if literal:
            yield _Part(literal=literal)
        literal = ""
        yield _Part(placeholder=match["name"])
    if literal:
        yield _Part(literal=literal)


def _trim(parts: list[_Part]) -> list[_Part]:
    """Without `{any}` at the ends, where it says nothing. Two open placeholders in a row are refused."""
    for one, other in pairwise(parts):
        if one.placeholder in OPEN and other.placeholder in OPEN:
            both = f"{{{one.placeholder}}}{{{other.placeholder}}}"
            raise SignatureSyntaxError(f"{both}: nothing tells where one ends and the other starts")
    while parts and parts[0].placeholder == "any":
        parts = parts[1:]
    while parts and parts[-1].placeholder == "any":
        parts = parts[:-1]
    return parts


def _expression(parts: list[_Part]) -> str:
    """Atomic groups, each an open placeholder with everything up to the next one."""
    groups: list[str] = []
    tail = ""
    for index, part in reversed(list(enumerate(parts))):
        if part.placeholder in OPEN:
            characters, fewest, most = OPEN[part.placeholder]
            if index == 0:
                # At the start one character is as good as many: what stands before it is not looked at.
                groups.append(characters + tail)
            elif not tail:
                groups.append(f"{characters}{{{fewest},{most}}}+")
            else:
                groups.append(f"(?>{characters}{{{fewest},{most}}}?{tail})")
            tail = ""
        else:
            tail = (CLOSED[part.placeholder] if part.placeholder else _literal(part.literal)) + tail
    return tail + "".join(reversed(groups))


def _literal(text: str) -> str:
    """White space runs are equal; their length is bounded so that no run is walked again and again."""
    escaped = (re.escape(word) for word in re.split(r"\s+", text))
    return r"[^\S\n]{1,40}+".join(escaped)


def _weight(literal: str) -> int:
    words = (word for word in _WORD.findall(literal.casefold()) if word not in GENERIC_WORDS)
    return sum(3 if word > "\u3000" else len(word) for word in words)
