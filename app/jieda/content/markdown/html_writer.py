"""Converts Markdown tokens to plain text and to HTML. Code is highlighted by classes; no other module uses Pygments."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape

from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from jieda.content.markdown.links import Link, LinkKind
from jieda.han import is_east_asian


def can_open_close(before: str, after: str, inside_word: bool) -> tuple[bool, bool]:
    """Return whether a run of markers between the characters `before` and `after` may open, and may close, emphasis.
    The start and end of a text count as spaces. `inside_word`: whether the marker works within a word, as `*` does."""
    space_before, space_after = before.isspace(), after.isspace()
    cjk_before, cjk_after = is_east_asian(before), is_east_asian(after)
    punctuation_before = _is_punctuation(before)
    punctuation_after = _is_punctuation(after)
    hard_before, hard_after = punctuation_before and not cjk_before, punctuation_after and not cjk_after
    left = not space_after and (not hard_after or space_before or hard_before or cjk_before)
    right = not space_before and (not hard_before or space_after or hard_after or cjk_after)
    if inside_word:
        return left, right
    return left and (not right or punctuation_before), right and (not left or punctuation_after)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


BREAKS = frozenset({"softbreak", "hardbreak"})
CODE_BLOCKS = frozenset({"fence", "code_block"})

Piece = tuple[str, bool]
"""A piece of text, and whether it is code."""


def plain_text(tokens: Sequence[Token]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the text, with a line per paragraph, heading, item or table row (its cells separated by bars) and with the
    line breaks of code blocks; and the start and end offsets of code."""
    text, code = "", []
    for piece, is_code in _pieces(tokens):
        if is_code and piece:
            code.append((len(text), len(text) + len(piece)))
        text += piece
    return text.removeprefix("\n"), tuple((start - 1, end - 1) for start, end in code)


def _pieces(tokens: Sequence[Token]) -> Iterator[Piece]:
    """Yield the text of some blocks, each after a line break."""
    separator = "\n"
    for token in tokens:
        if token.type == "tr_open":
            yield "\n", False
            separator = ""
        elif token.type == "tr_close":
            separator = "\n"
        elif token.type in CODE_BLOCKS:
            yield from (("\n", False), (token.content.removesuffix("\n"), True))
        elif token.type == "inline":
            yield separator, False
            yield from _inline_pieces(token)
            separator = separator or " | "


def inline_text(token: Token) -> str:
    """Return the text of a token's children, including code spans and image descriptions."""
    return "".join(text for text, _ in _inline_pieces(token))


def _inline_pieces(token: Token) -> Iterator[Piece]:
    children = token.children or ()
    for index, child in enumerate(children):
        if child.type == "image":
            yield from _inline_pieces(child)
        elif child.type in BREAKS:
            yield ("" if joins_han(children, index) else " "), False
        else:
            yield child.content, child.type == "code_inline"


def joins_han(tokens: Sequence[Token], index: int) -> bool:
    """Whether the line break at `index` is between Han characters, and therefore not a space."""
    before = next((tokens[i].content for i in range(index - 1, -1, -1) if tokens[i].content), " ")
    after = next((tokens[i].content for i in range(index + 1, len(tokens)) if tokens[i].content), " ")
    return is_east_asian(before[-1]) and is_east_asian(after[0])


MOST, MOST_IN_LINE = 4096, 300
"""Maximum number of characters in a block, and in any of its lines, that is highlighted. Some lexers take quadratic
time in a line or in the rest of the block: 48 KiB of made-up Java took 37 s. The longest shipped block has 1,218."""

_PLAIN = frozenset({"", "text", "plain", "txt", "log", "output"})
_FORMATTER = HtmlFormatter[str](nowrap=True)


@lru_cache(64)  # twins have the same code
def highlight_code(code: str, language: str) -> str:
    """Return escaped HTML whose only tags are `<span class>` and whose text is exactly `code`. Code stays plain if its
    language is unknown or it is too long to highlight in a reasonable time."""
    is_short = len(code) <= MOST and max(map(len, code.split("\n"))) <= MOST_IN_LINE
    lexer = _find_lexer(language.lower()) if is_short else None
    if lexer is None or "\r" in code:
        return escape(code)
    return highlight(code, lexer, _FORMATTER)


@cache
def _find_lexer(language: str) -> Lexer | None:
    # Cached because Pygments searches a table of 600 lexers and imports the one it finds.
    if language in _PLAIN:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


