"""Interface texts in both languages, each from one flat file."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Self

from jieda.entry import Language
from jieda.han import HAN, is_han

LOCALES = Path(__file__).parent
Translate = Callable[..., str]
"""Returns the text of a key in one language, as `Translations.translate` does."""
_SLOT = re.compile(rf"(?P<before>(?<=[{HAN}]) )?\{{(?P<name>\w+)\}}(?P<after> (?=[{HAN}]))?")


@dataclass(frozen=True, slots=True)
class Translations:
    """`catalogs` maps a key such as `home.lead` to its text, per language."""

    catalogs: Mapping[Language, Mapping[str, str]]

    @classmethod
    @cache
    def load(cls) -> Self:
        """Load the catalogs, one `<lang>.json` per language, once per process."""
        return cls({lang: json.loads((LOCALES / f"{lang}.json").read_text("utf-8")) for lang in Language})

    def translate(self, lang: Language, key: str, **args: str | int) -> str:
        """Return the text of `key` with its `{names}` filled from `args`; numbers are grouped by thousands.

        A text with a number is stored as `key.one` and `key.other`, selected by the argument `count`; a language
        without a singular has only `key.other`. `site` is the name of the site; texts without that placeholder ignore
        it. Raises KeyError for an unknown key.
        """
        catalog = self.catalogs[lang]
        if key not in catalog:
            is_singular = args.get("count") == 1 and f"{key}.one" in catalog
            key = f"{key}.one" if is_singular else f"{key}.other"
        text = catalog[key]
        if "{site}" in text:
            args.setdefault("site", catalog["site.short"])
        else:
            args.pop("site", None)
        return filled(text, args)

    def translator(self, lang: Language) -> Translate:
        """Return `translate` bound to one language."""
        return partial(self.translate, lang)

    def day(self, lang: Language, value: date) -> str:
        """Format a date in the style of a language."""
        month = self.translate(lang, f"date.month.{value.month}")
        return self.translate(lang, "date.format", year=str(value.year), month=month, day=str(value.day))


def filled(text: str, args: Mapping[str, str | int]) -> str:
    """Fill the `{names}` of `text` from `args`. Groups numbers by thousands; leaves no space between Han characters."""
    shown = {name: f"{value:,}" if isinstance(value, int) else value for name, value in args.items()}
    if not all(map(str.isascii, shown.values())):
        text = _SLOT.sub(lambda slot: _fit_spaces(slot, shown.get(slot["name"], "")), text)
    return text.format_map(shown) if args else text


def _fit_spaces(slot: re.Match[str], value: str) -> str:
    """Return a placeholder without the spaces around it where `value` begins or ends with a Han character."""
    before = "" if is_han(value[:1]) else slot["before"] or ""
    return f"{before}{{{slot['name']}}}{'' if is_han(value[-1:]) else slot['after'] or ''}"
