"""Edits an edition's file in place, keeping everything else byte for byte."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from jieda.content.authoring.edition_text import format_list, quote
from jieda.content.authoring.writing import Rewrite, carry_out
from jieda.content.read.corpus import Corpus, Editions, Outline
from jieda.content.read.forms import FIELDS
from jieda.content.read.yaml_reader import Fields, Items, Node, Scalar, YamlError, read_fields
from jieda.errors import AuthoringError

_MARK = b"\xef\xbb\xbf"
"""The byte order mark that some editors put in front of UTF-8."""
FIRST_LINE = 2
"""Number of the front matter's first line in its file."""
_LINE_END = r"(?:\r\n|\n|\r)"
_FILE = re.compile(
    rf"(?P<opening>---[ \t]*{_LINE_END})(?P<front>.*?)(?<=[\r\n])(?P<closing>---[ \t]*(?:{_LINE_END}|\Z))",
    re.DOTALL,
)
# Line ends as YAML defines them.
_LINES = re.compile(r"[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029])")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file split into parts, which concatenated are the file again. Line ends are kept."""

    mark: bytes
    opening: str
    front: str
    closing: str
    body: str

    @classmethod
    def of(cls, content: bytes) -> "SourceText":
        """Raises AuthoringError if the content is not UTF-8 or has no front matter."""
        mark = _MARK if content.startswith(_MARK) else b""
        try:
            text = content[len(mark) :].decode("utf-8")
        except UnicodeDecodeError as error:
            raise AuthoringError("is not UTF-8") from error
        match = _FILE.match(text)
        if not match:
            raise AuthoringError("has no front matter between two lines of `---`")
        return cls(mark, match["opening"], match["front"], match["closing"], text[match.end() :])

    @property
    def content(self) -> bytes:
        """Bytes of the whole file."""
        return self.mark + f"{self.opening}{self.front}{self.closing}{self.body}".encode()

    @property
    def line_end(self) -> str:
        return self.opening.lstrip("-").lstrip(" \t")

    @property
    def body_line(self) -> int:
        return len(_LINES.findall(self.opening + self.front + self.closing)) + 1

    @property
    def front_lines(self) -> list[str]:
        """Lines of the front matter, each with its line end."""
        return _LINES.findall(self.front)

    def fields(self) -> Fields:
        """Parse the front matter. Raises AuthoringError if it is not in the supported subset of YAML."""
        try:
            return read_fields(self.front, first_line=FIRST_LINE)
        except YamlError as error:
            raise AuthoringError(f"line {error.line}: {error.message}") from error

    def span(self, key: str) -> tuple[int, int]:
        """Return the range of a field's lines, from 0, without blank lines and comments before the next field; an
        empty range after the last line if it is missing. Raises AuthoringError as `fields` does."""
        lines, starts = self.front_lines, self.fields().key_lines
        if key not in starts:
            return len(lines), len(lines)
        first = starts[key] - FIRST_LINE
        last = min([*(line - FIRST_LINE for line in starts.values() if line > starts[key]), len(lines)])
        while last > first + 1 and _is_aside(lines[last - 1]):
            last -= 1
        return first, last

    def with_lines(self, first: int, last: int, written: str) -> "SourceText":
        """Return a copy with the lines from `first` up to `last` replaced."""
        lines = self.front_lines
        return replace(self, front="".join([*lines[:first], written, *lines[last:]]))

    def with_values(self, values: Iterable[tuple[Scalar, str]]) -> "SourceText":
        """Return a copy with some values of the front matter replaced, in the same quotes."""
        front = self.front
        for old, new in sorted(values, key=lambda pair: -pair[0].start):
            quote = front[old.start] if old.quoted else ""
            front = f"{front[: old.start]}{quote}{new}{quote}{front[old.end :]}"
        return replace(self, front=front)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The text of a front matter by field: the lines of each with the comment right above it. `head` is the text before
    the first field and its comment, `tail` comments after the last."""

    head: str
    fields: Mapping[str, str]
    tail: str

    @classmethod
    def of(cls, source: SourceText) -> "Blocks":
        """Raises AuthoringError as `SourceText.fields` does, and if two fields share a line."""
        lines = source.front_lines
        starts = source.fields().key_lines
        firsts = [_comment_above(lines, line - FIRST_LINE) for line in starts.values()]
        if len(set(starts.values())) < len(starts):
            raise AuthoringError("two fields share a line: give each its own")
        end = len(lines)
        while end > max(starts.values(), default=1) - 1 and _is_aside(lines[end - 1]):
            end -= 1
        bounds = zip(starts, firsts, [*firsts[1:], end], strict=True)
        texts = {name: "".join(lines[first:last]) for name, first, last in bounds}
        head = lines[: firsts[0]] if firsts else []
        return cls("".join(head), texts, "".join(lines[end:]))

    def text(self, order: Iterable[str]) -> str:
        """Return the front matter with its fields in the given order."""
        return "".join((self.head, *(self.fields[name] for name in order), self.tail))


def canonical_order(names: Iterable[str]) -> list[str]:
    """Sort names of fields as docs/content-format.md lists them; unknown ones last, in their order."""
    places = {row.name: number for number, row in enumerate(FIELDS)}
    return sorted(names, key=lambda name: places.get(name, len(places)))


