"""What a rule finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong. `where` is the file's path below its content directory."""

    where: str
    line: int
    message: str
