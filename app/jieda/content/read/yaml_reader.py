"""Reads a subset of YAML: no tags, no aliases, no duplicate keys, limited nesting. No other module parses YAML.

Values keep their text and line, and are not converted here: the caller decides whether `on` is a word or a switch. Only
PyYAML's events are used, never its constructors.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import yaml

from jieda.entry import NO_TEXT

MAX_DEPTH = 8
"""Maximum nesting of lists and mappings; the formats need four."""

MAX_KEY_CHARS = 200
REMEDY = "indent with spaces, and quote values that contain `: `, quotes or brackets"
"""Advice that fixes nearly every text that the parser refuses; its own messages only describe its state."""
NO_LIST = "must be a list, with `- ` before each item"
CONFLICT = "a merge conflict starts here: keep one of the versions, without the marks of git"

_SPACED = dict.fromkeys((0x2028, 0x2029), " ")
"""Characters that end a line for YAML and for no editor; pasted from a web page, they would cut a value."""
_COMMENT = re.compile(r"[ \t]+#")
_FULL_WIDTH = re.compile(r"^[ -]*[a-z_]+(?:(：)|: *([［｛]))|(，) *[a-z_]+[:：]", re.MULTILINE)
"""A full-width character, typed with a Chinese keyboard, in the place of an ASCII one that YAML needs."""


class YamlError(ValueError):
    """Raised if a text is not YAML, or not in the supported subset, or a value does not suit its key. `line` counts
    from the first line of the file."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message

    def within(self, key: str) -> "YamlError":
        """Return this error as an error of the value of `key`, unless it already names a key."""
        return self if self.message.startswith("`") else YamlError(self.line, f"`{key}` {self.message}")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value, as written. `start` and `end`: its offsets in the text, quotes included. Nodes with equal values
    are equal, wherever they are."""

    text: str
    quoted: bool
    line: int = field(compare=False)
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    commented: bool = field(default=False, compare=False)
    """Whether a comment follows on its line, which may have been meant as the rest of the value."""

    @property
    def looks_like(self) -> str:
        """The type that another YAML reader would see: `text`, `switch`, `number`, `date` or `nothing`."""
        if self.quoted:
            return "text"
        return next((name for name, form in _PLAIN_FORMS if form.fullmatch(self.text)), "text")


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple["Node", ...]
    line: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping. `line` is the line it starts on; `key_lines` has the line of each key."""

    values: dict[str, "Node"]
    key_lines: dict[str, int] = field(compare=False)
    line: int = field(compare=False)


Node = Scalar | Items | Fields

_PLAIN_FORMS = (
    ("nothing", re.compile(r"~|null|Null|NULL|")),
    ("switch", re.compile(r"(?i:yes|no|true|false|on|off)")),
    ("date", re.compile(r"\d{4}-\d{1,2}-\d{1,2}([Tt ].*)?")),
    (
        "number",
        re.compile(
            r"[-+]?(0x[0-9a-fA-F_]+|0o?[0-7_]+|0b[01_]+|\d[\d_]*(\.[\d_]*)?([eE][-+]?\d+)?"
            r"|\.\d[\d_]*([eE][-+]?\d+)?|\d+(:[0-5]?\d)+(\.\d*)?|\.(inf|Inf|INF))|\.(nan|NaN|NAN)"
        ),
    ),
)


def read_fields(text: str, first_line: int = 1) -> Fields:
    """Parse `text` as a mapping. An empty text is an empty mapping. `first_line` is the line of the file that `text`
    starts on. Raises YamlError."""
    node = _read(text, first_line)
    if not isinstance(node, Fields):
        raise _width_error(text, first_line) or YamlError(node.line, "must be made of `key: value` lines")
    return node


def read_items(text: str) -> Items:
    """Parse `text` as a list. An empty text is an empty list. Raises YamlError."""
    node = _read(text, first_line=1)
    if isinstance(node, Fields) and not node.values:
        return Items((), node.line)
    if not isinstance(node, Items):
        raise YamlError(node.line, NO_LIST)
    return node


