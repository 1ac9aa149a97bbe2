"""Tells whether a line of a log is of an error by the level that its program gave it, whatever it says."""

import re
from dataclasses import dataclass

from jieda.log_knowledge import Failures
from jieda.signature import PREFIXES, expression, parts_of

MARGIN = 100
"""Most characters in front of the level of a line."""


@dataclass(frozen=True, slots=True)
class Levels:
    """`known` finds any level, `error` that of an error, or a field of a record with one (group `field`)."""

    known: re.Pattern[str]
    error: re.Pattern[str]

    def tell_of_error(self, text: str) -> bool:
        """Whether a line of `text` is of an error by its level, near its head and behind no other level."""
        for found in self.error.finditer(text):
            head = text.rfind("\n", max(0, found.start() - MARGIN - 1), found.start()) + 1
            near = head or found.start() <= MARGIN
            if found["field"] or (near and not self.known.search(text, head, found.start())):
                return True
        return False


def compile_levels(failures: Failures) -> Levels:
    """Compile the levels of failures.yaml."""
    known = "|".join(map(re.escape, failures.levels)) or "(?!)"
    errors = (expression(parts_of(line, PREFIXES), PREFIXES) for line in failures.error_levels)
    error = "|".join(errors) or "(?!)"
    fields = "|".join(map(re.escape, failures.level_fields)) or "(?!)"
    return Levels(
        re.compile(rf"(?<!\w)(?:{known})(?!\w)"),
        re.compile(
            rf"(?<![\w./=-])(?:{error})(?=[\]\s:|>),]|$)"
            rf"|(?P<field>(?i:(?<![\w.])(?:{fields})[\"']?\s?[=:]\s?[\"']?(?:{error})(?!\w)))"
        ),
    )
