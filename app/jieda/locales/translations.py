"""Interface texts in both languages, each from one flat file."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache, partial
from pathlib import Path

from jieda.entry import Language
from jieda.han import HAN, is_han

LOCALES = Path(__file__).parent
Translate = Callable[..., str]
"""Returns the text of a key in one language, as `translate` does."""
_SLOT = re.compile(rf"(?P<before>(?<=[{HAN}]) )?\{{(?P<name>\w+)\}}(?P<after> (?=[{HAN}]))?")


@cache
def catalog(lang: Language) -> Mapping[str, str]:
    """Return the texts of a language by their keys, such as `home.lead`."""
    texts: dict[str, str] = json.loads((LOCALES / f"{lang}.json").read_text("utf-8"))
    return texts


def translate(lang: Language, key: str, **args: str | int) -> str:
    """Return the text of `key` with its `{names}` filled from `args`; numbers are grouped by thousands.

    A text with a number is stored as `key.one` and `key.other`, selected by the argument `count`; a language without a
    singular has only `key.other`. `site` is the name of the site; texts without that placeholder ignore it. Raises
    KeyError for an unknown key.
    """
    texts = catalog(lang)
    if key not in texts:
        is_singular = args.get("count") == 1 and f"{key}.one" in texts
        key = f"{key}.one" if is_singular else f"{key}.other"
    text = texts[key]
    if "{site}" in text:
        args.setdefault("site", texts["site.short"])
    else:
        args.pop("site", None)
    return filled(text, args)


def translator(lang: Language) -> Translate:
    """Return `translate` bound to one language."""
    return partial(translate, lang)


def format_day(lang: Language, value: date) -> str:
    """Format a date in the style of a language."""
    month = translate(lang, f"date.month.{value.month}")
    return translate(lang, "date.format", year=str(value.year), month=month, day=str(value.day))


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