def plain_values(node: Node) -> object:
    """Return a node's values without their positions, for comparison."""
    if isinstance(node, Scalar):
        return node.text, node.quoted
    if isinstance(node, Items):
        return tuple(map(plain_values, node.items))
    return {name: plain_values(value) for name, value in node.values.items()}


def _comment_above(lines: list[str], first: int) -> int:
    indent = len(lines[first]) - len(lines[first].lstrip())
    while first and re.match(rf" {{0,{indent}}}#", lines[first - 1]):
        first -= 1
    return first


def _is_aside(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def in_canonical_order(content: bytes) -> bytes:
    """Return the file with its fields in canonical order, each with its comments, quotes and line ends.

    Raises AuthoringError if the front matter cannot be read, or cannot be reordered line by line: nothing is guessed,
    and its values are compared before and after.
    """
    source = SourceText.of(content)
    fields = source.fields()
    order = canonical_order(fields.values)
    if order == list(fields.values):
        return content
    changed = replace(source, front=Blocks.of(source).text(order))
    if not _has_same_values(source, changed):
        raise AuthoringError("the front matter cannot be put in order line by line: do it by hand")
    return changed.content


def _has_same_values(one: SourceText, other: SourceText) -> bool:
    try:
        return plain_values(one.fields()) == plain_values(SourceText.of(other.content).fields())
    except AuthoringError:
        return False


_ITEM = re.compile(r"([ \t]*-[ \t]+)\S")
_BARE = re.compile(r"[A-Za-z][\w.-]*")


def values_of(text: str, key: str) -> tuple[str, ...]:
    """Return the value or values of a field of an edition; none if it cannot be read."""
    try:
        node = SourceText.of(text.encode()).fields().values.get(key)
    except AuthoringError:
        return ()
    items = node.items if isinstance(node, Items) else (node,)
    return tuple(item.text for item in items if isinstance(item, Scalar) and item.text)


def with_list(text: str, key: str, values: tuple[str, ...], after: str) -> str:
    """Return the edition with the list `key` set to these values, quoted unless they are bare names. A missing field
    is inserted after the field `after`. Raises AuthoringError if the front matter cannot be read."""
    if all(_BARE.fullmatch(value) for value in values):
        return _with_field(text, key, f"{key}: [{', '.join(values)}]\n", after)
    return _with_field(text, key, format_list(key, values), after)


def with_item(text: str, key: str, value: str, after: str) -> str:
    """Return the edition with a value appended to the list `key`, as in `with_list`. If each item is on its own line,
    the existing ones stay as they are written."""
    source = SourceText.of(text.encode())
    first, last = source.span(key)
    lines = source.front_lines
    item = _ITEM.match(lines[last - 1]) if first + 1 < last else None
    if item:
        return source.with_lines(last, last, f"{item[1]}{quote(value)}\n").content.decode()
    return with_list(text, key, (*values_of(text, key), value), after)


def with_value(text: str, key: str, value: str, after: str) -> str:
    """Return the edition with the field `key` set to this value, as in `with_list`."""
    shown = value if _BARE.fullmatch(value) else quote(value)
    return _with_field(text, key, f"{key}: {shown}\n", after)


def _with_field(text: str, key: str, written: str, after: str) -> str:
    source = SourceText.of(text.encode())
    if key in source.fields().key_lines:
        first, last = source.span(key)
    else:
        first = last = source.span(after)[1]
    return source.with_lines(first, last, written).content.decode()


def sync_twins(corpus: Corpus, ids: Iterable[str]) -> tuple[Path, ...]:
    """Stamp both editions of each entry as in sync; return the files that changed. Raises AuthoringError, before
    anything is written, for an id that is not an entry or has one edition only."""
    twins = [_require_twins(corpus, entry_id) for entry_id in ids]
    stamped = {
        file.path: _stamp_file(file, editions[lang.other].digest)
        for editions in twins
        for lang, file in editions.items()
        if file.front.synced_with != editions[lang.other].digest
    }
    # Rewrites keep the file time, which may decide which twin is the newer: only the stamp changes, not the text.
    carry_out([Rewrite(path.resolve(), content) for path, content in stamped.items()])
    return tuple(stamped)


def twin_ids(corpus: Corpus) -> tuple[str, ...]:
    """Return the ids of entries that have both editions."""
    return tuple(entry_id for entry_id, editions in corpus.by_id.items() if len(editions) == 2)


def _require_twins(corpus: Corpus, entry_id: str) -> Editions:
    editions = corpus.by_id.get(entry_id)
    if editions is None:
        raise AuthoringError(f"{entry_id} is not an entry that can be read; see `jieda check`")
    if len(editions) < 2:
        raise AuthoringError(f"{entry_id} has one edition only: {next(iter(editions.values())).path}")
    return editions


def _stamp_file(file: Outline, digest: str) -> bytes:
    try:
        return with_stamp(file.path.read_bytes(), digest)
    except AuthoringError as error:
        raise AuthoringError(f"{file.path}: {error}") from error


def with_stamp(content: bytes, digest: str) -> bytes:
    """Return the edition with `synced_with` set, in place or at the end of the front matter. Raises AuthoringError."""
    source = SourceText.of(content)
    stamp = f"synced_with: '{digest}'{source.line_end}"
    return source.with_lines(*source.span("synced_with"), stamp).content
