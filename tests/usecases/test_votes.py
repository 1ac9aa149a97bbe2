"""Votes where their file cannot even be looked for."""

from pathlib import Path

import pytest

from app.votes import Votes, VotesUnreadable


def test_a_directory_that_the_system_refuses_to_look_into_is_unreadable_not_a_crash(tmp_path: Path) -> None:
    refused = tmp_path / ("long" * 100)
    with pytest.raises(VotesUnreadable, match="OSError"):
        Votes(refused).totals()
    assert Votes(tmp_path / "nothing").totals() == ()
