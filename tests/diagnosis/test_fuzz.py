"""Any text is a log: nothing escapes, and twice the text takes twice the time."""

import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.diagnosis.diagnose import MOST_MATCHES, Diagnoser
from app.entry import Language
from bench.logs import ADVERSARIAL, MIB, interleaved_ranks

PIECES = [
    "Traceback (most recent call last):",
    '  File "/a/b.py", line 12, in run',
    "KeyError: 1",
    "ray.exceptions.RayTaskError(ImportError): ray::W.f() (pid=1)",
    "During handling of the above exception, another exception occurred:",
    "[rank3]: ",
    "(WorkerDict pid=1, ip=10.0.0.1) ",
    "2025-08-30 03:11:57,123 INFO a.py:1 -- ",
    "E   assert x",
    '{"log":"KeyError: 1\\n"}',
    '{"log": {"log": [[[[',
    " [repeated 7x across cluster]",
    "\x1b[36m",
    "\x1b]0;",
    "CUDA out of memory. Tried to allocate ",
    "self.node2pg[node_rank]",
    "frame #0: f() + 0x",
    "Xid",
    "显存不足",
    "，：“”",
    "\r",
    "\r\n",
    "\n",
    "\0",
    "\ud800",
    "\u2028",
    "{",
    "}",
    "'",
    '"',
    "9" * 50,
    "f" * 70,
    " " * 30,
]
LOGS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20)), max_size=40).map("".join)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(log=LOGS)
def test_any_text_can_be_diagnosed(log: str, diagnoser: Diagnoser) -> None:
    diagnosis = diagnoser.diagnose(log, Language.ZH)
    lines = log.count("\n") + log.count("\r") + 1
    assert len(diagnosis.matches) <= MOST_MATCHES
    assert all(1 <= error.line <= lines and error.count >= 1 for error in diagnosis.errors)
    assert all(1 <= each.line <= lines for match in diagnosis.matches for each in match.matched)


def cpu_seconds(work: Callable[[], object]) -> float:
    """The fastest of three runs, in time that other processes do not share."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_cost_is_linear(name: str, diagnoser: Diagnoser) -> None:
    """`bench/diagnose.py` measures it exactly; here a quadratic case would show as four times the time."""
    half, whole = (ADVERSARIAL[name](size) for size in (MIB // 8, MIB // 4))
    first = cpu_seconds(lambda: diagnoser.diagnose(half, Language.EN))
    second = cpu_seconds(lambda: diagnoser.diagnose(whole, Language.EN))
    assert second < 3 * first + 0.02


def test_a_mebibyte_of_64_ranks_is_diagnosed_while_one_waits(diagnoser: Diagnoser) -> None:
    """The promise is 0.2 s, which `bench/diagnose.py` reports; a machine that runs other things may take longer."""
    log = interleaved_ranks(MIB)
    assert cpu_seconds(lambda: diagnoser.diagnose(log, Language.EN)) < 0.5
    diagnosis = diagnoser.diagnose(log, Language.EN)
    assert diagnosis.matches[0].entry.id == "roll/batch-size-less-than-chunks"
    assert diagnosis.framework == "roll"
    assert len(diagnosis.errors) == 4
