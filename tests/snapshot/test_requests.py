"""The folder in which workers ask for builds."""

import threading
from pathlib import Path

from app.snapshot.requests import ASKED, DONE, REQUESTS, Request, build_on_request


def unasked(_suspect: str) -> None:
    raise AssertionError("nobody has asked for a build")


def ended_at_once(data: Path, request: Request) -> None:
    stop = threading.Event()
    stop.set()
    build_on_request(data, request, stop)


def test_wishes_of_a_process_that_is_gone_are_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / REQUESTS
    folder.mkdir()
    left = [folder / f"1-2-3{suffix}" for suffix in (ASKED, DONE)]
    for path in left:
        path.write_text("")
    ended_at_once(tmp_path, unasked)  # type: ignore[arg-type] # it never returns
    assert not any(path.exists() for path in left)


def test_nothing_is_removed_behind_a_link_and_what_stands_in_the_way_is_set_aside(tmp_path: Path) -> None:
    elsewhere, data = tmp_path / "elsewhere", tmp_path / "data"
    for folder in (elsewhere, data):
        folder.mkdir()
    others = [elsewhere / f"1-2-3{suffix}" for suffix in (ASKED, DONE)]
    for path in others:
        path.write_text("mine")
    (data / REQUESTS).symlink_to(elsewhere)
    ended_at_once(data, unasked)  # type: ignore[arg-type] # it never returns
    assert all(path.exists() for path in others)
    assert (data / REQUESTS).is_dir()
    assert not (data / REQUESTS).is_symlink()
