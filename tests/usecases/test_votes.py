"""Votes, and what happens where their file cannot be looked for or read."""

import os
import resource
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from jieda.entry import Language
from jieda.feedback import VOTES, FeedbackStore, FeedbackUnusable, VoteCount, today


def test_votes_are_counted_by_what_they_say_and_in_which_language_from_a_day_on(tmp_path: Path) -> None:
    store, day = FeedbackStore(tmp_path), today()
    for solved in (True, True, False):
        store.add_vote("roll/a", Language.EN, solved=solved)
    store.add_vote("roll/a", Language.ZH, solved=False)
    counted = (VoteCount("roll/a", Language.EN, 2, 1), VoteCount("roll/a", Language.ZH, 0, 1))
    assert store.votes({}) == counted
    assert store.votes({}, day.isoformat()) == counted
    assert store.votes({}, (day + timedelta(days=2)).isoformat()) == ()


def test_a_directory_that_the_system_refuses_to_look_into_is_unreadable_not_a_crash(tmp_path: Path) -> None:
    refused = tmp_path / ("long" * 100)
    with pytest.raises(FeedbackUnusable, match="File name too long"):
        FeedbackStore(refused).votes({})
    assert FeedbackStore(tmp_path / "nothing").votes({}) == ()


def test_a_full_disk_is_called_so_whatever_sqlite_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that may not grow is an I/O error to SQLite."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        with pytest.raises(FeedbackUnusable, match="SQLITE_"):
            FeedbackStore(tmp_path).add_vote("roll/a", Language.EN, solved=True)
        monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=0))
        with pytest.raises(FeedbackUnusable, match="No space left on device"):
            FeedbackStore(tmp_path).add_vote("roll/a", Language.EN, solved=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_damaged_file_is_set_aside_and_the_next_vote_counts(tmp_path: Path) -> None:
    store = FeedbackStore(tmp_path)
    (tmp_path / VOTES).write_bytes(b"no database at all, but long enough to be taken for one" * 100)
    with pytest.raises(FeedbackUnusable):
        store.add_vote("roll/a", Language.EN, solved=True)
    store.add_vote("roll/a", Language.EN, solved=False)
    assert store.votes({}) == (VoteCount("roll/a", Language.EN, 0, 1),)
    assert (tmp_path / f"{VOTES}.damaged").is_file()
