"""What `jieda run` costs its command: steady output to a file, alternately with and without it.

python -m bench.passing
"""

import statistics
import subprocess
import sys
import tempfile

from bench.tables import markdown, record

JIEDA = [sys.executable, "-P", "-c", "from jieda.cli.launch import main; main()", "run", "--"]
ROUNDS = 5
SECONDS, RATE, BLOCK = 4, 50, 1 << 16
"""Seconds of output, megabytes per second, and bytes per write."""
PROGRAM = f"""
import os, resource, sys, time
begun = time.monotonic()
for number in range({SECONDS} * {RATE} * 1_000_000 // {BLOCK}):
    os.write(1, b'x' * {BLOCK - 1} + b'\\n')
    ahead = begun + number * {BLOCK} / ({RATE} * 1_000_000) - time.monotonic()
    if ahead > 0:
        time.sleep(ahead)
used = resource.getrusage(resource.RUSAGE_SELF)
print(time.monotonic() - begun, used.ru_utime + used.ru_stime, file=sys.stderr)
"""
"""Prints its duration and CPU time, in seconds."""
COLUMNS = ("command", "took, s", "its processor time, s")


def main() -> None:
    """Measure, print and record."""
    ways = {"alone": [], "under jieda run": JIEDA}
    seen: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, before in ways.items():
            with tempfile.TemporaryFile() as file:
                command = [*before, sys.executable, "-c", PROGRAM]
                ended = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, check=True)
            took, used = map(float, ended.stderr.split())
            seen[way].append((took, used))
    rows = [
        (way, *(f"{statistics.median(each[part] for each in runs):.3f}" for part in (0, 1)))
        for way, runs in seen.items()
    ]
    print(markdown(COLUMNS, rows))
    record("passing", COLUMNS, rows)


if __name__ == "__main__":
    main()
