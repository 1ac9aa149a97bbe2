"""Parses an edition's file, and checks that its fix makes sense by itself, as diagnosis, the API and agents show it.

A program can detect words that point to another part of the page, a fix that is only a link, and a mention of a line of
code without a file. Only a reader can judge whether the fix names the right file, parameter and value, and the
condition under which it applies.
"""

import hashlib
import re
import unicodedata
from collections.abc import Container, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Self

from jieda.content.markdown.body import Body, parse_body, render_body
from jieda.content.markdown.html_writer import Keep
from jieda.content.read.corpus import PLACEHOLDER, FileOutline
from jieda.content.read.directory import MAX_FILE_BYTES, SourceFile
from jieda.content.read.forms import ENTRY_ID, MAX_FRONT_MATTER_BYTES, read_front_matter
from jieda.content.read.yaml_reader import CONFLICT, Fields, YamlError, conflict_lines, read_fields
from jieda.entry import NO_TEXT, Edition, Language, Problem
from jieda.han import HAN, count_han

CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LINK = re.compile(r"!?\[[^\[\]]*\]\([^()]*\)")
LINK_TARGET = re.compile(r"\]\([^()]*\)")
LETTER = re.compile(r"[^\W\d_]")

POINTER = re.compile(
    # "above 0.5" and "below the limit" compare; "see above", "the table above." and "(below)" point elsewhere.
    r"\b(?:see|as|shown|described|listed|mentioned|explained|given) (?:above|below)\b"
    r"|\b(?:above|below)(?=\s*(?:[.,;:)]|$))|\bthe (?:above|below|previous|preceding|former) \w+"
    r"|上面|上文|上述|(?<!上)下文|见上|见下|如上|前文|(?<!最)前面(?:的|提到|说过|说的)",
    re.IGNORECASE,
)
LINE_PHRASE = re.compile(r"\b(?:the|this|that) line\b(?! of (?:output|the log))|[这那该]一?行", re.IGNORECASE)
FILE_PHRASE = re.compile(r"[\w-]\.[a-z]\w{0,5}\b|/|\b(?:file|script|yaml|json)\b|文件|脚本", re.IGNORECASE)

CODE = re.compile(r"`[^`]*`")
OPTION = re.compile(r"--\w|\w_\w|\w[=:]")
"""A flag, a name with an underscore, or a key with a value; in code."""
_HAN = re.compile(f"[{HAN}]")
LIST_MARK = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
HAN_PER_WORD = 2
"""Average length of a Chinese word, in characters."""

ONLY_SKELETON = "has only the skeleton's text: write it, or keep the file a draft (`draft: true`)"

FEWEST_LETTERS = 8
"""Minimum number of letters outside links; with fewer, the fix is only a link."""


