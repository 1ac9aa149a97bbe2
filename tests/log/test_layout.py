"""How a log is laid out for reading: whose lines they are, and where each failure is told."""

from jieda.log.traceback import layout_of, parse

from tests.log.reading import FORMATS

LOG = """\
started
(A pid=1, ip=10.0.0.1) 2025-03-11 09:14:02,117 step 1
(A pid=1, ip=10.0.0.1) Traceback (most recent call last):
(B pid=2, ip=10.0.0.1) Traceback (most recent call last):
(A pid=1, ip=10.0.0.1)   File "/a.py", line 1, in f
(A pid=1, ip=10.0.0.1)     ~~~^^^
(A pid=1, ip=10.0.0.1)\x20
(B pid=2, ip=10.0.0.1)   File "/a.py", line 1, in f
(A pid=1, ip=10.0.0.1) KeyError: 'node2pg'
(B pid=2, ip=10.0.0.1) KeyError: 'node2pg'
Traceback (most recent call last):
  File "/b.py", line 2, in g
ray.exceptions.RayActorError: The actor died unexpectedly
"""


def test_a_layout_tells_whose_lines_they_are_and_where_each_failure_is_told() -> None:
    layout = layout_of(parse(LOG, FORMATS))
    assert layout.sources == ("(A pid=1, ip=10.0.0.1)", "(B pid=2, ip=10.0.0.1)")
    process = len("(A pid=1, ip=10.0.0.1) ")
    stamp = len("2025-03-11 09:14:02,117 ")
    assert layout.margins[:4] == ((1, 0, 0), (1, process + stamp, 1), (1, process, 1), (1, process, 2))
    assert layout.margins[4:7] == ((3, process, 1), (1, process, 2), (1, process, 1)), "also without words"
    assert sum(run for run, _, _ in layout.margins) == 10, "what comes after has no margin"
    assert layout.failures == ((5, 9, 0), (8, 10, 0), (12, 13, 1))
    assert layout.wrappers == (1,)


def test_an_actor_behind_a_launcher_is_named_as_the_log_does() -> None:
    line = "(Trainer pid=5410, ip=10.0.3.8) [rank11]: RuntimeError: lost\n"
    assert layout_of(parse(line, FORMATS)).sources == ("(Trainer pid=5410, ip=10.0.3.8) [rank11]:",)
