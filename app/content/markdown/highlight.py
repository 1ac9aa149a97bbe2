"""The one door to Pygments: code to HTML whose colors are classes."""

from functools import cache, lru_cache
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

MOST, MOST_IN_LINE = 4096, 300
"""Characters of a block, and of a line in it. Some lexers try every place of a line, or of what is left, for every
character: 48 KiB of made-up Java took 37 s. What is longer stays plain; the longest shipped block has 1,218."""

_PLAIN = frozenset({"", "text", "plain", "txt", "log", "output"})
_FORMATTER = HtmlFormatter[str](nowrap=True)


def highlighted(code: str, language: str) -> str:
    """Escaped HTML with `<span class>` only; its text is exactly `code`. An unknown language is plain, and so is what
    is too long to be colored in any decent time."""
    lexer = _lexer(language.lower()) if is_short(code) else None
    if lexer is None or "\r" in code:
        return escape(code)
    return _colored(code, lexer)


def is_short(code: str) -> bool:
    """Whether code is short enough to be colored."""
    return len(code) <= MOST and max(map(len, code.split("\n"))) <= MOST_IN_LINE


@lru_cache(64)
def _colored(code: str, lexer: Lexer) -> str:
    # Kept for a moment: twins have the same code.
    return highlight(code, lexer, _FORMATTER)


@cache
def _lexer(language: str) -> Lexer | None:
    # Cached because Pygments walks a table of 600 lexers and imports the one it finds.
    if language in _PLAIN:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
