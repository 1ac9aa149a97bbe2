"""How many questions of the frameworks' issue trackers are answered: the newest that were found, taken by date.

    python -m bench.trackers [DIRECTORY ...]

`tests/judged_trackers.jsonl` has 60 threads of the trackers of slime and ROLL (ChatLearn's has none as new): day,
address and question of each, in our words or as the line in the log, whether an FAQ could answer it (`faq`), and the
entries that do. DIRECTORY: content directories to compare, by default the shipped one.
"""

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path

from jieda.evaluation.figures import FIRST_FIVE, FOUND, Bench, read_judged
from jieda.settings import Settings

from bench.tables import markdown, record

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "tests/judged_trackers.jsonl"
SURE = ("exact", "likely", "possible", FOUND)
OUTCOMES = ("right", "near", "unknown", "wrong")
COLUMNS = ("entries", "threads", *OUTCOMES)


def outcomes(directory: Path, folder: str) -> tuple[int, dict[str, str]]:
    """Return the number of entries of a directory, and the outcome of each thread by its id.

    `right`: the right entry is named first and not as a weak hit; `near`: it is among the first five; `unknown`: it is
    not, and only weak hits or possible matches are named; `wrong`: another entry is named as sure.
    """
    bench = Bench(Settings.load({}, content=[directory], data=folder))
    told = {}
    for one in read_judged(FILE):
        listed, said = bench.search(one), bench.diagnose(one)
        if said.right and said.grade in SURE:
            told[one.id] = "right"
        elif 1 <= listed.rank <= FIRST_FIVE or said.rank:
            told[one.id] = "near"
        else:
            told[one.id] = "wrong" if said.grade in ("exact", "likely", FOUND) else "unknown"
    return len({(path.parent.name, path.stem) for path in directory.glob("*/*/*.md")}), told


def main() -> None:
    """Measure and record the table: per directory, a row for all threads and one for those that an FAQ could answer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directories", nargs="*", type=Path, metavar="DIRECTORY")
    parser.add_argument("--each", action="store_true", help="print the outcome of each thread")
    chosen = parser.parse_args()
    askable = {
        one["id"] for one in map(json.loads, FILE.read_text(encoding="utf-8").splitlines()) if one["faq"]
    }
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for directory in chosen.directories or [ROOT / "content"]:
            entries, told = outcomes(directory, folder)
            for name, ids in ((f"{entries}", set(told)), (f"{entries}, could be answered", askable)):
                counts = Counter(outcome for one, outcome in told.items() if one in ids)
                rows.append((name, f"{len(ids)}", *(f"{counts[outcome]}" for outcome in OUTCOMES)))
            if chosen.each:
                print(*(f"{one} {outcome}" for one, outcome in told.items()), sep="\n")
    print(markdown(COLUMNS, rows))
    record("trackers", COLUMNS, rows)


if __name__ == "__main__":
    main()
