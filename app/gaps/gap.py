"""A question that nobody answered, and how often it was put."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from app.entry import Language


class Source(StrEnum):
    """Where a question was put."""

    SEARCH = "search"
    LOG = "log"


class Outcome(StrEnum):
    """How it ended."""

    NOTHING = "nothing"
    """A search found nothing."""
    WEAK = "weak"
    """A search found nothing that fits well."""
    UNKNOWN = "unknown"
    """No entry explains a log."""
    NEAR = "near"
    """None does; some are similar in wording."""


class Gap(NamedTuple):
    """A question that nobody answered, redacted. `kind`: the types of a log's failures, or empty."""

    source: Source
    kind: str
    text: str
    outcome: Outcome
    lang: Language


class Counted(NamedTuple):
    """How often something was asked in vain on a day (ISO 8601)."""

    gap: Gap
    day: str
    times: int


@dataclass(frozen=True, slots=True)
class Counts:
    """What is written in one go: gaps and ids of entries, each with how often."""

    asked: Mapping[Gap, int]
    reads: Mapping[str, int]
