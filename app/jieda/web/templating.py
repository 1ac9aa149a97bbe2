"""The only use of Jinja: strict and autoescaping, without globals that a request could change."""

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from jieda.content.markdown.html_writer import MAY_END, code_html, flag_kind

TEMPLATES = Path(__file__).parent / "templates"

# Characters that no document may contain, but error pages or titles may be given. HTML keeps escape characters: a
# colored log returns to its text area as it was pasted.
NOT_IN_HTML = re.compile("\x00")
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")

FLAG = re.compile(r"(?<![\w-])--?[A-Za-z](?:[\w-]|<mark>[\w-]+</mark>)+", re.ASCII)
"""A command-line flag, possibly with marks inside."""
MARK = re.compile("</?mark>")
BREAK = re.compile(f"(?<=[{MAY_END}])(?=(?:<mark>)?-)")


def render(template: str, **context: object) -> str:
    """Render `template` with `context`, which has every name that it uses. Raises on a missing name."""
    text = _environment().get_template(template).render(context)
    return (NOT_IN_XML if template.endswith(".xml") else NOT_IN_HTML).sub("", text)


@cache
def _environment() -> Environment:
    """Return the environment. Templates are compiled on first use, for which one reader waits a tenth of a second;
    compiling them all would make every start half a second slower."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["code"] = lambda text: safe(code_html(text))
    environment.filters["whole_flags"] = lambda text: whole_flags(escape(text))
    return environment


def safe(html: str) -> Markup:
    """Mark HTML that our own renderer made from escaped text as safe to insert unchanged."""
    return Markup(html)  # noqa: S704 - the callers pass rendered Markdown, snippets and JSON, all escaped at birth


def whole_flags(html: str) -> Markup:
    """Keep lines from breaking after the dashes of command-line flags in escaped text, which may have marks; let them
    break before a flag that follows Chinese punctuation."""
    return safe(FLAG.sub(_unbroken, BREAK.sub("<wbr>", html)))


def _unbroken(flag: re.Match[str]) -> str:
    kind = flag_kind(MARK.sub("", flag[0]))
    return f'<span class="{kind}">{flag[0]}</span>' if kind else flag[0]
