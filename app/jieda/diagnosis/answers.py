"""The result types of a diagnosis, shared by every surface."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from jieda.entry import Edition, Entry
from jieda.log.traceback import NO_LAYOUT, LogLayout
from jieda.log.window import LineRange


class Confidence(StrEnum):
    """How sure a diagnosis is, strongest first. docs/diagnosis.md says what each word means."""

    EXACT = "exact"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Verdict(StrEnum):
    """What a diagnosis comes to."""

    KNOWN = "known"
    """An entry explains the log, `exact` or `likely`."""
    POSSIBLE = "possible"
    """An entry may explain it, or one of several frameworks' entries does and the log does not tell which."""
    NEAR = "near"
    """No entry does; some share a rare word, or explain the same in the log of another framework."""
    UNKNOWN = "unknown"
    """No entry does, and none is near."""
    NO_ERROR = "no_error"
    """There is no sign of an error in the log, whether or not entries are near."""


class MatchReason(StrEnum):
    """Why a line of a log speaks for an entry: it has a signature of the entry, or belongs to a failure, or to other
    text, that shares words with it."""

    SIGNATURE = "signature"
    EXCEPTION = "exception"
    SYMPTOM = "symptom"


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line of the paste that speaks for a match. `line` counts from 1 in the text as pasted; `begins`: the place in
    `text` where the prefixes of process, rank and time end."""

    line: int
    text: str
    reason: MatchReason
    begins: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence for (positive) or against an entry, in log-odds (natural logarithm): `kind` is `base`, `origin`,
    `signature`, `words`, `background` or `unheard`, `detail` says which."""

    kind: str
    detail: str
    log_odds: float


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that explains a log, with the edition to show; `evidence` adds up to `score`.

    `highlights` maps the number of a matched line to the parts of the log's text that support the entry. Use them to
    search the lines, never show them by themselves: secrets are masked in the lines only.
    """

    entry: Entry
    edition: Edition
    confidence: Confidence
    matched: tuple[MatchedLine, ...]
    score: float
    evidence: tuple[Evidence, ...]
    highlights: Mapping[int, tuple[str, ...]]
    may_not_apply_to: str = ""
    """A program with the version in the log for which the entry does not hold; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Near:
    """An entry that does not explain a log, but shares `words` with it, the rarest first. `foreign`: it is for another
    framework than that of the log."""

    entry: Entry
    edition: Edition
    words: tuple[str, ...]
    score: float
    evidence: tuple[Evidence, ...]
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class LogError:
    """A failure that the log tells of; `count` is how often, over all ranks. `wraps`: it only passes on what failed in
    another process, as `wrappers` of `failures.yaml` say."""

    type: str
    message: str
    line: int
    count: int
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class CauseElsewhere:
    """Where the cause of a failure is if the log only reports it: `places` are the parts of the log that name the
    process, such as `rank : 3`. Both are empty if nothing is known."""

    places: tuple[str, ...] = ()
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of a diagnosis. `matches`: a few, best first, empty without a known entry. `near`: empty if there are
    matches. `query`: a ready-made search for the failure in the log.
    """

    matches: tuple[Match, ...]
    near: tuple[Near, ...]
    verdict: Verdict
    errors: tuple[LogError, ...]
    framework: str
    """Guessed from paths and module names; empty without evidence. Not always a tag of the taxonomy: a log of another
    program names that program."""
    query: str
    asks: tuple[str, ...] = ()
    """Frameworks whose entries fit equally well: ask the user which one is meant before any fix."""
    parts: tuple[LineRange, ...] = ()
    """The parts read of a long log; empty if all of it was read."""
    layout: LogLayout = NO_LAYOUT
    """Layout of the text read; empty if its line numbers differ from those of the log."""
    elsewhere: CauseElsewhere | None = None
    """Set if the log only reports a failure of another process, and no entry surely explains it."""

    @property
    def confidence(self) -> Confidence | None:
        return self.matches[0].confidence if self.matches else None

    @property
    def is_program_output(self) -> bool:
        """Whether the text is output of a failing program: it has a failure or a known error text."""
        lines = (line for match in self.matches for line in match.matched)
        return bool(self.errors) or any(line.reason is MatchReason.SIGNATURE for line in lines)

    @property
    def roots(self) -> tuple[LogError, ...]:
        """The failures that are not just wrappers of others, in the order of the log."""
        return tuple(each for each in self.errors if not each.wraps)

    @property
    def root(self) -> LogError | None:
        """The root failure: the first one that wraps no other. Those after it are mostly its consequences."""
        return next(iter(self.roots), None)

    @property
    def main_error(self) -> LogError | None:
        """The root failure; the first wrapper where the text has no other."""
        return self.root or next(iter(self.errors), None)
