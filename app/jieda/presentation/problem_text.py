"""What the check of content says, for those who write in the browser: in their language, naming buttons."""

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
    """Messages of the check with what they are in a language, those with more words of their own first."""
    told = json.loads((LOCALES / "check.json").read_text(encoding="utf-8"))
    return {
        Language(lang): [
            (re.compile("(.+?)".join(map(re.escape, _HOLE.split(said))), re.DOTALL), meant)
            for said, meant in sorted(texts.items(), key=lambda pair: -len(_HOLE.sub("", pair[0])))
        ]
        for lang, texts in told.items()
    }


def problem_text(message: str, lang: Language) -> str:
    """A message of the check in a language; one that is made of others, part by part. What the table lacks stays."""
    for pattern, meant in _tables()[lang]:
        if found := pattern.fullmatch(message):
            return _filled(meant, [problem_text(part, lang) for part in found.groups()])
    return message


def _filled(text: str, parts: Sequence[str]) -> str:
    return _HOLE.sub(lambda hole: parts[int(hole[0][1]) - 1], text)
