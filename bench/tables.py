"""Tables of measurements in `bench/results/`, which git ignores; `bench.figures` publishes them."""

import datetime
import json
import os
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "results"


def record(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table, replacing that of the last run; the first cell names a row."""
    if odd := [row for row in rows if len(row) != len(columns)]:
        raise ValueError(f"{name}: rows with another number of cells than columns: {odd}")
    FOLDER.mkdir(exist_ok=True)
    table = {
        "measured": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "load": round(os.getloadavg()[0], 1),
        "columns": [*columns],
        "rows": [[*row] for row in rows],
    }
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
