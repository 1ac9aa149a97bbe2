"""What `jieda load` costs in CPU time: generated lines, loaded into an empty directory and then once more.

    python -m bench.loading [--at DIRECTORY] [LINES ...]

Prints a table: per number of lines, user and system time of both runs, startup included, the wall time, and the peak
memory of either. `--at` says where the files go; by default where temporary files go.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

SIZES = (100, 1_000, 10_000)
WORDS = "memory actor rollout gradient worker timeout tensor shard batch checkpoint reward policy learner cluster queue"


def made_up(lines: int) -> Iterator[str]:
    """Yield lines of 3.8 kB."""
    chance = random.Random(1)
    words = WORDS.split()
    for number in range(lines):
        paragraph = " ".join(chance.choices(words, k=60))
        text = "\n\n".join(f"{paragraph} `--flag-{number}`." for _ in range(4))
        said = {
            "id": f"roll/made-{number}",
            "lang": "en",
            "title": f"How do I set flag {number} of the rollout?",
            "kind": "how-to",
            "aliases": [f"flag {number}"],
            "source": [{"title": "T", "url": "https://example.com/", "license": "Apache-2.0"}],
            "updated": "2026-01-02",
            "markdown": f"## Steps\n\n{text}\n\n```sh\nrun --flag-{number}\n```\n\n## Notes\n\n{text}\n",
        }
        yield json.dumps(said) + "\n"


def load(lines: Path, into: Path) -> tuple[float, float]:
    """Return CPU and wall-clock seconds of one load."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-m", "jieda.cli.main", "load", str(lines), "--into", str(into)]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, time.monotonic() - start


def main() -> None:
    """Measure each size in turn."""
    parser = argparse.ArgumentParser(prog="python -m bench.loading", description="Measure jieda load.")
    parser.add_argument("sizes", metavar="LINES", nargs="*", type=int, default=SIZES)
    parser.add_argument("--at", type=Path, help="where the files go")
    asked = parser.parse_args()
    print("| lines | new: CPU s | clock s | unchanged: CPU s | clock s | most memory so far, MiB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for size in sorted(asked.sizes):
        with TemporaryDirectory(dir=asked.at) as folder:
            lines, into = Path(folder) / "lines.jsonl", Path(folder) / "into"
            into.mkdir()
            with lines.open("w", encoding="utf-8") as file:
                file.writelines(made_up(size))
            new, new_clock = load(lines, into)
            same, same_clock = load(lines, into)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(
            f"| {size:,} | {new:.2f} | {new_clock:.1f} | {same:.2f} | {same_clock:.1f} | {memory:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
