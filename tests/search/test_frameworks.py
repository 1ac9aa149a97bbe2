"""A question that names a framework gets that one's entries first; where it has none that fit, the answer says so."""

import numpy as np
import pytest
from jieda.search.query.parser import Naming, without_names
from jieda.search.rank.scoring import put_behind
from jieda.snapshot.snapshot import Snapshot

from tests.search.small import MakeSnapshot, ask, concept, found

ELSEWHERE = concept("resume_training", "Set `resume_training` to resume training of a stopped run.")
HERE = concept("Start again from a checkpoint", "Training can be resumed.")
OTHER = concept("Choose a port", "The server listens.")


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        ("how do I resume training in slime", "slime"),
        ("CUDA out of memory in ChatLearn", "chatlearn"),
        ("How do I colocate actor and rollout in ROLL?", "roll"),
        ("ROLL 里 actor 和 rollout 怎么放同一张卡", "roll"),
    ],
)
def test_the_framework_that_is_named_comes_before_any_word(
    shipped: Snapshot, text: str, framework: str
) -> None:
    answer = ask(shipped, text)
    assert answer.frameworks == (framework,)
    assert answer.framework_fits
    assert [hit.entry.framework for hit in answer.hits[:2]] == [framework] * 2


@pytest.fixture
def two(small: MakeSnapshot) -> Snapshot:
    """Two frameworks; what is asked of is said best in one, and in passing in the other."""
    return small({"en/roll/elsewhere": ELSEWHERE, "en/slime/here": HERE, "en/slime/other": OTHER})


def test_by_name_in_the_question_then_by_what_the_reader_works_with(two: Snapshot) -> None:
    assert found(two, "resume training") == ["elsewhere", "here"]
    assert found(two, "resume training in slime") == ["here", "elsewhere"]
    assert found(two, "slime怎么 resume training") == ["here", "elsewhere"]
    assert found(two, "resume training", frameworks=("slime",)) == ["here", "elsewhere"]
    assert found(two, "resume training in ROLL", frameworks=("slime",)) == ["elsewhere", "here"]
    scores = [hit.score for hit in ask(two, "resume training in slime").hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] > 0


def test_its_name_may_be_written_in_full_width(two: Snapshot) -> None:
    assert ask(two, "resume training：ＲＯＬＬ 报错").frameworks == ("roll",)


def test_a_name_that_two_frameworks_share_is_left_out_once() -> None:
    shared = [Naming("one", 0, 4), Naming("two", 0, 4)]
    assert without_names("ROLL disk is full", shared).split() == ["disk", "is", "full"]


def test_a_frameworks_own_entry_comes_before_what_applies_anywhere(small: MakeSnapshot) -> None:
    general = concept("Watchdog timeout", "A watchdog timeout. " * 9, applies_anywhere="true")
    own = concept("When the watchdog ends a run", "It ends after a timeout.")
    snapshot = small({"en/slime/general": general, "en/roll/own": own})
    assert found(snapshot, "watchdog timeout") == ["general", "own"]
    assert found(snapshot, "watchdog timeout in ROLL") == ["own", "general"]
    assert found(snapshot, "watchdog timeout in slime") == ["general", "own"]


@pytest.mark.parametrize("others", [0.5, 1.0, 3.0])
def test_whatever_the_others_score_they_come_behind(others: float) -> None:
    score, lift = np.array([1.0, others, 0.0]), np.array([0.2, 0.2, 0.0])
    put_behind(np.array([0]), np.array([1, 2]), score, lift)
    assert list(np.argsort(-(score + lift))) == [0, 1, 2]
    assert (score + lift)[1] < (score + lift)[0] == 1.2
    nobody = np.array([], np.intp)
    for first, rest in ((nobody, np.array([1])), (np.array([0]), nobody), (np.array([2]), np.array([2]))):
        before = score.copy()
        put_behind(first, rest, score, lift)
        assert np.array_equal(score, before)


def test_what_applies_anywhere_is_of_every_framework(small: MakeSnapshot) -> None:
    anywhere = concept("Choose a port", "The server listens.", applies_anywhere="true")
    snapshot = small({"en/roll/here": concept("Ports", "A port is free."), "en/slime/anywhere": anywhere})
    assert found(snapshot, "choose a port in ROLL")[0] == "anywhere"
    assert ask(snapshot, "choose a port in ROLL").framework_fits


def test_where_the_framework_has_no_entry_on_it_the_answer_says_so(two: Snapshot) -> None:
    answer = ask(two, "choose a port in ROLL")
    assert answer.frameworks == ("roll",)
    assert not answer.framework_fits
    assert answer.hits[0].entry.id == "slime/other"
    assert ask(two, "choose a port", filters={"framework": ("slime",)}).framework_fits


def test_a_name_is_meant_in_small_letters_too_where_most_entries_with_it_are_its_own(
    small: MakeSnapshot,
) -> None:
    names = {f"en/roll/{name}": concept(f"{name} of ROLL", "A port is free.") for name in ("ports", "hosts")}
    snapshot = small({**names, "en/slime/ports": concept("Ports, not in ROLL", "A port is free.")})
    assert ask(snapshot, "free ports with roll").frameworks == ("roll",)
    assert ask(snapshot, "free ports with Roll").frameworks == ()


def test_an_ordinary_word_a_path_and_a_whole_title_name_no_framework(small: MakeSnapshot) -> None:
    snapshot = small(
        {
            "en/slime/back": concept("Go back to a release", "To roll back, choose an older release."),
            "en/slime/logs": concept("Keep old logs", "Logs roll over once a day."),
            "en/roll/release": concept("Make a release", "Releases are tagged."),
            "en/slime/moved": concept("Coming from ROLL", "Rename the options of a release."),
        }
    )
    for text in ("roll back a release", "release in /opt/ROLL/bin", "release with roll_size"):
        assert ask(snapshot, text).frameworks == (), text
    assert found(snapshot, "Coming from ROLL")[0] == "moved"