def _read(text: str, first_line: int) -> Node:
    try:
        events = yaml.parse(text.translate(_SPACED), Loader=yaml.CSafeLoader)
        return _document(_Reader(events, first_line, text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # At the end of the text the parser may report the line after it.
        last = text.rstrip().count("\n")
        line = first_line + (min(int(mark.line), last) if mark else 0)
        general = YamlError(line, f"{error.problem or 'is not YAML'}: {REMEDY}")
        conflicts = [YamlError(first_line - 1 + number, CONFLICT) for number in conflict_lines(text)]
        raise next(iter(conflicts), None) or _width_error(text, first_line) or general from error
    except yaml.YAMLError as error:
        # YAML forbids a character. The error has only an offset, but its message shows the character.
        raise YamlError(first_line, str(error).splitlines()[0]) from error


def conflict_lines(text: str) -> tuple[int, ...]:
    """Return the lines, from 1, on which git marks the beginning of a merge conflict."""
    return tuple(number for number, line in enumerate(text.split("\n"), 1) if line.startswith("<<<<<<< "))


def _width_error(text: str, first_line: int) -> YamlError | None:
    """Return the error for a refused text if it has a full-width character; otherwise None."""
    if not (match := _FULL_WIDTH.search(text)):
        return None
    return _character_error(match, first_line + text.count("\n", 0, match.end()))


def full_width_beside(keys: Iterable[str], node: Node) -> YamlError | None:
    """Return the error for a refused mapping if a full-width character is next to one of the `keys` that it may have,
    as in `{title: a，url：b}`, which has one key; otherwise None."""
    parts = [*node.values, *node.values.values()] if isinstance(node, Fields) else [node]
    text = "\n".join(
        getattr(part, "text", str(part)) for part in parts if not isinstance(part, Items | Fields)
    )
    names = "|".join(keys)
    match = re.search(rf"([｛，]) *(?:{names})\b|\b(?:{names}) *(：)", text)
    return match and _character_error(match, node.line)


def _character_error(match: re.Match[str], line: int) -> YamlError:
    character = next(filter(None, match.groups()))
    return YamlError(line, f"`{character}` is full-width: write `{unicodedata.normalize('NFKC', character)}`")


class _Reader:
    """The events of a document, with line numbers of its file."""

    def __init__(self, events: Iterator[yaml.Event], first_line: int, text: str) -> None:
        self._events = events
        self._first_line = first_line
        self.text = text

    def next(self) -> yaml.Event:
        return next(self._events)

    def line(self, event: yaml.Event) -> int:
        mark = event.start_mark
        return self._first_line + (int(mark.line) if mark else 0)


def _document(reader: _Reader) -> Node:
    reader.next()
    event = reader.next()
    if isinstance(event, yaml.StreamEndEvent):
        return Fields({}, {}, reader.line(event))
    node = _node(reader, reader.next(), depth=0)
    reader.next()
    extra = reader.next()
    if not isinstance(extra, yaml.StreamEndEvent):
        raise YamlError(reader.line(extra), "must be one document; `---` starts another")
    return node


def _node(reader: _Reader, event: yaml.Event, depth: int) -> Node:
    line = reader.line(event)
    if isinstance(event, yaml.AliasEvent):
        raise YamlError(line, f"aliases such as *{event.anchor} are not read: write the value out")
    if depth > MAX_DEPTH:
        raise YamlError(line, f"is nested more than {MAX_DEPTH} deep")
    tag = getattr(event, "tag", None)
    if tag not in {None, "!"}:
        raise YamlError(line, f"tags such as {tag} are not read")
    if isinstance(event, yaml.ScalarEvent):
        if control := NO_TEXT.search(event.value):
            raise YamlError(line, f"has a control character, {control[0]!r}")
        start, end = (mark.index if mark else 0 for mark in (event.start_mark, event.end_mark))
        commented = not event.style and _COMMENT.match(reader.text, end) is not None
        return Scalar(event.value, bool(event.style), line, start, end, commented)
    if isinstance(event, yaml.SequenceStartEvent):
        return Items(tuple(_items(reader, depth)), line)
    return _fields(reader, line, depth)


def _items(reader: _Reader, depth: int) -> Iterator[Node]:
    while not isinstance(event := reader.next(), yaml.SequenceEndEvent):
        yield _node(reader, event, depth + 1)


def _fields(reader: _Reader, line: int, depth: int) -> Fields:
    values: dict[str, Node] = {}
    key_lines: dict[str, int] = {}
    while not isinstance(event := reader.next(), yaml.MappingEndEvent):
        key = _node(reader, event, depth + 1)
        if not isinstance(key, Scalar) or len(key.text) > MAX_KEY_CHARS:
            raise YamlError(key.line, "a key must be a short text")
        if key.text in values:
            first = key_lines[key.text]
            raise YamlError(key.line, f"key {key.text!r} appears twice, first in line {first}")
        values[key.text] = _node(reader, reader.next(), depth + 1)
        key_lines[key.text] = key.line
    return Fields(values, key_lines, line)
