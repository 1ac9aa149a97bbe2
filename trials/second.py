"""A second server on a data directory that one serves from: refused each time, while the first one answers on.

    python -m trials.second [--times 20] [--workers 1] [--port 8768]

Prints how many were refused and named the process that holds the directory. Ends with 1 where one was not, or where the
first one did not answer.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from trials.running import COMMAND, Running
from trials.site import Place

SECONDS_TO_REFUSE = 60.0


def refused(place: Place, port: int, first: int) -> bool:
    """Whether another server ends at once, with a failure, and names the first one's process."""
    environment = place.environment(port=str(port))
    try:
        ended = subprocess.run(
            COMMAND, env=environment, capture_output=True, text=True, timeout=SECONDS_TO_REFUSE, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode != 0 and str(first) in ended.stderr


def main() -> int:
    """0 where all were refused."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, usual in (("times", 20), ("workers", 1), ("port", 8768)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jieda-second-") as folder:
        place = Place.make(Path(folder), 8, 1)
        running = Running.start(place, given.port, given.workers)
        try:
            running.until_ready()
            found = [
                (refused(place, given.port + 1, running.process.pid), running.status("/readyz") == 200)
                for _ in range(given.times)
            ]
        finally:
            running.bury()
    kept, ready = (sum(each) for each in zip(*found, strict=True))
    print(f"refused {kept} of {given.times}, the first one ready after {ready}")
    return 0 if kept == ready == given.times else 1


if __name__ == "__main__":
    sys.exit(main())
