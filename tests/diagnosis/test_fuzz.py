"""Any text is a log: nothing escapes, and twice the text takes twice the time."""

from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jieda.diagnosis.diagnose import Diagnoser
from jieda.diagnosis.scoring import MOST_MATCHES
from jieda.diagnosis.signatures import WRAPPED_LINES
from jieda.entry import Language
from jieda.signature import compile_signature_line
from jieda.snapshot.snapshot import Snapshot

from bench.logs import ADVERSARIAL, MIB, interleaved_ranks
from tests.support.cost import assert_linear, cpu_seconds
from tests.support.examples import examples

pytestmark = pytest.mark.slow

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


@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(log=LOGS)
def test_any_text_can_be_diagnosed(log: str, diagnoser: Diagnoser) -> None:
    diagnosis = diagnoser.diagnose(log, Language.ZH)
    lines = log.count("\n") + log.count("\r") + 1
    assert len(diagnosis.matches) <= MOST_MATCHES
    assert all(1 <= error.line <= lines and error.count >= 1 for error in diagnosis.errors)
    assert all(1 <= each.line <= lines for match in diagnosis.matches for each in match.matched)


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_cost_is_linear(name: str, diagnoser: Diagnoser) -> None:
    """`bench/log_speed.py` measures it exactly."""
    make = ADVERSARIAL[name]
    assert_linear(lambda size: diagnoser.diagnose(make(size), Language.EN), MIB // 32)


def cost_of(log: str, diagnoser: Diagnoser) -> float:
    return cpu_seconds(lambda _: diagnoser.diagnose(log, Language.EN), 0)


def test_a_failure_costs_the_same_on_a_line_with_others(diagnoser: Diagnoser) -> None:
    names = ["".join(pair) for pair in product("abcdefghijklmnop", repeat=2)][:200]
    told = [f"CompletionException: the thing {name}" for name in names]
    apart, together = ("\n".join((end.join(told), "训 " * 8000, "end")) for end in ("\n", "\r"))
    together = together.replace("\n训", "\r训")
    assert cost_of(together, diagnoser) < 4 * cost_of(apart, diagnoser)


def test_long_lines_of_signature_words_are_no_lines_that_a_terminal_wrapped(shipped: Snapshot) -> None:
    signatures = [each for entry in shipped.library.entries.values() for each in entry.signatures]
    anchors = sorted({compile_signature_line(line).anchor for each in signatures for line in each.all})
    lines = [f"{number} {' '.join(anchors[number:])}"[:1950] for number in range(25)]
    many = [*lines, *map(str, range(WRAPPED_LINES))]
    few = "\n".join(lines)
    assert cost_of(few, shipped.diagnoser) < 3 * cost_of("\n".join(many), shipped.diagnoser)


def test_a_mebibyte_of_64_ranks_is_diagnosed(diagnoser: Diagnoser) -> None:
    """How long that takes is reported by `bench/log_speed.py`."""
    log = interleaved_ranks(MIB)
    diagnosis = diagnoser.diagnose(log, Language.EN)
    assert diagnosis.matches[0].entry.id == "roll/batch-size-less-than-chunks"
    assert diagnosis.framework == "roll"
    assert len(diagnosis.errors) == 4
