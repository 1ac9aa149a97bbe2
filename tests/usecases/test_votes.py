"""Votes, and what happens where their file cannot be looked for or read."""

from datetime import timedelta
from pathlib import Path

import pytest
from jieda.entry import Language
from jieda.feedback import VOTES, FeedbackStore, FeedbackUnusable, VoteCount, today


def test_votes_are_counted_by_what_they_say_and_in_which_language_from_a_day_on(tmp_path: Path) -> None:
    store, day = FeedbackStore(tmp_path), today()
    for solved in (True, True, False):
        store.add_vote("roll/a", Language.EN, solved=solved)
    store.add_vote("roll/a", Language.ZH, solved=False)
    counted = (VoteCount("roll/a", Language.EN, 2, 1), VoteCount("roll/a", Language.ZH, 0, 1))
    assert store.votes() == counted
    assert store.votes(day.isoformat()) == counted
    assert store.votes((day + timedelta(days=2)).isoformat()) == ()


def test_a_directory_that_the_system_refuses_to_look_into_is_unreadable_not_a_crash(tmp_path: Path) -> None:
    refused = tmp_path / ("long" * 100)
    with pytest.raises(FeedbackUnusable, match="OSError"):
        FeedbackStore(refused).votes()
    assert FeedbackStore(tmp_path / "nothing").votes() == ()


def test_a_damaged_file_is_set_aside_and_the_next_vote_counts(tmp_path: Path) -> None:
    store = FeedbackStore(tmp_path)
    (tmp_path / VOTES).write_bytes(b"no database at all, but long enough to be taken for one" * 100)
    with pytest.raises(FeedbackUnusable):
        store.add_vote("roll/a", Language.EN, solved=True)
    store.add_vote("roll/a", Language.EN, solved=False)
    assert store.votes() == (VoteCount("roll/a", Language.EN, 0, 1),)
    assert (tmp_path / f"{VOTES}.damaged").is_file()
