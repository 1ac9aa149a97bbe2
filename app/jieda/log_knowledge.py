"""What the content says about logs in general, whatever the entries are about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SHARED_BY = 3
"""A signature that so many logs of the background have is one that any program prints: it proves `likely` at most."""


class Role(StrEnum):
    """The part that a program plays in a log."""

    FRAMEWORK = "framework"
    """Entries are about it."""
    COMPONENT = "component"
    """Many programs are built on it: its frames speak neither for nor against anybody."""
    OTHER = "other"
    """No entry is about it: what every program prints has other reasons there."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that logs come from.

    `names` are how logs and people speak of it, `folders` the folders and packages of its paths (`a/b`: two in a row;
    `*`: any characters of one name), `classes` those of its Ray actors, by which lines name the process that wrote
    them. `word` is false for a name that is an ordinary word as well.
    """

    id: str
    role: Role
    names: tuple[str, ...]
    folders: tuple[str, ...]
    word: bool = True
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Programs:
    """Programs by id. Below a folder of `installed` the next folder is a package; `standard` are paths of nobody."""

    by_id: Mapping[str, Program] = field(default_factory=dict)
    installed: tuple[str, ...] = ()
    standard: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prefix:
    """What stands before the text of a line, in the grammar of signatures; `source`: it names who wrote the line."""

    name: str
    lines: tuple[str, ...]
    source: bool = False
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """Messages of one origin that are not exceptions of Python's; `meaning` says in words what such a line tells.

    `start`: they stand at the beginning of a line.
    """

    name: str
    lines: tuple[str, ...]
    meaning: str = ""
    start: bool = False
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failures:
    """How programs write logs and tell of failures, where that is not Python's own way."""

    levels: tuple[str, ...] = ()
    prefixes: tuple[Prefix, ...] = ()
    repeats: tuple[str, ...] = ()
    """What a program writes behind a line that others printed as well, with `{int}` for how often."""
    message_fields: tuple[str, ...] = ()
    """Fields of a JSON record that the text of a log line may stand in, the first one first."""
    level_fields: tuple[str, ...] = ()
    """Those that its level may stand in."""
    wrappers: tuple[str, ...] = ()
    """Exceptions that pass on what failed in another process."""
    remote: tuple[str, ...] = ()
    """How a traceback from another process begins; `{word}` is the exception's name."""
    exception_endings: tuple[str, ...] = ()
    """How the name of an exception may end, after Error and Exception."""
    families: tuple[Family, ...] = ()
    troubled: tuple[str, ...] = ()
    """Words by which somebody tells that something went wrong; those that are Latin may have an ending."""
    untroubled: tuple[str, ...] = ()
    """What is said with such words where nothing went wrong, as it begins: `no error`."""
    word_endings: tuple[str, ...] = ()
    """How a Latin word of `troubled` may go on: `fails`, but not `failover`."""


@dataclass(frozen=True, slots=True)
class Background:
    """A log that no entry explains: what healthy and foreign programs print."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class LogKnowledge:
    """Programs and ways to fail, merged over the content directories."""

    programs: Programs = field(default_factory=Programs)
    failures: Failures = field(default_factory=Failures)
