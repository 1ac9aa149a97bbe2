"""Tells whether a line of a log is of an error by the level that its program gave it, whatever it says."""

import re
from dataclasses import dataclass

from jieda.log_knowledge import Failures
from jieda.signature import PREFIXES, expression, parts_of

MARGIN = 100
"""Most characters in front of the level of a line."""

_WITHIN_NAME = re.compile(r"[\w./=-]")
_WITHIN_FIELD = re.compile(r"[\w.]")


@dataclass(frozen=True, slots=True)
class Levels:
    """`known` finds any level, `error` that of an error, `field` a field of a record with one, in lower case.

    The last two begin with what they look for, and what stands before a match is looked at afterwards: a pattern that
    begins by looking back takes four times as long.
    """

    known: re.Pattern[str]
    error: re.Pattern[str]
    field: re.Pattern[str]

    def tell_of_error(self, text: str) -> bool:
        """Whether a line of `text` is of an error by its level, near its head and behind no other level."""
        return any(
            self._is_level_of_line(text, found.start()) for found in self.error.finditer(text)
        ) or self._has_field(text.lower())

    def _is_level_of_line(self, text: str, start: int) -> bool:
        head = text.rfind("\n", max(0, start - MARGIN - 1), start) + 1
        return (
            (head > 0 or start <= MARGIN)
            and not _is_before(_WITHIN_NAME, text, start)
            and not self.known.search(text, head, start)
        )

    def _has_field(self, lowered: str) -> bool:
        return any(
            not _is_before(_WITHIN_FIELD, lowered, found.start()) for found in self.field.finditer(lowered)
        )


def _is_before(character: re.Pattern[str], text: str, start: int) -> bool:
    return start > 0 and character.match(text, start - 1) is not None


def compile_levels(failures: Failures) -> Levels:
    """Compile the levels of failures.yaml."""
    known = "|".join(map(re.escape, failures.levels)) or "(?!)"
    errors = (expression(parts_of(line, PREFIXES), PREFIXES) for line in failures.error_levels)
    error = "|".join(errors) or "(?!)"
    fields = "|".join(re.escape(field.lower()) for field in failures.level_fields) or "(?!)"
    return Levels(
        re.compile(rf"(?<!\w)(?:{known})(?!\w)"),
        re.compile(rf"(?:{error})(?=[\]\s:|>),]|$)"),
        re.compile(rf"(?:{fields})[\"']?\s?[=:]\s?[\"']?(?i:{error})(?!\w)"),
    )
