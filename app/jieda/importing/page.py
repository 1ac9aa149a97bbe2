"""The first stage: converts a file in any supported markup to a Markdown page whose lines have their origins."""

import os
import re
import tomllib
from bisect import bisect
from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from pathlib import Path
from unicodedata import normalize

from jieda.content.read.yaml_reader import Fields, Scalar, YamlError, read_fields
from jieda.entry import NO_TEXT, Language
from jieda.errors import ImportingError
from jieda.han import count_han
from jieda.importing.boxes import open_boxes
from jieda.importing.elements import Lines
from jieda.importing.html_pages import html_to_markdown
from jieda.importing.outline import all_code_lines, code_lines, plain
from jieda.importing.restructured import to_markdown
from jieda.importing.wording import WORDING

MAX_PAGE_BYTES = 8 << 20
TO_MARKDOWN: Mapping[str, Callable[[str], Lines]] = {
    ".rst": to_markdown,
    ".html": html_to_markdown,
    ".htm": html_to_markdown,
    **dict.fromkeys((".md", ".mdx", ".markdown"), open_boxes),
}
"""By file suffix: a function from the text to lines of plain Markdown, each with the line of the file it is from."""
SUFFIXES = frozenset(TO_MARKDOWN)

_FRONT = re.compile(
    r"\A(?:---[ \t]*\n(?P<yaml>.*?)^(?:---|\.\.\.)|(?P<unopened>(?:[a-z_]+:[^\n]*\n)+)---"
    r"|\+\+\+[ \t]*\n(?P<toml>.*?)^\+\+\+)[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
"""Front matter; that of Hexo has no opening line, that of Hugo may be TOML."""
_PROSE = re.compile(r"\A[ \t]*\n|^#{1,6} .*\n[ \t]*\n", re.MULTILINE)
"""Signs that the text between two `---` lines is not front matter: the page begins with a rule."""
_SILENT = r"^<{0}\b[^<>]*>(?:[^\n]*|[ \t]*\n.*?^[ \t]*)</{0}>"
_COMMENTS = {
    end: re.compile(
        rf"(?<!`)(?P<mark>`+)(?!`)[^\n]+?(?<!`)(?P=mark)(?!`)|{comment}", re.DOTALL | re.MULTILINE
    )
    for end, comment in {
        "</script>": _SILENT.format("script"),
        "</style>": _SILENT.format("style"),
        "-->": "<!--.*?-->",
        "*/}": r"\{/\*.*?\*/\}",
    }.items()
}
"""By its end: a script, style or comment, or code in a line, in which there is none."""
_TITLE = re.compile(r"<title\b[^<>]*>([^<>]*)</title>", re.IGNORECASE)
_DATES = ("updated", "last_updated", "lastUpdated", "last_update.date", "lastmod", "last_modified", "date")


@dataclass(frozen=True, slots=True)
class MarkdownPage:
    """A page of Markdown. `titled`: the title is from front matter. `updated`: the date in the page if it is `dated`,
    otherwise that of its file. `lines`: front matter, comments and imports of MDX are left empty. `origin`: for each,
    its line of the file, from 0, if that differs."""

    path: Path
    lang: Language
    title: str
    titled: bool
    updated: date
    dated: bool
    lines: tuple[str, ...]
    origin: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def line_of(self, number: int) -> int:
        """Return the line of the file that line `number` of the page is from, both counted from 0."""
        return self.origin[min(number, len(self.origin) - 1)] if self.origin else number


@dataclass(frozen=True, slots=True)
class PagePair:
    """A page in one or both languages, with its web addresses, if given. `key`, the end of its path, identifies it in
    the records."""

    key: str
    pages: Mapping[Language, MarkdownPage]
    addresses: Mapping[Language, str]


def read_page(path: Path, lang: Language | None = None) -> MarkdownPage:
    """Read a page from a file; without `lang`, the language is detected from its characters. Raises ImportingError."""
    return convert_page(path, read_text(path), lang)


def convert_page(path: Path, raw: str, lang: Language | None) -> MarkdownPage:
    """Convert the text of a file in any supported markup to a page. Raises ImportingError."""
    try:
        lines = TO_MARKDOWN[path.suffix.lower()](raw)
    except ImportingError as error:
        raise ImportingError(f"{path}: {error}") from error
    except RecursionError:
        raise ImportingError(f"{path}: it is nested too deeply to be read") from None
    markdown, origin = "\n".join(line for line, _ in lines), tuple(number for _, number in lines)
    named = _TITLE.search(raw) if TO_MARKDOWN[path.suffix.lower()] is html_to_markdown else None
    return make_page(
        path, markdown, lang, () if markdown == raw else origin, plain(named[1]) if named else ""
    )


def make_page(
    path: Path, raw: str, lang: Language | None = None, origin: tuple[int, ...] = (), named: str = ""
) -> MarkdownPage:
    """Make a page from `raw`, Markdown or MDX; the default title is `named` or, like the date, that of the file at
    `path`."""
    front = _FRONT.match(raw)
    fields = _front_matter(front) if front else {}
    if front and not fields and _PROSE.search(front["yaml"] or ""):
        front = None
    stated_date = _stated_date(fields)
    text = "\n" * raw.count("\n", 0, front.end()) + raw[front.end() :] if front else raw
    text = _without_comments(text)
    return MarkdownPage(
        path=path,
        lang=lang or language_of(text),
        titled=bool(fields.get("title")),
        title=fields.get("title") or _first_heading(text) or named or legible(path.stem),
        updated=stated_date or date.fromtimestamp(path.stat().st_mtime),
        dated=stated_date is not None,
        lines=tuple(text.split("\n")),
        origin=origin,
    )


def read_text(path: Path) -> str:
    """Read the text of a file, with line ends LF and without control characters. Raises ImportingError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ImportingError(f"{path}: {error.strerror or error}") from error
    if len(content) > MAX_PAGE_BYTES:
        raise ImportingError(f"{path} has {len(content)} bytes, more than {MAX_PAGE_BYTES}: split the page")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ImportingError(f"{path}:{line}: is not UTF-8; convert the file first") from error
    return NO_TEXT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def legible(name: str) -> str:
    """Return the name of a file as text. One that is not UTF-8 is mostly GB 18030, from an archive of Windows."""
    raw = os.fsencode(name)
    for encoding in ("utf-8", "gb18030"):
        with suppress(UnicodeDecodeError):
            return NO_TEXT.sub("\ufffd", raw.decode(encoding))
    return raw.decode("utf-8", "backslashreplace")


def is_foreign(text: str) -> bool:
    """Whether prose has more letters that are neither Latin, Greek nor Han than Han ones, and a tenth as many as all:
    Japanese, Russian, …"""
    lines = text.split("\n")
    code = code_lines(lines)
    prose = normalize("NFKC", "\n".join(line for number, line in enumerate(lines) if number not in code))
    foreign = sum(each.isalpha() for each in prose if each > "\u03ff") - count_han(prose)
    return foreign > count_han(prose) and foreign * 10 > sum(map(str.isalpha, prose))


def language_of(text: str) -> Language:
    """Detect the language: Chinese if at least one letter in twenty is Han, as code and names are Latin on any page."""
    return Language.ZH if count_han(text) * 20 > sum(map(str.isalpha, text)) else Language.EN


def _front_matter(front: re.Match[str]) -> Mapping[str, str]:
    """Return the text of the fields of front matter, of mappings as `field.part`; empty if it is not valid."""
    try:
        if front["toml"] is not None:
            fields_of_toml = tomllib.loads(front["toml"]).items()
            return {key: str(value) for key, value in fields_of_toml if isinstance(value, str | date)}
        fields = read_fields(front["yaml"] or front["unopened"] or "").values
    except (tomllib.TOMLDecodeError, YamlError):
        return {}
    nested = {
        f"{key}.{part}": inner
        for key, node in fields.items()
        if isinstance(node, Fields)
        for part, inner in node.values.items()
    }
    return {key: node.text for key, node in {**fields, **nested}.items() if isinstance(node, Scalar)}


def _stated_date(fields: Mapping[str, str]) -> date | None:
    for key in _DATES:
        if match := re.match(r"\d{4}-\d{2}-\d{2}", fields.get(key, "")):
            with suppress(ValueError):
                return date.fromisoformat(match[0])
    return None


def _first_heading(text: str) -> str:
    """Return the first H1, or an empty text if it is one of several questions."""
    lines, heading = text.split("\n"), re.compile(r"#\s+(.+?)\s*(?:\{#[^}]*\}|#+)?\s*$")
    code = code_lines(lines)
    found = [heading.match(line) for number, line in enumerate(lines) if number not in code]
    titles = [plain(match[1]).strip(" *`") for match in found if match]
    return titles[0] if titles and (len(titles) == 1 or not WORDING.asks(titles[0])) else ""


def _without_comments(text: str) -> str:
    if not re.search(r"<!--|\{/\*|^<s(?:cript|tyle)\b", text, re.MULTILINE):
        return text
    code = all_code_lines(text)
    for end, comment in _COMMENTS.items():
        # What is below the last end is not searched, because many that do not end would take quadratic time.
        searched, last, rest = text.rpartition(end)
        line, below, rest = rest.partition("\n")
        text = _blank(comment, searched + last + line, code) + below + rest
    return text


def _blank(comment: re.Pattern[str], text: str, code: Container[int]) -> str:
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))

    def replacement(match: re.Match[str]) -> str:
        is_text = match["mark"] or bisect(starts, match.start()) - 1 in code
        return match[0] if is_text else "\n" * match[0].count("\n")

    return comment.sub(replacement, text)
