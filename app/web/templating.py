"""The one door to Jinja: strict, escaping everything, with nothing global that a request could change."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app.entry import Language
from app.web.translations import Translations

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Renderer:
    """Turns a template and a finished view into text."""

    environment: Environment
    translations: Translations

    @classmethod
    def load(cls, translations: Translations, directory: Path = TEMPLATES) -> Self:
        """A renderer of the templates in `directory`."""
        environment = Environment(
            loader=FileSystemLoader(directory),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        return cls(environment, translations)

    def words(self, lang: Language) -> Callable[..., str]:
        """`translate`, bound to one language."""
        return partial(self.translations.translate, lang)

    def render(self, template: str, lang: Language, **context: object) -> str:
        """`template` with `context` and, as `t`, the words of `lang`. Raises on any name that is missing."""
        return self.environment.get_template(template).render(t=self.words(lang), **context)


def safe(html: str) -> Markup:
    """HTML that our own renderer made from escaped text, to be put into a page as it is."""
    return Markup(html)  # noqa: S704 - the callers pass rendered Markdown, snippets and JSON, all escaped at birth
