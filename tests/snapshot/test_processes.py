"""What processes that share a data directory tell each other."""

import errno
import os
import threading
from pathlib import Path

import pytest
from jieda.errors import JiedaError
from jieda.snapshot.store.generation import GENERATIONS, generation_names, point_to, prune
from jieda.snapshot.store.processes import (
    ANSWER,
    BuildAnswer,
    BuildRefused,
    become_leader,
    has_leader,
    last_request,
    request_build,
    write_record,
)

from tests.support.server import until

pytestmark = pytest.mark.quick


def asked(data: Path, outcomes: list[object]) -> threading.Thread:
    """Somebody who asks for a build, in a thread; what comes of it is appended."""

    def wait() -> None:
        try:
            outcomes.append(request_build(data))
        except BuildRefused as error:
            outcomes.append(str(error))

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_where_nobody_leads_nobody_is_waited_for(tmp_path: Path) -> None:
    assert request_build(tmp_path) is None
    assert not has_leader(tmp_path)


def test_a_directory_is_led_by_one_and_by_nobody_when_that_one_is_gone(tmp_path: Path) -> None:
    leader = become_leader(tmp_path, "http://127.0.0.1:1")
    assert has_leader(tmp_path)
    with pytest.raises(JiedaError, match=f"process {os.getpid()}, http://127.0.0.1:1"):
        become_leader(tmp_path, "http://127.0.0.1:2")
    outcomes: list[object] = []
    waiting = asked(tmp_path, outcomes)
    until(lambda: last_request(tmp_path) == 1)
    os.close(leader)
    waiting.join()
    assert outcomes == [None]
    os.close(become_leader(tmp_path, "http://127.0.0.1:2"))


def refused(*_arguments: object, **_options: object) -> None:
    raise OSError(errno.ENOSPC, "full")


def test_an_answer_is_for_all_who_asked_before_and_for_nobody_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leader = become_leader(tmp_path, "x")
    outcomes: list[object] = []
    first = [asked(tmp_path, outcomes) for _ in range(3)]
    until(lambda: last_request(tmp_path) == 3)
    write_record(tmp_path / ANSWER, BuildAnswer(3, "new"))
    for thread in first:
        thread.join()
    assert outcomes == ["new"] * 3
    (tmp_path / "wanted").unlink()
    later = asked(tmp_path, outcomes)
    until(lambda: last_request(tmp_path) == 4)
    # On a full disk, a record is written over a longer one.
    (tmp_path / ANSWER).write_text("x" * 2000)
    monkeypatch.setattr("jieda.disk.tempfile.mkstemp", refused)
    write_record(tmp_path / ANSWER, BuildAnswer(4, "", "a reason"))
    later.join()
    assert outcomes[3:] == ["a reason"]
    os.close(leader)


def test_generations_that_are_served_or_were_current_a_moment_ago_stay(tmp_path: Path) -> None:
    current, served, new, left, _ = names = [f"{number:016x}" for number in range(5)]
    for name in names:
        (tmp_path / GENERATIONS / name).mkdir(parents=True)
        if name != new:
            os.utime(tmp_path / GENERATIONS / name, (0, 0))
    for name in (left, current):
        point_to(tmp_path, name, ())
    prune(tmp_path, [served])
    assert set(generation_names(tmp_path)) == {current, served, new, left}