Keep = Callable[[Link], Link | None]
"""Returns the link to write, or None to write only its text."""

BLOCKS = frozenset(
    {"p", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "thead", "tbody", "tr", "th", "td"}
)
INLINE = frozenset({"em", "strong", "s"})

FLAGS = ((14, "flag"), (26, "mid-flag"), (60, "long-flag"))
"""Maximum length and class of code with dashes and no spaces that must not be broken: browsers would break `--save`
after its dashes. A `flag` fits into the narrowest table cell, a `mid-flag` into the narrowest screen, a `long-flag`
into a column of text."""

MAY_END = "，。：；、！？）"
"""A line may break after these, but browsers do not break it before a dash."""

UNBROKEN, UNBROKEN_IN_CELL = 20, 14
"""Characters of code that fit into any line, and into any table cell. Longer code may be broken between its parts."""
_BREAK = re.compile(r"(?<=\w)([._/=,:])(?=[^\W\d])")
_FLAG_HEAD = re.compile(r"-+[^\W_]+")

_TAG_OR_LONG = re.compile(rf"<[^<>]*>|[\w./=,:-]{{{UNBROKEN + 1},}}")
"""A tag or a long word in highlighted code. Tags are matched so that their attributes are not taken for code."""

_LINE = re.compile(r"(?:<[^<>]*>)*(?P<lead> *)[^\n]+")
"""A line of highlighted code; no tag spans two lines. A wrapped line gets a hanging indent."""
DEEPEST = 12
"""Maximum indentation, in columns, that has its own style."""

_LANGUAGE_CLASS = re.compile(r"[a-z0-9][a-z0-9+#_.-]{0,29}")


@dataclass(frozen=True, slots=True)
class _Cursor:
    """A token among its siblings."""

    tokens: Sequence[Token]
    index: int
    keep: Keep
    unbroken: int
    """Characters of code that fit into a line here."""

    @property
    def token(self) -> Token:
        return self.tokens[self.index]


def write_html(tokens: Sequence[Token], keep: Keep, unbroken: int = UNBROKEN) -> str:
    """Write tokens as HTML. `keep` decides about entry links, anchor links and images. Code of up to `unbroken`
    characters is not broken."""
    cursors = (_Cursor(tokens, index, keep, unbroken) for index in range(len(tokens)))
    return "".join(_WRITERS.get(cursor.token.type, _write_tag)(cursor) for cursor in cursors)


def _write_tag(cursor: _Cursor) -> str:
    token = cursor.token
    if token.hidden:
        return "\n" if token.nesting < 0 else ""
    if token.tag in BLOCKS | INLINE and token.nesting < 0:
        return f"</{token.tag}>" + ("\n" if token.tag in BLOCKS else "")
    if token.tag in BLOCKS | INLINE and token.nesting > 0:
        return f"<{token.tag}{_attributes(token)}>"
    return escape(token.content)


def _attributes(token: Token) -> str:
    align = str(token.attrs.get("style", "")).removeprefix("text-align:")
    known = {
        "id": str(token.attrs.get("id", "")),
        "start": str(token.attrs.get("start", "")),
        "class": f"align-{align}" if align in {"left", "right", "center"} else "",
    }
    return "".join(f' {name}="{escape(value)}"' for name, value in known.items() if value)


def _write_inline(cursor: _Cursor) -> str:
    in_cell = cursor.index > 0 and cursor.tokens[cursor.index - 1].tag in {"th", "td"}
    return write_html(
        cursor.token.children or (), cursor.keep, UNBROKEN_IN_CELL if in_cell else cursor.unbroken
    )


def _write_code_span(cursor: _Cursor) -> str:
    text = cursor.token.content
    kind = "" if " " in text else flag_kind(text)
    attribute = f' class="{kind}"' if kind else ""
    before = cursor.tokens[cursor.index - 1].content[-1:] if cursor.index else ""
    line_break = "<wbr>" if text.startswith("-") and before and before in MAY_END else ""
    code = (
        _write_flag(text, kind)
        if kind
        else " ".join(_write_word(word, cursor.unbroken) for word in text.split(" "))
    )
    return f"{line_break}<code{attribute}>{code}</code>"


def flag_kind(word: str) -> str:
    """Return the class that keeps a word with dashes on one line; empty for other or longer words."""
    return next((name for limit, name in FLAGS if len(word) <= limit), "") if "-" in word else ""


