"""The trials of `trials/` in short: as in `make chaos`, `make soak`, `make fuzz` and `make week`."""

import contextlib
import io
import logging
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.support.server import ROOT, free_port
from tests.support.shipped import copy_data
from trials.site import lasting

pytestmark = pytest.mark.slow


def figures(module: str, *arguments: str) -> str:
    """What a trial prints; it ends with 0 where nothing went wrong."""
    command = [sys.executable, "-m", f"trials.{module}", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr[-3000:]
    return ended.stdout


def here(module: str, *arguments: str) -> str:
    """As `figures`, in this process, which has everything imported: for trials that neither fork nor need to be the
    first thread."""
    printed = io.StringIO()
    with patch.object(sys, "argv", [module, *arguments]), contextlib.redirect_stdout(printed):
        try:
            with pytest.raises(SystemExit) as ended:
                sys.exit(import_module(f"trials.{module}").main())
        finally:
            logging.disable(logging.NOTSET)
    assert not ended.value.code, printed.getvalue()
    return printed.getvalue()


@pytest.mark.server
def test_a_few_kills_and_damages_do_no_harm() -> None:
    """How long servers take to end is measured by `make chaos`, on a machine that has time for it."""
    few = ("--kills", "4", "--cases", "6", "--entries", "2", "--servers", "1")
    said = figures("chaos", *few, "--port", str(free_port()), "--patience", "100")
    assert "kills 4 " in said
    assert "damages 6, faults 0" in said
    assert re.search(r"servers killed 1 .*, faults 0", said)


def test_left_behind_is_what_stays_and_not_what_a_server_is_writing() -> None:
    looks = iter([[".building-left", ".building-1"], [".building-2", ".building-left"]])
    assert lasting(lambda: next(looks, [".building-left"]), 0.5) == [".building-left"]
    written = (f".building-{number}" for number in count())
    assert lasting(lambda: [next(written)], 0.5) == []


@pytest.mark.server
def test_a_short_soak_has_no_failure_and_no_step_back() -> None:
    arguments = ("--minutes", "0.03", "--workers", "2", "--readers", "2", "--entries", "2")
    said = here("soak", *arguments, "--port", str(free_port()))
    assert re.search(r"requests [1-9]\d*, failed 0, steps backwards 0", said)


# A process without any memory may end before it can say so: seen once in some hundred runs.
@pytest.mark.flaky(reruns=1, only_rerun="it ends with")
@pytest.mark.server
def test_attacks_fail_nobody_else() -> None:
    few = ("--seconds", "0.3", "--turns", "1", "--entries", "8", "--only", "half-sent bodies, 11 addresses")
    said = here("attacks", *few, "--port", str(free_port()))
    assert said.count("failed 0") == 1
    assert said.endswith("faults 0\n")


@pytest.mark.server
def test_a_short_week_names_the_gaps_and_leaks_nothing(tmp_path: Path) -> None:
    built = str(copy_data(tmp_path / "built"))
    arguments = ("--requests", "500", "--workers", "2", "--port", str(free_port()), "--built", built)
    said = here("week", *arguments)
    assert "named first 5 of 5" in said
    assert re.search(r"secrets planted [1-9]\d*, found in files, log or metrics 0", said)


def test_a_little_nonsense_of_each_kind_does_no_harm() -> None:
    said = here("fuzz", "--seconds", "0.1")
    assert len(re.findall(r"[1-9]\d* inputs, slowest \S+ s, escaped 0", said)) == 6


@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed: nothing else needs it")
def test_nonsense_that_is_led_on_by_what_it_reaches_does_no_harm() -> None:
    figures("guided", "signatures", "--seconds", "3")