@dataclass(frozen=True, slots=True)
class Fix:
    """The section `fix`: the numbers in the file and the texts of its lines, but for blank ones and code blocks, and
    whether it has a code block."""

    lines: tuple[tuple[int, str], ...] = ()
    has_code: bool = False

    @classmethod
    def of(cls, raw: str, body: Body) -> Self:
        """Return the fix of a file, given its text and parsed body."""
        sections = [placed for placed in body.headings if placed.section]
        starts = [placed.line for placed in sections if placed.heading.anchor == "fix"]
        if not starts:
            return cls()
        raw_lines, code = raw.split("\n"), body.code_lines
        end = min((placed.line - 1 for placed in sections if placed.line > starts[0]), default=len(raw_lines))
        lines = (
            (number, text)
            for number, text in enumerate(raw_lines[starts[0] : end], starts[0] + 1)
            if number not in code and text.strip()
        )
        return cls(tuple(lines), not code.isdisjoint(range(starts[0] + 1, end + 1)))

    def outside_references(self) -> Iterator[tuple[int, str]]:
        """Yield line and message for each place where the fix relies on the rest of its page, or on another page."""
        names_file = any(FILE_PHRASE.search(text) for _, text in self.lines)
        if self.lines and not self.has_code and _is_only_a_link(" ".join(text for _, text in self.lines)):
            yield self.lines[0][0], "the fix is only a link: say here what to do"
        for number, text in self.lines:
            prose = CODE_SPAN.sub("", text)
            if pointer := POINTER.search(prose):
                words = pointer[0].strip()
                yield number, f"the fix says {words!r}, and is shown without the rest of the page"
            if not names_file and (mention := LINE_PHRASE.search(prose)):
                yield number, f"the fix says {mention[0]!r} and names no file"

    @property
    def words(self) -> int:
        """Number of words outside code blocks and tables. A code span counts as one word, as do two Han characters."""
        lines = (text for _, text in self.lines if not text.lstrip().startswith("|"))
        prose = (LIST_MARK.sub("", line, count=1) for line in lines)
        text = LINK_TARGET.sub("]", CODE_SPAN.sub(" code ", "\n".join(prose)))
        non_han = [word for word in _HAN.sub(" ", text).split() if re.search(r"\w", word)]
        return len(non_han) + -(-count_han(text) // HAN_PER_WORD)

    def names_no_option(self, framework: str) -> bool:
        """Whether the fix has text, but no code block, nor its framework, nor anything that looks like an option."""
        text = "\n".join(text for _, text in self.lines)
        is_specific = self.has_code or framework.casefold() in text.casefold()
        return bool(self.lines) and not (is_specific or any(map(OPTION.search, CODE.findall(text))))


def _is_only_a_link(text: str) -> bool:
    return bool(LINK.search(text)) and len(LETTER.findall(LINK.sub("", text))) < FEWEST_LETTERS


MAX_BRACKETS = 5000
"""Each bracket that opens no link takes markdown-it a tenth of a millisecond; nothing else takes that long."""

_DRAFT = re.compile(rb"^draft:[ \t]*['\"]?(?:true|yes|on)\b", re.MULTILINE | re.IGNORECASE)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # its byte order marks


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The parsed content of an edition's file, text included."""

    outline: FileOutline
    raw: str
    body: Body

    def edition(self, keep: Keep, path: Path, updated: date) -> Edition:
        """Return the edition, with the links that `keep` returns. `updated` is that of the `Outline`."""
        rendered = render_body(self.body, keep)
        front = self.outline.front
        return Edition(
            lang=self.outline.lang,
            title=front.title,
            aliases=front.aliases,
            symptoms=front.symptoms,
            applies_to=front.applies_to,
            source=front.source,
            updated=updated,
            synced_with=front.synced_with,
            digest=self.outline.digest,
            path=path,
            raw=self.raw,
            markdown=self.body.markdown,
            html=rendered.html,
            sections=rendered.sections,
            headings=tuple(placed.heading for placed in self.body.headings),
            code=self.body.code,
        )


class UnservableError(ValueError):
    """Raised if a file cannot be served at all. `line` is the line of the error."""

    def __init__(self, line: int, rule: str, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.rule = rule
        self.message = message


def parse_file(file: SourceFile) -> tuple[ParsedFile | None, tuple[Problem, ...]]:
    """Return the parsed file, or None if it cannot be served, and all its problems."""
    try:
        return _parse(file)
    except UnservableError as error:
        draft = _is_draft(file.content)
        return None, (Problem(file.where, error.line, error.rule, error.message, served=False, draft=draft),)


def _parse(file: SourceFile) -> tuple[ParsedFile | None, tuple[Problem, ...]]:
    lang, entry_id = read_place(file.where)
    raw = decode(file.content)
    fields, body_text, body_line = _split_front_matter(raw)
    front, complaints = read_front_matter(fields)
    fatal = any(complaint.fatal for complaint in complaints)
    problem = partial(Problem, file.where, draft=front.draft)
    problems = tuple(problem(each.line, each.rule, each.message, served=not fatal) for each in complaints)
    if fatal:
        return None, problems
    _refuse_body(body_text, body_line)
    framework = entry_id.partition("/")[0]
    body = parse_body(body_text, lang, framework, body_line)
    unfinished = _find_placeholders(raw, body.code_lines)
    if unfinished and not front.draft and _is_only_skeleton(front.title, body_text):
        todo = (Problem(file.where, line, "unfinished", ONLY_SKELETON, served=False) for line in unfinished)
        return None, (*problems, *todo)
    fix = Fix.of(raw, body)
    outline = FileOutline(
        id=entry_id,
        lang=lang,
        where=file.where,
        front=front,
        lines=fields.key_lines,
        digest=edition_digest(front.title, body_text),
        headings=body.headings,
        links=body.links,
        code=body.code,
        code_spans=body.code_spans,
        first_line=body.first_line,
        starts_with_section=body.starts_with_section,
        unfinished=unfinished,
        outside_references=tuple(fix.outside_references()),
        fix_words=fix.words,
        fix_names_no_option=fix.names_no_option(framework),
    )
    conflicts = ((line, CONFLICT) for line in conflict_lines(raw))
    shown = (*conflicts, *body.unrendered)
    unrendered = (problem(line, "markdown", message, served=True) for line, message in shown)
    return ParsedFile(outline, raw, body), (*problems, *unrendered)


def _refuse_body(body: str, line: int) -> None:
    """Raise UnservableError if the body is empty or would take too long to parse."""
    if not body.strip():
        raise UnservableError(line, "body", "the body is empty")
    if body.count("[") > MAX_BRACKETS:
        raise UnservableError(line, "size", f"the body has more than {MAX_BRACKETS} square brackets")


def _find_placeholders(raw: str, code: Container[int]) -> tuple[int, ...]:
    """Return the lines that still have text of the skeleton. Code has TODOs of its own."""
    prose = ((line, CODE_SPAN.sub("", text)) for line, text in enumerate(raw.split("\n"), 1))
    return tuple(line for line, text in prose if PLACEHOLDER.search(text) and line not in code)


def _is_only_skeleton(title: str, body: str) -> bool:
    """Whether an edition still has the title or the whole body of the skeleton."""
    lines = [line for line in body.splitlines() if line.strip() and not line.startswith("#")]
    return bool(PLACEHOLDER.match(title) or (lines and all(map(PLACEHOLDER.search, lines))))


def read_place(where: str) -> tuple[Language, str]:
    """Return the language and entry id of `<lang>/<framework>/<slug>.md`. Raises UnservableError for a bad slug."""
    lang, framework, name = PurePosixPath(where).parts
    entry_id = f"{framework}/{name.removesuffix('.md')}"
    if not ENTRY_ID.fullmatch(entry_id):
        message = "the file name must be 1 to 80 of a-z, 0-9 and -, starting with a letter or digit, then .md"
        raise UnservableError(1, "slug", message)
    return Language(lang), entry_id


def decode(content: bytes, limit: int = MAX_FILE_BYTES) -> str:
    """Decode UTF-8, dropping a byte order mark and converting line ends to LF. Raises UnservableError."""
    if len(content) > limit:
        raise UnservableError(1, "size", f"has {len(content)} bytes, more than {limit}")
    if content.startswith(_UTF_16):
        raise UnservableError(1, "encoding", "is UTF-16, must be UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        byte = content[error.start]
        raise UnservableError(line, "encoding", f"must be UTF-8; byte 0x{byte:02x} is not") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if match := NO_TEXT.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise UnservableError(line, "encoding", f"has a control character, {match[0]!r}")
    return text


def _split_front_matter(raw: str) -> tuple[Fields, str, int]:
    """Return the front matter, the body, and the line that the body starts on."""
    match = re.match(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", raw, re.DOTALL | re.MULTILINE)
    if not match:
        raise UnservableError(1, "front-matter", "must start with front matter between two lines of `---`")
    if len(match[1].encode()) > MAX_FRONT_MATTER_BYTES:
        raise UnservableError(1, "size", f"front matter has more than {MAX_FRONT_MATTER_BYTES} bytes")
    try:
        fields = read_fields(match[1], first_line=2)
    except YamlError as error:
        raise UnservableError(error.line, "yaml", error.message) from error
    body = raw[match.end() :]
    return fields, body, raw.count("\n", 0, match.end()) + 1


def _is_draft(content: bytes) -> bool:
    """Whether a possibly broken file says that it is a draft, as far as its front matter can be read."""
    start = content[: 2 * MAX_FRONT_MATTER_BYTES].replace(b"\r", b"\n").replace(b"\0", b"")
    parts = re.split(
        rb"^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?---[ \t]*$", start, maxsplit=2, flags=re.MULTILINE
    )
    return _DRAFT.search(parts[min(1, len(parts) - 1)]) is not None


def edition_digest(title: str, body: str) -> str:
    """Return the first 12 hex digits of the SHA-256 of title and body, in NFC, with LF, without blank lines around."""
    text = unicodedata.normalize("NFC", f"{title}\n{body.strip(chr(10))}")
    return hashlib.sha256(text.encode()).hexdigest()[:12]
