"""The one door to Jinja: strict, escaping everything, with nothing global that a request could change."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from jieda.content.markdown.html_writer import code_html, flag_kind
from jieda.entry import Language
from jieda.locales.translations import Translations

TEMPLATES = Path(__file__).parent / "templates"

# What an error page or a title may have been given, but no document may contain. Escape characters stay in
# HTML: a colored log comes back into its text area as it was pasted.
NOT_IN_HTML = re.compile("\x00")
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")

FLAG = re.compile(r"(?<![\w-])--?[A-Za-z](?:[\w-]|<mark>[\w-]+</mark>)+", re.ASCII)
"""A flag, with what is marked in it: a line would end behind its dashes."""
MARK = re.compile("</?mark>")


@dataclass(frozen=True, slots=True)
class Renderer:
    """Turns a template and a finished view into text."""

    environment: Environment
    translations: Translations

    @classmethod
    def load(cls, translations: Translations, directory: Path = TEMPLATES) -> Self:
        """A renderer of the templates in `directory`."""
        return cls(_environment(directory), translations)

    def render(self, template: str, lang: Language, **context: object) -> str:
        """`template` with `context` and, as `t` unless that has it, the words of `lang`. Raises on a missing name."""
        text = self.environment.get_template(template).render(
            **{"t": self.translations.words(lang)} | context
        )
        return (NOT_IN_XML if template.endswith(".xml") else NOT_IN_HTML).sub("", text)


@cache
def _environment(directory: Path) -> Environment:
    """The templates of a folder, each compiled when it is first used: the first reader of a page waits for it a tenth
    of a second, once in a process, where every start would wait for all of them half a second."""
    environment = Environment(
        loader=FileSystemLoader(directory),
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
    """HTML that our own renderer made from escaped text, to be put into a page as it is."""
    return Markup(html)  # noqa: S704 - the callers pass rendered Markdown, snippets and JSON, all escaped at birth


def whole_flags(html: str) -> Markup:
    """Escaped text, perhaps with marks, none of whose flags is broken behind its dashes."""
    return safe(FLAG.sub(_unbroken, html))


def _unbroken(flag: re.Match[str]) -> str:
    kind = flag_kind(MARK.sub("", flag[0]))
    return f'<span class="{kind}">{flag[0]}</span>' if kind else flag[0]
