"""The folder in which workers ask for builds."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from app.snapshot.built import Built
from app.snapshot.requests import (
    ASKED,
    BUILDER,
    DONE,
    REQUESTS,
    Outcome,
    Request,
    ask,
    build_on_request,
    clear_requests,
)
from tests.support.server import PATIENCE


def unasked(_suspect: str) -> None:
    raise AssertionError("nobody has asked for a build")


def ended_at_once(data: Path, request: Request) -> None:
    stop = threading.Event()
    stop.set()
    build_on_request(data, request, stop)


def ends_at_once(data: Path) -> None:
    ended_at_once(data, unasked)  # type: ignore[arg-type] # it never returns


LEFT = (f"1-2-3{ASKED}", f"1-2-3{DONE}", ".building-a-wish")


@pytest.mark.parametrize("begin", [ends_at_once, clear_requests])
def test_wishes_of_a_process_that_is_gone_are_forgotten(
    tmp_path: Path, begin: Callable[[Path], None]
) -> None:
    """Those half written, too, whether the next server has several workers or one."""
    folder = tmp_path / REQUESTS
    folder.mkdir()
    for name in LEFT:
        (folder / name).write_text("")
    begin(tmp_path)
    assert [path.name for path in folder.iterdir()] == [BUILDER]


def test_wishes_are_left_to_whoever_builds_on_request(tmp_path: Path) -> None:
    stop, began = threading.Event(), threading.Event()
    wished: list[str] = []

    def request(suspect: str) -> Future[Built]:
        wished.append(suspect)
        began.set()
        return Future()

    def wish() -> None:
        while not began.is_set():
            ask(tmp_path, "something")

    other = threading.Thread(target=build_on_request, args=(tmp_path, request, stop))
    asker = threading.Thread(target=wish)
    for thread in (other, asker):
        thread.start()
    try:
        assert began.wait(PATIENCE)
        half = tmp_path / REQUESTS / ".building-a-wish"
        half.touch()
        clear_requests(tmp_path)
        assert half.exists()
    finally:
        stop.set()
        began.set()
        other.join()
    asker.join()
    assert wished == ["something"]


def test_who_asked_one_that_is_gone_does_not_wait_for_its_successor(tmp_path: Path) -> None:
    ends, began = (threading.Event(), threading.Event()), threading.Event()
    outcomes: list[Outcome | None] = []

    def never(_suspect: str) -> Future[Built]:
        began.set()
        return Future()

    def wish() -> None:
        while not began.is_set():
            outcomes[:] = [ask(tmp_path)]

    builders = [
        threading.Thread(target=build_on_request, args=(tmp_path, request, end))
        for request, end in zip((never, unasked), ends, strict=True)
    ]
    asker = threading.Thread(target=wish, daemon=True)
    try:
        for thread in (builders[0], asker):
            thread.start()
        assert began.wait(PATIENCE)
        builders[1].start()
        # It waits for the lock by then, and has it as soon as the other one lets go.
        time.sleep(0.3)
        ends[0].set()
        asker.join(PATIENCE)
        assert not asker.is_alive()
        assert outcomes == [None]
    finally:
        for end, thread in zip(ends, builders, strict=True):
            end.set()
            if thread.ident:
                thread.join()


def test_where_nobody_ever_asked_nothing_is_made(tmp_path: Path) -> None:
    clear_requests(tmp_path)
    assert not list(tmp_path.iterdir())


def test_nothing_is_removed_behind_a_link_and_what_stands_in_the_way_is_set_aside(tmp_path: Path) -> None:
    elsewhere, data = tmp_path / "elsewhere", tmp_path / "data"
    for folder in (elsewhere, data):
        folder.mkdir()
    others = [elsewhere / f"1-2-3{suffix}" for suffix in (ASKED, DONE)]
    for path in others:
        path.write_text("mine")
    (data / REQUESTS).symlink_to(elsewhere)
    clear_requests(data)
    ends_at_once(data)
    assert all(path.exists() for path in others)
    assert (data / REQUESTS).is_dir()
    assert not (data / REQUESTS).is_symlink()