def _write_flag(text: str, kind: str) -> str:
    """Write a word with dashes. If there is no room for it, it may break, but not after its first dashes."""
    head = _FLAG_HEAD.match(text) if kind != "flag" else None
    if not head:
        return escape(text)
    return f'<span class="flag">{escape(head[0])}</span>{escape(text[head.end() :])}'


def _write_word(word: str, unbroken: int) -> str:
    """Write a word of code. A long one may break after the separators in names, paths and values."""
    if word.startswith("-") and (kind := flag_kind(word)):
        return f'<span class="{kind}">{_write_flag(word, kind)}</span>'
    return escape(word if len(word) <= unbroken else _BREAK.sub("\\1\x00", word)).replace("\x00", "<wbr>")


def _write_code_block(cursor: _Cursor) -> str:
    token = cursor.token
    language = (token.info.split() or [""])[0].lower()
    if not _LANGUAGE_CLASS.fullmatch(language):
        language = ""
    attribute = f' class="language-{escape(language)}"' if language else ""
    code = code_html(token.content, "" if token.meta.get("plain") else language)
    return f'<pre class="highlight" tabindex="0"><code{attribute}>{code}</code></pre>\n'


def code_html(text: str, language: str = "") -> str:
    """Write the lines of a code block so that each one can wrap with a hanging indent."""
    return _LINE.sub(_wrap_line, _TAG_OR_LONG.sub(_add_breaks, highlight_code(text, language)))


def _add_breaks(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith("<") else _BREAK.sub(r"\1<wbr>", match[0])


def _wrap_line(line: re.Match[str]) -> str:
    depth = min(len(line["lead"]) // 2 * 2, DEEPEST)
    return f'<span class="line{f" i{depth}" if depth else ""}">{line[0]}</span>'


def _resolve(token: Token, keep: Keep) -> Link | None:
    link: Link = token.meta["link"]
    if link.kind in {LinkKind.REFUSED, LinkKind.REFUSED_IMAGE}:
        return None
    return link if link.kind is LinkKind.EXTERNAL else keep(link)


def _open_link(cursor: _Cursor) -> str:
    link = _resolve(cursor.token, cursor.keep)
    if link is None:
        return ""
    rel = ' rel="noopener"' if link.kind is LinkKind.EXTERNAL else ""
    return f'<a href="{escape(link.href)}"{_title_attribute(cursor.token)}{rel}>'


def _close_link(cursor: _Cursor) -> str:
    # Links do not nest, so it is the last one opened that closes.
    before = (cursor.tokens[index] for index in range(cursor.index - 1, -1, -1))
    opening = next(token for token in before if token.type == "link_open")
    return "</a>" if _resolve(opening, cursor.keep) else ""


def _write_image(cursor: _Cursor) -> str:
    alt, link = escape(inline_text(cursor.token)), _resolve(cursor.token, cursor.keep)
    if link is None:
        return alt
    size = f' width="{link.size[0]}" height="{link.size[1]}"' if link.size else ""
    return f'<img src="{escape(link.href)}" alt="{alt}"{_title_attribute(cursor.token)}{size} loading="lazy">'


def _open_table(cursor: _Cursor) -> str:
    """Open a frame that scrolls horizontally on a narrow screen. It is focusable, so that keys can scroll it, and named
    after the columns, so that a screen reader says what it is."""
    rest = cursor.tokens[cursor.index :]
    end = next(index for index, token in enumerate(rest) if token.type == "thead_close")
    columns = (inline_text(token) for token in rest[:end] if token.type == "inline")
    label = escape(" | ".join(filter(None, columns)))
    return f'<div class="table-scroll" tabindex="0" role="region" aria-label="{label}"><table>\n'


def _title_attribute(token: Token) -> str:
    title = str(token.attrs.get("title", ""))
    return f' title="{escape(title)}"' if title else ""


_WRITERS: Mapping[str, Callable[[_Cursor], str]] = {
    "inline": _write_inline,
    "code_inline": _write_code_span,
    "fence": _write_code_block,
    "code_block": _write_code_block,
    "link_open": _open_link,
    "link_close": _close_link,
    "image": _write_image,
    "softbreak": lambda cursor: "" if joins_han(cursor.tokens, cursor.index) else "\n",
    "hardbreak": lambda _: "<br>\n",
    "hr": lambda _: "<hr>\n",
    "table_open": _open_table,
    "table_close": lambda _: "</table></div>\n",
}
