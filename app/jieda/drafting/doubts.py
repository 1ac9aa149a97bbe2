"""What an import could not decide: said in the language of the draft; `jieda check` reports it until it is gone.

Texts are in the locales, by rule. The rule stands in front of the text: what `jieda check` finds by its own rules has
its doubt."""

import re
from dataclasses import dataclass
from functools import cache

from jieda.entry import Language
from jieda.locales.translations import Translations

MAX_CHARS = 300

ORIGINS = re.compile(r"-from-(?:log|threads)$")
"""Ends the name of a text that says for an entry made from these what its rule says otherwise for one from a page."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A choice somebody has to look at; `values` fill its text."""

    rule: str
    values: tuple[tuple[str, str], ...] = ()

    def say(self, lang: Language) -> str:
        """Rule and text, one line."""
        text = f"{ORIGINS.sub('', self.rule)}: {_texts().translate(lang, f'doubt.{self.rule}', **dict(self.values))}"
        return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"


@cache
def _texts() -> Translations:
    return Translations.load()


def doubt(rule: str, **values: object) -> Doubt:
    """A doubt of one of the rules."""
    return Doubt(rule, tuple((name, str(value)) for name, value in values.items()))
