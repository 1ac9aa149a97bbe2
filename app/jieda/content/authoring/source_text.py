"""Edits an edition's file in place, keeping everything else byte for byte."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from jieda.content.authoring.edition_text import format_list, quote
from jieda.content.authoring.writing import Rewrite, carry_out
from jieda.content.read.corpus import Corpus, Editions, Outline
from jieda.content.read.forms import FIELDS
from jieda.content.read.yaml_reader import Fields, Items, Scalar, YamlError, read_fields
from jieda.errors import AuthoringError

FIRST_LINE = 2
"""Line of the file that the front matter starts on."""
_LINE_END = r"(?:\r\n|\n|\r)"
_FILE = re.compile(
    rf"(?P<opening>---[ \t]*{_LINE_END})(?P<front>.*?)(?<=[\r\n])(?P<closing>---[ \t]*(?:{_LINE_END}|\Z))",
    re.DOTALL,
)
# Line ends as YAML defines them.
_LINES = re.compile(r"[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029])")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file split into parts that, joined, are the file again. `mark`: a byte order mark, or empty."""

    mark: bytes
    opening: str
    front: str
    closing: str
    body: str

    @classmethod
    def of(cls, content: bytes) -> "SourceText":
        """Split a file. Raises AuthoringError if the content is not UTF-8 or has no front matter."""
        # Some editors write a byte order mark.
        mark = BOM_UTF8 if content.startswith(BOM_UTF8) else b""
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
        return self.mark + f"{self.opening}{self.front}{self.closing}{self.body}".encode()

    @property
    def line_end(self) -> str:
        return self.opening.lstrip("-").lstrip(" \t")

    @property
    def body_line(self) -> int:
        return len(_LINES.findall(self.opening + self.front + self.closing)) + 1

    @property
    def front_lines(self) -> list[str]:
        return _LINES.findall(self.front)

    def fields(self) -> Fields:
        """Parse the front matter. Raises AuthoringError if it is not in the supported subset of YAML."""
        try:
            return read_fields(self.front, first_line=FIRST_LINE)
        except YamlError as error:
            raise AuthoringError(f"line {error.line}: {error.message}") from error

    def scalars(self, key: str) -> tuple[Scalar, ...]:
        """Return the values of a field: one, or those of a list. Raises AuthoringError as `fields` does."""
        node = self.fields().values.get(key)
        items = node.items if isinstance(node, Items) else (node,)
        return tuple(item for item in items if isinstance(item, Scalar))

    def with_values(self, values: Iterable[tuple[Scalar, str]]) -> "SourceText":
        """Return a copy with some values of the front matter replaced, quoted as before."""
        front = self.front
        for old, new in sorted(values, key=lambda pair: -pair[0].start):
            quote = front[old.start] if old.quoted else ""
            front = f"{front[: old.start]}{quote}{new}{quote}{front[old.end :]}"
        return replace(self, front=front)

    def with_field(self, key: str, text: str) -> "SourceText":
        """Return a copy with the lines of a field replaced, or inserted after the fields that precede it in canonical
        order. Comments around it stay. Raises AuthoringError as `fields` does, or if other values would change."""
        lines, before = self.front_lines, self.fields()
        starts = before.key_lines
        if key in starts:
            first, end = _line_range(key, starts, lines)
        else:
            order = canonical_order([*starts, key])
            ends = (_line_range(name, starts, lines)[1] for name in order[: order.index(key)])
            first = end = max(ends, default=len(lines))
        changed = replace(self, front="".join([*lines[:first], text, *lines[end:]]))
        with suppress(AuthoringError):
            if changed.fields().values | {key: None} == before.values | {key: None}:
                return changed
        raise AuthoringError(f"`{key}` must be on lines of its own, none of them indented: do it by hand")

    def with_item(self, key: str, item: str) -> "SourceText":
        """Return a copy with an item added to a list, in the style of its last one. Raises AuthoringError."""
        front, last = self.front, next(reversed(self.scalars(key)), None)
        if last is None or not isinstance(self.fields().values[key], Items):
            return self.with_field(key, f"{key}:{self.line_end}  - {item}{self.line_end}")
        start = max(front.rfind(end, 0, last.start) for end in "\r\n") + 1
        if front[start : last.start].strip() == "-":
            # A folded text ends at the start of the next field's line.
            stop = len(front[: last.end].rstrip())
            end = next(match.start() for match in re.compile(r"[\r\n]").finditer(front, stop))
            return replace(
                self, front=f"{front[:end]}{self.line_end}{front[start : last.start]}{item}{front[end:]}"
            )
        return replace(self, front=f"{front[: last.end]}, {item}{front[last.end :]}")


