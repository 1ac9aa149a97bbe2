"""Completion: CPU time per keystroke, by typed text and number of entries.

    python -m bench.complete [ENTRIES ...]

The entries are copies of the shipped ones, each with titles and identifiers of its own.
"""

import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from jieda.analysis.pipeline import Analyzer
from jieda.content.read.load import Loaded
from jieda.entry import Language
from jieda.search.completion import Completer, CompletionCandidate, completion_arrays

from bench.made import candidates_of

ROOT = Path(__file__).resolve().parent.parent
TYPED = [
    "t",
    "tr",
    "trai",
    "training is",
    "--",
    "--use-dyn",
    "显",
    "显存不",
    "ynami",
    "zqx",
    "q7",
    "-",
    "a b c",
]
TIMES = 20


def copies(shipped: Sequence[CompletionCandidate], times: int) -> Iterator[CompletionCandidate]:
    """Yield every candidate `times` times, distinguished by a number."""
    for number in range(times):
        for one in shipped:
            text = f"{one.completion.text}_{number}" if number else one.completion.text
            yield replace(one, completion=replace(one.completion, text=text))


def main(counts: Sequence[int]) -> None:
    """Print the median and the slowest of the typed texts."""
    library = Loaded([ROOT / "content"]).library()
    analyzer = Analyzer(library.dictionary)
    shipped = candidates_of(library)
    print("entries candidates  build/s  median/ms  slowest/ms  typed")
    for count in counts:
        made = tuple(copies(shipped, max(1, count // len(library.entries))))
        start = time.process_time()
        completer = Completer(completion_arrays(made, analyzer.fold), analyzer.fold, lambda _: True)
        built = time.process_time() - start
        taken = {text: milliseconds(completer, text) for text in TYPED}
        slowest = max(taken, key=taken.__getitem__)
        median = statistics.median(taken.values())
        print(f"{count:>7} {len(made):>10} {built:8.2f} {median:10.3f} {taken[slowest]:11.3f}  {slowest!r}")


def milliseconds(completer: Completer, text: str) -> float:
    """Return the mean time of one completion."""
    start = time.process_time()
    for _ in range(TIMES):
        completer.complete(text, Language.EN, 10)
    return 1000 * (time.process_time() - start) / TIMES


if __name__ == "__main__":
    main([int(count) for count in sys.argv[1:]] or [42, 1000, 3000])
