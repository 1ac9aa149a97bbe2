"""What the content knows about logs independently of its entries."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SHARED_BY = 3
"""A signature in this many background logs is what any program may print: it proves `likely` at most."""


class Role(StrEnum):
    """The role of a program in a log."""

    FRAMEWORK = "framework"
    """Entries are about it."""
    COMPONENT = "component"
    """Many programs are built on it: its frames are evidence neither for nor against any program."""
    OTHER = "other"
    """No entry is about it: generic error text has other causes there."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that logs come from.

    `names` are its names in logs and texts; `folders` the folders and packages in its paths (`a/b`: nested; `*`: any
    characters of one name); `classes` its Ray actors, whose names prefix the lines that they print. `word` is
    false for a name that is also an ordinary word.
    """

    id: str
    role: Role
    names: tuple[str, ...]
    folders: tuple[str, ...]
    word: bool = True
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Programs:
    """Programs by id. Folders directly below one of `installed` are packages; `standard` paths belong to no program."""

    by_id: Mapping[str, Program] = field(default_factory=dict)
    installed: tuple[str, ...] = ()
    standard: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix of log lines, in the grammar of prefixes; `source`: it names the process that wrote the line."""

    name: str
    lines: tuple[str, ...]
    source: bool = False
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """Failure messages of one origin other than Python exceptions; `meaning` describes them in words.

    `start`: they occur at the beginning of a line.
    """

    name: str
    lines: tuple[str, ...]
    meaning: str = ""
    start: bool = False
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FailureReport:
    """A launcher's report that a process failed, without the cause.

    It has one of `lines`; from there on, `places` name the process. `advice`, by language, says where the cause is.
    """

    name: str
    lines: tuple[str, ...]
    advice: Mapping[str, str] = field(hash=False)
    places: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failures:
    """Formats of logs and failures other than Python's own."""

    levels: tuple[str, ...] = ()
    error_levels: tuple[str, ...] = ()
    """What marks the head of a line as an error, in the grammar of prefixes."""
    prefixes: tuple[Prefix, ...] = ()
    repeats: tuple[str, ...] = ()
    """Text after a line that was printed several times, with `{int}` for the count."""
    message_fields: tuple[str, ...] = ()
    """Fields of a record that may hold the text of a log line, in order of precedence."""
    level_fields: tuple[str, ...] = ()
    """Fields that may hold its level."""
    error_fields: tuple[str, ...] = ()
    """Fields that may hold a traceback or the text of an error; `a.b` is also the field `b` of a record `a`."""
    wrappers: tuple[str, ...] = ()
    """Exceptions and families that only pass on a failure reported elsewhere."""
    handled: tuple[str, ...] = ()
    """Lines above the traceback of an exception that was handled or ignored."""
    caused: tuple[str, ...] = ()
    """Lines between a failure and, below it, its cause."""
    summaries: tuple[str, ...] = ()
    """Families that only say that something failed, while the log tells why."""
    reports: tuple[FailureReport, ...] = ()
    """Reports that a process failed, without the cause."""
    remote: tuple[str, ...] = ()
    """First lines of tracebacks from another process; `{word}` is the exception's name."""
    exception_endings: tuple[str, ...] = ()
    """Endings of exception names, besides Error and Exception."""
    families: tuple[Family, ...] = ()
    troubled: tuple[str, ...] = ()
    """Words that report trouble; a Latin one may have one of `word_endings`."""
    untroubled: tuple[str, ...] = ()
    """Words that negate such a word when they precede it: `no error`."""
    word_endings: tuple[str, ...] = ()
    """Endings of the Latin words of `troubled`: `fails`, but not `failover`."""


@dataclass(frozen=True, slots=True)
class LogKnowledge:
    """Programs and formats of failures, merged over the content directories."""

    programs: Programs = field(default_factory=Programs)
    failures: Failures = field(default_factory=Failures)
