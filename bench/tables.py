"""Where benchmarks leave their tables: `bench/results/`, which git ignores."""

from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "results"


def note(name: str, lines: Iterable[str]) -> None:
    """Writes a table, in place of the one of the last run."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
