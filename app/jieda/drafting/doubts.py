"""Doubts: choices that an import could not make, written in the language of the draft; `jieda check` reports each until
it is removed.

Texts are in the locales, by rule. The rule precedes the text, as in the problems that `jieda check` finds by its own
rules."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from jieda.entry import Language
from jieda.locales.translations import Translations

MAX_CHARS = 300

VARIANTS = re.compile(r"-(?:from-log|from-threads|if-none)$")
"""Suffix of a rule whose text differs: for entries made from a log or from threads instead of a page, or where nothing
was guessed."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A choice that a person has to review; `values` fill its text."""

    rule: str
    values: tuple[tuple[str, str], ...] = ()

    def say(self, lang: Language) -> str:
        """Return rule and text in one line."""
        text = f"{VARIANTS.sub('', self.rule)}: {_texts().translate(lang, f'doubt.{self.rule}', **dict(self.values))}"
        return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"


@cache
def _texts() -> Translations:
    return Translations.load()


def doubt(rule: str, **values: object) -> Doubt:
    """Create a doubt of a rule."""
    return Doubt(rule, tuple((name, str(value)) for name, value in values.items()))


def doubt_guess(rule: str, names: Sequence[str]) -> Doubt:
    """Create a doubt about what was guessed, which may be nothing."""
    return doubt(rule, names=", ".join(names)) if names else doubt(f"{rule}-if-none")