def _line_range(key: str, starts: Mapping[str, int], lines: Sequence[str]) -> tuple[int, int]:
    """Return the range of a field's lines, from 0, without blank lines and comments before the next field."""
    first = starts[key] - FIRST_LINE
    end = min([*(line - FIRST_LINE for line in starts.values() if line > starts[key]), len(lines)])
    while end > first + 1 and _is_blank_or_comment(lines[end - 1]):
        end -= 1
    return first, end


def canonical_order(names: Iterable[str]) -> list[str]:
    """Sort names of fields as in docs/content-format.md; unknown ones come last, in their order."""
    ranks = {name: rank for rank, name in enumerate(FIELDS)}
    return sorted(names, key=lambda name: ranks.get(name, len(ranks)))


def _is_blank_or_comment(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def in_canonical_order(content: bytes) -> bytes:
    """Return the file with its fields in canonical order, each with its comments, quotes and line ends. Raises
    AuthoringError if the front matter cannot be read, or if reordering its lines would change its values."""
    source = SourceText.of(content)
    fields = source.fields()
    order = canonical_order(fields.values)
    if order == list(fields.values):
        return content
    if len(set(fields.key_lines.values())) < len(fields.key_lines):
        raise AuthoringError("two fields share a line: give each its own")
    changed = replace(source, front=_front_in_order(source.front_lines, fields.key_lines, order))
    with suppress(AuthoringError):
        if SourceText.of(changed.content).fields() == fields:
            return changed.content
    raise AuthoringError("the front matter cannot be put in order line by line: do it by hand")


def _front_in_order(lines: Sequence[str], starts: Mapping[str, int], order: Iterable[str]) -> str:
    """Return the front matter with its fields in this order, each with the comment right above it. Lines before the
    first field's comment and after the last field stay where they are."""
    block_starts = []
    for line in starts.values():
        start = line - FIRST_LINE
        while start and lines[start - 1].startswith("#"):
            start -= 1
        block_starts.append(start)
    end = len(lines)
    while _is_blank_or_comment(lines[end - 1]):
        end -= 1
    blocks = dict(zip(starts, pairwise([*block_starts, end]), strict=True))
    ranges = [(0, block_starts[0]), *(blocks[name] for name in order), (end, len(lines))]
    return "".join(line for start, stop in ranges for line in lines[start:stop])


_BARE = re.compile(r"[A-Za-z][\w.-]*")


def values_of(text: str, key: str) -> tuple[str, ...]:
    """Return the non-empty values of an edition's field; none if the front matter cannot be read."""
    try:
        return tuple(item.text for item in SourceText.of(text.encode()).scalars(key) if item.text)
    except AuthoringError:
        return ()


def with_list(text: str, key: str, values: tuple[str, ...]) -> str:
    """Return the edition with the list `key` set to these values, quoted unless they are all plain names."""
    bare = all(map(_BARE.fullmatch, values))
    field = f"{key}: [{', '.join(values)}]\n" if bare else format_list(key, values)
    return SourceText.of(text.encode()).with_field(key, field).content.decode()


def with_item(text: str, key: str, value: str) -> str:
    """Return the edition with a value appended to the list `key`. Raises AuthoringError as `with_list` does."""
    return SourceText.of(text.encode()).with_item(key, quote(value)).content.decode()


def with_value(text: str, key: str, value: str) -> str:
    """Return the edition with the field `key` set to this value. Raises AuthoringError as `with_list` does."""
    field = f"{key}: {value if _BARE.fullmatch(value) else quote(value)}\n"
    return SourceText.of(text.encode()).with_field(key, field).content.decode()


def sync_twins(corpus: Corpus, ids: Iterable[str]) -> tuple[Path, ...]:
    """Stamp both editions of each entry as in sync, and return the files that changed. Raises AuthoringError, before
    anything is written, for an id that is not an entry or has only one edition."""
    twins = [_require_twins(corpus, entry_id) for entry_id in ids]
    stamped = {
        file.path: _stamp_file(file, editions[lang.other].digest)
        for editions in twins
        for lang, file in editions.items()
        if file.front.synced_with != editions[lang.other].digest
    }
    # Rewrites keep the file time, which may decide which twin is newer: only the stamp changes, not the text.
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
    """Return the edition with `synced_with` set. Raises AuthoringError."""
    source = SourceText.of(content)
    return source.with_field("synced_with", f"synced_with: '{digest}'{source.line_end}").content
