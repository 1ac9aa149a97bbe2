"""An edition's file as it lies on disk, to be changed in places and otherwise kept byte for byte."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from app.content.read.front_matter import FIELDS
from app.content.read.yaml_reader import Fields, Items, Node, Scalar, YamlError, read_fields
from app.errors import AuthoringError

_MARK = b"\xef\xbb\xbf"
"""The byte order mark that some editors put in front of UTF-8."""
FIRST_LINE = 2
"""Of the front matter, in its file."""
_LINE_END = r"(?:\r\n|\n|\r)"
_FILE = re.compile(
    rf"(?P<opening>---[ \t]*{_LINE_END})(?P<front>.*?)(?<=[\r\n])(?P<closing>---[ \t]*(?:{_LINE_END}|\Z))",
    re.DOTALL,
)
# As YAML counts lines.
_LINES = re.compile(r"[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029])")


@dataclass(frozen=True, slots=True)
class SourceText:
    """The parts of a file, which joined are the file. Line ends are as they were."""

    mark: bytes
    opening: str
    front: str
    closing: str
    body: str

    @classmethod
    def of(cls, content: bytes) -> "SourceText":
        """Raises AuthoringError where it is not UTF-8 or has no front matter."""
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
        """The whole file."""
        return self.mark + f"{self.opening}{self.front}{self.closing}{self.body}".encode()

    @property
    def line_end(self) -> str:
        """That of the first line."""
        return self.opening.lstrip("-").lstrip(" \t")

    @property
    def body_line(self) -> int:
        """The line that the body starts on."""
        return len(_LINES.findall(self.opening + self.front + self.closing)) + 1

    @property
    def front_lines(self) -> list[str]:
        """The lines of the front matter, each with its end."""
        return _LINES.findall(self.front)

    def fields(self) -> Fields:
        """The front matter. Raises AuthoringError where it is not YAML as it is read here."""
        try:
            return read_fields(self.front, first_line=FIRST_LINE)
        except YamlError as error:
            raise AuthoringError(f"line {error.line}: {error.message}") from error

    def with_values(self, values: Iterable[tuple[Scalar, str]]) -> "SourceText":
        """With other words in place of some values of its front matter, in the quotes that these have."""
        front = self.front
        for old, new in sorted(values, key=lambda pair: -pair[0].start):
            quote = front[old.start] if old.quoted else ""
            front = f"{front[: old.start]}{quote}{new}{quote}{front[old.end :]}"
        return replace(self, front=front)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The text of a front matter by field: the lines of each with the comment right above it.

    `head` is what stands in front of the first and apart from it, `tail` comments behind the last.
    """

    head: str
    fields: Mapping[str, str]
    tail: str

    @classmethod
    def of(cls, source: SourceText) -> "Blocks":
        """Raises AuthoringError as `SourceText.fields` does, and where two fields share a line."""
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
        """The front matter with its fields in some order."""
        return "".join((self.head, *(self.fields[name] for name in order), self.tail))


def canonical_order(names: Iterable[str]) -> list[str]:
    """Names of fields as docs/content-format.md lists them; unknown ones last, as they came."""
    places = {row.name: number for number, row in enumerate(FIELDS)}
    return sorted(names, key=lambda name: places.get(name, len(places)))


def plain(node: Node) -> object:
    """What a node says, wherever it stands."""
    if isinstance(node, Scalar):
        return node.text, node.quoted
    if isinstance(node, Items):
        return tuple(map(plain, node.items))
    return {name: plain(value) for name, value in node.values.items()}


def _comment_above(lines: list[str], first: int) -> int:
    indent = len(lines[first]) - len(lines[first].lstrip())
    while first and re.match(rf" {{0,{indent}}}#", lines[first - 1]):
        first -= 1
    return first


def _is_aside(line: str) -> bool:
    return not line.strip() or line.startswith("#")
