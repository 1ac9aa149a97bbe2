"""How often each grade of sureness was right: a table, and the plot in the documentation.

    python -m bench.calibration [FILE ...]

FILE are judged queries, by default the open sets of `tests/`. Each gets the same verdict as in the pages and the API.
The plot, `docs/images/calibration.svg`, is drawn without a library.
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from jieda.evaluation.figures import Bench, read_judged, sureness
from jieda.settings import Settings

from bench.tables import markdown, record

ROOT = Path(__file__).resolve().parent.parent
OPEN = (
    ROOT / "tests/judged.jsonl",
    ROOT / "tests/judged_new_entries.jsonl",
    ROOT / "tests/diagnosis/judged/open.jsonl",
)
PLOT = ROOT / "docs/images/calibration.svg"
COLUMNS = ("", "answers", "right", "of failures", "right of these")
PROMISED = {"exact": 0.97, "likely": 0.97, "possible": 0.6}
"""Least share that should be right; drawn as a line."""
LEFT, WIDTH, TOP, STEP, BAR = 90, 460, 34, 34, 20

Grades = Mapping[str, Mapping[str, float]]


def drawn(grades: Grades) -> Iterator[str]:
    """Yield the lines of the plot: a bar per grade, as long as the share that was right."""
    height = TOP + STEP * len(grades) + 12
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 130} {height}" role="img"'
        ' font-family="system-ui, sans-serif" font-size="13">'
    )
    yield "<title>How often each grade was right · 各档把握的正确率</title>"
    yield f'<rect width="100%" height="{height}" fill="#fff"/>'
    for tenth in range(0, 11, 2):
        x = LEFT + WIDTH * tenth / 10
        yield f'<path d="M{x} {TOP - 8}V{height - 10}" stroke="#ddd"/>'
        yield f'<text x="{x}" y="{TOP - 14}" text-anchor="middle" fill="#666">{tenth / 10:.1f}</text>'
    for place, (grade, row) in enumerate(grades.items()):
        y = TOP + STEP * place
        yield f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end">{grade}</text>'
        yield f'<rect x="{LEFT}" y="{y}" width="{WIDTH * row["right"]:.0f}" height="{BAR}" fill="#2f7d6d"/>'
        if grade in PROMISED:
            x = LEFT + WIDTH * PROMISED[grade]
            yield f'<path d="M{x:.0f} {y - 4}v{BAR + 8}" stroke="#b3261e" stroke-width="2"/>'
        told = f"{row['right']:.3f} · n = {row['answers']:.0f}"
        yield f'<text x="{LEFT + WIDTH + 10}" y="{y + 15}" fill="#333">{told}</text>'
    yield "</svg>"


def main() -> None:
    """Measure, record the table and draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    files = parser.parse_args().files or OPEN
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Settings.load({}, content=[ROOT / "content"], data=folder))
        grades = sureness([bench.diagnose(one) for file in files for one in read_judged(file)])
    rows = [
        (
            grade,
            f"{row['answers']:.0f}",
            f"{row['right']:.3f}",
            f"{row['failures']:.0f}",
            f"{row['failures_right']:.3f}" if row["failures"] else "–",
        )
        for grade, row in grades.items()
    ]
    print(markdown(COLUMNS, rows))
    record("calibration", COLUMNS, rows)
    PLOT.write_text("\n".join(drawn(grades)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
