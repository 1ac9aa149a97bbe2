"""Masks secrets in text from logs: tokens, keys and passwords. A log is matched as it was pasted, but for the
lines of private keys; only answers are masked, because people copy them into chats and issues."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from jieda.diagnosis.answers import Diagnosis
from jieda.han import HAN
from jieda.log.lines import MASK, PRIVATE_KEY
from jieda.places import PACKAGE

_PART = re.compile(r"\(\?&(\w+)\)")


def read_patterns(name: str, **parts: str) -> Mapping[str, Mapping[str, str]]:
    """Return the tables of patterns in a file of the knowledge, with its `parts` and these put in their places."""
    tables = tomllib.loads((PACKAGE / "knowledge" / name).read_text(encoding="utf-8"))
    parts |= tables["parts"]

    def whole(pattern: str | Sequence[str]) -> str:
        """Return a pattern, perhaps written in several pieces, without references."""
        return _PART.sub(lambda part: whole(parts[part[1]]), "".join(pattern))

    return {table: {key: whole(pattern) for key, pattern in rows.items()} for table, rows in tables.items()}


_TABLES = read_patterns("secrets.toml", han=f"[{HAN}]", private_key=PRIVATE_KEY)
SECRETS: Mapping[str, re.Pattern[str]] = {
    **{name: re.compile(pattern, re.IGNORECASE) for name, pattern in _TABLES["named"].items()},
    **{
        name: re.compile(f"{_TABLES['parts']['start']}(?P<secret>{pattern})")
        for name, pattern in _TABLES["shaped"].items()
    },
}

_EMAIL = re.compile(
    r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])"
)


def masked_for_others(text: str) -> str:
    """Mask secrets and e-mail addresses, in text that one reader sends to another."""
    return _EMAIL.sub(MASK, masked(text))


def masked(text: str) -> str:
    """Replace each secret in `text` with MASK."""
    for pattern in SECRETS.values():
        text = pattern.sub(_without, text)
    return text


def _without(match: re.Match[str]) -> str:
    for name, value in match.groupdict().items():
        if value:
            start, end = (edge - match.start() for edge in match.span(name))
            return f"{match[0][:start]}{MASK}{match[0][end:]}"
    return match[0]


def without_secrets(diagnosis: Diagnosis) -> Diagnosis:
    """Mask all text in a diagnosis that was taken from the log."""
    matches = (
        replace(match, matched=tuple(replace(line, text=masked(line.text)) for line in match.matched))
        for match in diagnosis.matches
    )
    where = diagnosis.elsewhere
    return replace(
        diagnosis,
        matches=tuple(matches),
        elsewhere=where and replace(where, places=tuple(map(masked, where.places))),
        errors=tuple(replace(error, message=masked(error.message)) for error in diagnosis.errors),
        query=masked(diagnosis.query),
    )
