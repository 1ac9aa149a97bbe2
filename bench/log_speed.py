"""How long a log takes to diagnose, and that twice the log takes twice as long.

    .venv/bin/python -m bench.log_speed

Times are CPU seconds, the best of several runs. Beside the log of 64 ranks stands one pass of a compiled pattern
over the same text: no program that reads the text with Python's `re` at all is faster than that.
"""

import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from jieda.entry import Language
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge

from bench.logs import ADVERSARIAL, MIB, interleaved_ranks

RUNS = 5
ONE_PASS = re.compile(r"^.*?\b(\w+(?:Error|Exception))\b", re.MULTILINE)


def seconds(work: Callable[[], object], runs: int = RUNS) -> float:
    """CPU time of the fastest of some runs."""
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
        diagnoser = knowledge.snapshot.diagnoser
        log = interleaved_ranks(MIB)
        whole = seconds(lambda: diagnoser.diagnose(log, Language.EN))
        one_pass = seconds(lambda: sum(1 for _ in ONE_PASS.finditer(log)))
        lines = log.count("\n") + 1
        print(
            f"1 MiB, 64 ranks, {lines} lines: {whole:.3f} s; one compiled pattern over it: {one_pass:.3f} s"
        )
        print(f"\n{'input':26} {'512 KiB':>9} {'1 MiB':>9} {'ratio':>6}")
        for name, make in {"64 ranks": interleaved_ranks, **ADVERSARIAL}.items():
            half, full = make(MIB // 2), make(MIB)
            first = seconds(lambda text=half: diagnoser.diagnose(text, Language.EN), 3)  # type: ignore[misc]
            second = seconds(lambda text=full: diagnoser.diagnose(text, Language.EN), 3)  # type: ignore[misc]
            print(f"{name:26} {first:9.3f} {second:9.3f} {second / first:6.2f}")


if __name__ == "__main__":
    main()
