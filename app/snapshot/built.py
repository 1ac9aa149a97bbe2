"""What comes of a build."""

from dataclasses import dataclass

from app.entry import Problem


class BuildAbandoned(Exception):
    """The process is about to end, and what was being built is left alone."""


@dataclass(frozen=True, slots=True)
class Built:
    """What a build came to. `changed`: the generation is another one than before."""

    generation: str
    changed: bool
    entries: int
    problems: tuple[Problem, ...]
    folders: frozenset[str]
