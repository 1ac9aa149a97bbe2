"""How long diagnosing a log takes, and whether twice the log takes twice as long.

    .venv/bin/python -m bench.log_speed

Times are CPU seconds, the best of several runs, with the garbage collector set as in the process for large logs. For
comparison, the log of 64 ranks is also scanned once with a compiled pattern: no program that reads the text with
Python's `re` can be faster.
"""

import gc
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from jieda.entry import Language
from jieda.helpers import GC_THRESHOLDS
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge

from bench.logs import ADVERSARIAL, MIB, interleaved_ranks
from bench.tables import markdown, record

RUNS = 5
ONE_PASS = re.compile(r"^.*?\b(\w+(?:Error|Exception))\b", re.MULTILINE)


def seconds(work: Callable[[], object], runs: int = RUNS) -> float:
    """Return the CPU time of the fastest run."""
    taken = []
    for _ in range(runs):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    with tempfile.TemporaryDirectory() as data:
        knowledge = Knowledge(Settings.load({"JIEDA_DATA": str(Path(data))}))
        knowledge.open()
        gc.set_threshold(*GC_THRESHOLDS)
        gc.freeze()
        diagnoser = knowledge.snapshot.diagnoser
        log = interleaved_ranks(MIB)
        whole = seconds(lambda: diagnoser.diagnose(log, Language.EN))
        one_pass = seconds(lambda: sum(1 for _ in ONE_PASS.finditer(log)))
        lines = log.count("\n") + 1
        print(
            f"1 MiB, 64 ranks, {lines} lines: {whole:.3f} s; one compiled pattern over it: {one_pass:.3f} s"
        )
        columns = ["input", "lines of 1 MiB", "512 KiB, s", "1 MiB, s", "ratio"]
        rows = []
        for name, make in {"64 ranks": interleaved_ranks, **ADVERSARIAL}.items():
            half, full = make(MIB // 2), make(MIB)
            first = seconds(lambda text=half: diagnoser.diagnose(text, Language.EN), 3)  # type: ignore[misc]
            second = seconds(lambda text=full: diagnoser.diagnose(text, Language.EN), 3)  # type: ignore[misc]
            said = (f"{full.count(chr(10)) + 1:,}", f"{first:.3f}", f"{second:.3f}", f"{second / first:.2f}")
            rows.append([name, *said])
    record("logs", columns, rows)
    print(markdown(columns, rows))


if __name__ == "__main__":
    main()
