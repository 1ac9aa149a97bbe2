"""A build that many processes share: the same to the byte, whatever becomes of them."""

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jieda import helpers
from jieda.helpers import CHUNK, Helpers
from jieda.snapshot.build import builder, entries
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store.facts import FILE_NAME, FactStore, code_version
from jieda.snapshot.store.generation import Generation, read_pointer

from tests.support.server import ROOT, until
from tests.support.small_content import edition, write

WORTH_HELP = 40
"""Tasks, a fraction of the usual number: what is shared is the same."""
MANY = 2 * WORTH_HELP + 1
"""Entries of one file each, so that reading them is worth help as well."""
LOGS = WORTH_HELP + 1


@pytest.fixture(autouse=True, scope="module")
def worth_help() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "WORTH_HELP", WORTH_HELP)
        patch.setattr(builder, "WORTH_HELP", WORTH_HELP)
        yield


@pytest.fixture(scope="module")
def much(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A content directory with more entries, and more logs, than one process is left alone with."""
    files = {
        f"en/roll/entry-{number}.md": edition(
            f"Worker {number} hangs", f"## Answer\n\nSet `--wait-{number}`, 见 [A](entry-{number // 2}.md).\n"
        )
        for number in range(MANY)
    }
    files["en/roll/lost.md"] = edition(
        "A worker is lost", "## Fix\n\nStart it.\n", kind="error", signatures="['worker {int} is lost']"
    )
    files |= {f"samples/roll/lost/{number}.log": f"E: worker {number} is lost\n" for number in range(LOGS)}
    return write(tmp_path_factory.mktemp("much"), files)


Kept = tuple[str, dict[str, bytes], dict[bytes, bytes]]


def kept(data: Path) -> Kept:
    """What a build left: the generation's name, its files, and the facts that it names."""
    generation = Generation(data, read_pointer(data).generation)
    folder = data / "generations" / generation.name
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    store = FactStore(data / FILE_NAME, writable=False)
    keys = [key for row in generation.rows() for key in row.keys]
    facts = dict(store.get_all(keys))
    store.close()
    assert len(facts) == len(set(keys))
    return generation.name, files, facts


@pytest.fixture(scope="module")
def alone(much: Path, tmp_path_factory: pytest.TempPathFactory, analyzers: Analyzers) -> Kept:
    """What one process makes of it."""
    data = tmp_path_factory.mktemp("alone")
    Builder([much], data, analyzers).build()
    return kept(data)


@pytest.fixture(autouse=True)
def none_left() -> Iterator[None]:
    yield
    assert multiprocessing.active_children() == []


class Watcher:
    """Is asked by a builder whether it is to stop, and looks who helps it: does `act` the `nth` time there are any."""

    def __init__(self, nth: int = 1, act: Callable[[list[int]], None] = lambda _: None) -> None:
        self.seen: set[int] = set()
        self._left, self._act = nth, act

    def __call__(self) -> bool:
        if pids := [each.pid or 0 for each in multiprocessing.active_children()]:
            self.seen.update(pids)
            self._left -= 1
            if not self._left:
                self._act(pids)
        return False


def killed(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def stopped(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)


def test_two_processes_make_the_same_as_one_and_a_small_edit_stays_in_the_process(
    much: Path, data: Path, analyzers: Analyzers, alone: Kept
) -> None:
    watcher = Watcher()
    builder = Builder([much], data, analyzers, watcher, processes=2)
    builder.build()
    assert len(watcher.seen) == 2
    assert kept(data) == alone
    (count,) = Generation(data, read_pointer(data).generation).header.counts
    assert count.own == LOGS
    watcher.seen.clear()
    entry = much / "en/roll/entry-7.md"
    before = entry.read_text(encoding="utf-8")
    entry.write_text(edition("Another"), encoding="utf-8")
    try:
        assert builder.build().changed
    finally:
        entry.write_text(before, encoding="utf-8")
    assert not watcher.seen


@pytest.mark.parametrize("kill", [(1, 2), (4, 1), (10, 2)])
def test_nothing_is_lost_with_a_process_that_is_killed(
    much: Path, alone: Kept, analyzers: Analyzers, caplog: pytest.LogCaptureFixture, kill: tuple[int, int]
) -> None:
    """At the nth look at them, one or both."""
    nth, number = kill
    watcher = Watcher(nth, lambda pids: killed(pids[:number]))
    with tempfile.TemporaryDirectory() as data:
        Builder([much], Path(data), analyzers, watcher, processes=2).build()
        assert kept(Path(data)) == alone
    assert "is gone" in caplog.text
    # Nor is anything made a second time.
    assert "rebuilding" not in caplog.text


def test_a_process_that_hangs_is_not_waited_for(
    much: Path, data: Path, analyzers: Analyzers, alone: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helpers, "PATIENCE", 2.0)
    hung: list[int] = []

    def hang(pids: list[int]) -> None:
        hung.append(pids[0])
        stopped(hung)

    Builder([much], data, analyzers, Watcher(3, hang), processes=2).build()
    assert hung
    assert kept(data) == alone


def test_a_builder_that_is_killed_leaves_no_process(much: Path, data: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from jieda.snapshot.snapshot import Analyzers; from jieda.snapshot.build.builder import Builder\n"
        "from jieda.snapshot.build import entries; entries.WORTH_HELP = 40\n"
        "Builder([Path(sys.argv[1])], Path(sys.argv[2]), Analyzers(), processes=2).build()"
    )
    running = subprocess.Popen([sys.executable, "-c", program, str(much), str(data)], cwd=ROOT)
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    until(lambda: len(children.read_text().split()) >= 2)
    pids = children.read_text().split()
    running.kill()
    running.wait()
    until(lambda: not any(is_running(pid) for pid in pids))


def is_running(pid: str) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def longer(text: str) -> str:
    return text * 2


def test_a_process_that_does_not_listen_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """More is sent to it than fits into a pipe."""
    monkeypatch.setattr(helpers, "PATIENCE", 2.0)
    texts = [f"{number} ".ljust(50_000) for number in range(4 * CHUNK)]
    watcher = Watcher(1, stopped)

    def look() -> None:
        watcher()

    with Helpers(code_version, 2) as processes:
        found = processes.map(texts, longer, 1, look)
        assert sorted(found) == sorted(map(longer, texts))


def halved(number: int) -> int:
    if number % 2:
        raise ValueError(number)
    return number // 2


def test_what_another_process_cannot_do_is_told_here() -> None:
    even = range(0, 20 * CHUNK, 2)
    with Helpers(code_version, 2) as processes:
        assert sorted(processes.map(even, halved, 1, lambda: None)) == list(range(10 * CHUNK))
        with pytest.raises(ValueError, match=r"^7$"):
            list(processes.map([*even, 7], halved, 1, lambda: None))
        assert sorted(processes.map(even, halved, 1, lambda: None)) == list(range(10 * CHUNK))
