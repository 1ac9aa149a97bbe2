"""The one door to Pygments: code to HTML whose colors are classes."""

from functools import cache
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_PLAIN = frozenset({"", "text", "plain", "txt", "log", "output"})
_FORMATTER = HtmlFormatter[str](nowrap=True)


def highlighted(code: str, language: str) -> str:
    """Escaped HTML with `<span class>` only; its text is exactly `code`. An unknown language is plain."""
    lexer = _lexer(language.lower())
    if lexer is None or "\r" in code:
        return escape(code)
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
