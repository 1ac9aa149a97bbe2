"""Nonsense that is led on by what it reaches: a target of `trials.fuzz` with inputs that run code no input ran before.

    python -m trials.guided TARGET [--seconds 60] [--seed 1]

Needs atheris, which nothing else does and no lock has: `pip install atheris`, where there is a build of it. Ends with
an error at the first input that fails or takes more than SLOW seconds, and shows it.
"""

import argparse
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import atheris
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

with atheris.instrument_imports(include=["jieda"], enable_loader_override=False):
    from trials.fuzz import SLOW, site


def guided(make: st.SearchStrategy[object], target: Callable[..., None], options: list[str]) -> None:
    """Does not return: what guides ends the process, with 0 where nothing failed."""

    def is_borne(value: object) -> None:
        start = time.process_time()
        target(value)
        took = time.process_time() - start
        if took > SLOW:
            raise AssertionError(f"took {took:.1f} s: {value!r}")

    usual = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
    trial: Any = usual(given(make)(is_borne))
    atheris.Setup([sys.argv[0], *options, "-max_len=4096"], trial.hypothesis.fuzz_one_input)
    atheris.Fuzz()


def main() -> int:
    """0 where nothing failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)
    with site() as targets, tempfile.TemporaryDirectory(prefix="jieda-fuzz-") as found:
        make, target = targets.all[chosen.target]
        options = [f"-max_total_time={chosen.seconds}", f"-seed={chosen.seed}", f"-artifact_prefix={found}/"]
        if not (pid := os.fork()):
            guided(make, target, options)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
