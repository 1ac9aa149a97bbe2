"""Messages of the content check in the reader's language; pages name buttons instead of commands."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from jieda.entry import Language
from jieda.errors import ContentError
from jieda.locales.translations import LOCALES

_HOLE = re.compile(r"%\d")

MOST_NESTED = 8
"""Most messages inside one another: more are in a value that somebody wrote."""

Place = Literal["terminal", "page"]
Table = Sequence[tuple[re.Pattern[str], str]]


@cache
def _table(lang: Language, place: Place) -> Table:
    """Return the messages with their translations, those with the most literal text first."""
    catalog: Mapping[str, Mapping[str, Mapping[str, str]]] = json.loads(
        (LOCALES / "check.json").read_text(encoding="utf-8")
    )
    translations: dict[str, str] = {}
    for section in ("libraries", "terminal", *(("page",) if place == "page" else ())):
        translations |= catalog[section].get(lang, {})
    return [
        (_compile(message), translation)
        for message, translation in sorted(
            translations.items(), key=lambda pair: -len(_HOLE.sub("", pair[0]))
        )
    ]


def _compile(message: str) -> re.Pattern[str]:
    """Return the pattern of a message. Each hole ends where the text behind it first comes, so matching is linear."""
    *texts, last = map(re.escape, _HOLE.split(message))
    if not texts:
        return re.compile(last)
    first, *inner = texts
    return re.compile(first + "".join(f"(?>(.+?){text})" for text in inner) + f"(.+){last}", re.DOTALL)


def problem_text(message: str, lang: Language, place: Place = "page", deepest: int = MOST_NESTED) -> str:
    """Translate a message and the messages inside it, but no code that it quotes. An unknown message stays as it is."""
    for pattern, translation in _table(lang, place):
        if match := pattern.fullmatch(message):
            parts = [
                part
                if deepest == 0 or f"`{part}`" in message
                else problem_text(part, lang, place, deepest - 1)
                for part in match.groups()
            ]
            return _fill_in(translation, parts)
    return message


def failure_text(error: Exception, lang: Language, place: Place = "page") -> str:
    """Return what an exception says."""
    if isinstance(error, ContentError):
        return f"{error.path}:{error.line}: {problem_text(error.message, lang, place)}"
    return problem_text(str(error), lang, place) or type(error).__name__


def _fill_in(text: str, parts: Sequence[str]) -> str:
    return _HOLE.sub(lambda hole: parts[int(hole[0][1]) - 1], text)
