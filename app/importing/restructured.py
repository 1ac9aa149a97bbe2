"""The one door to docutils: reStructuredText to Markdown, with the line each line comes from.

docutils is an optional extra. Roles and directives that only Sphinx knows are read for the text in them.
"""

import re

from app.errors import ImportingError
from app.importing.restructured_nodes import Lines, Writer

try:
    from docutils import core as docutils_core
except ImportError:
    docutils_core = None  # type: ignore[assignment]  # it is an optional extra

EXTRA_MISSING = (
    "{name}: reading reStructuredText needs docutils, which is an optional extra; install it beside Jieda:"
    " pip install 'jieda[import]', in a checkout: .venv/bin/pip install docutils"
)
SETTINGS = {
    "report_level": 5,
    "halt_level": 5,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "doctitle_xform": False,
    "sectsubtitle_xform": False,
    "syntax_highlight": "none",
    "input_encoding": "unicode",
    "_disable_config": True,
}
"""Nothing is included from elsewhere, nothing is printed, and every title stays a section."""

_ROLE = re.compile(r":(?:[\w.+-]+:)*(?P<role>[\w.+-]+):`(?P<text>[^`]+)`")
_TITLED = re.compile(r"(?P<title>.+?)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
_PROSE_ROLES = frozenset({"ref", "doc", "term", "numref", "abbr", "guilabel", "menuselection", "any"})


def to_markdown(text: str, name: str) -> tuple[str, tuple[int, ...]]:
    """The page as Markdown, and for each of its lines the line of `text` it comes from.

    Raises ImportingError where docutils is not installed.
    """
    if docutils_core is None:
        raise ImportingError(EXTRA_MISSING.format(name=name))
    lines = _document(text, 0)
    return "\n".join(line for line, _ in lines), tuple(number for _, number in lines)


def _document(text: str, first: int) -> Lines:
    tree = docutils_core.publish_doctree(_ROLE.sub(_plain_role, text), settings_overrides=SETTINGS)
    return list(Writer(first, _document).blocks(tree, 0))


def _plain_role(match: re.Match[str]) -> str:
    """Roles of Sphinx as text or literals; those of docutils stay."""
    role, text = match["role"], match["text"]
    titled = _TITLED.match(text)
    if role in {"math", "emphasis", "strong", "literal", "code", "sup", "sub"}:
        return match[0]
    if role in _PROSE_ROLES:
        return titled["title"] if titled else text.rpartition("/")[2]
    return f"``{titled['title'] if titled else text.lstrip('~!')}``"
