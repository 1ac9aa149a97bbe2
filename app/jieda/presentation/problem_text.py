"""Messages of the content check for authors in the browser: translated, and naming buttons."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache

from jieda.entry import Language
from jieda.locales.translations import LOCALES

_HOLE = re.compile(r"%\d")

Table = Sequence[tuple[re.Pattern[str], str]]


@cache
def _tables() -> Mapping[Language, Table]:
    """Return the messages with their translations, those with the most literal text first."""
    told = json.loads((LOCALES / "check.json").read_text(encoding="utf-8"))
    return {
        Language(lang): [
            (re.compile("(.+?)".join(map(re.escape, _HOLE.split(said))), re.DOTALL), meant)
            for said, meant in sorted(texts.items(), key=lambda pair: -len(_HOLE.sub("", pair[0])))
        ]
        for lang, texts in told.items()
    }


def problem_text(message: str, lang: Language) -> str:
    """Translate a message, part by part where it is composed of others. Unknown messages stay unchanged."""
    for pattern, meant in _tables()[lang]:
        if found := pattern.fullmatch(message):
            return _filled(meant, [problem_text(part, lang) for part in found.groups()])
    return message


def _filled(text: str, parts: Sequence[str]) -> str:
    return _HOLE.sub(lambda hole: parts[int(hole[0][1]) - 1], text)
