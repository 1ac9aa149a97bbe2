"""Messages of the content check in the reader's language; in the browser they name buttons instead of commands."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from jieda.entry import Language
from jieda.locales.translations import LOCALES

_HOLE = re.compile(r"%\d")

Place = Literal["terminal", "page"]
Table = Sequence[tuple[re.Pattern[str], str]]


@cache
def _table(lang: Language, place: Place) -> Table:
    """Return the messages with their translations, those with the most literal text first."""
    told: Mapping[str, Mapping[str, Mapping[str, str]]] = json.loads(
        (LOCALES / "check.json").read_text(encoding="utf-8")
    )
    sections = (told["yaml"], told["terminal"], told["page"] if place == "page" else {})
    texts = {said: meant for section in sections for said, meant in section.get(lang, {}).items()}
    return [
        (re.compile("(.+?)".join(map(re.escape, _HOLE.split(said))), re.DOTALL), meant)
        for said, meant in sorted(texts.items(), key=lambda pair: -len(_HOLE.sub("", pair[0])))
    ]


def problem_text(message: str, lang: Language, place: Place = "page") -> str:
    """Translate a message, part by part where it is composed of others. Unknown messages stay unchanged."""
    for pattern, meant in _table(lang, place):
        if found := pattern.fullmatch(message):
            return _filled(meant, [problem_text(part, lang, place) for part in found.groups()])
    return message


def _filled(text: str, parts: Sequence[str]) -> str:
    return _HOLE.sub(lambda hole: parts[int(hole[0][1]) - 1], text)
