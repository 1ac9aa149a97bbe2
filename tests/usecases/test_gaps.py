"""Unanswered questions: held until they are refined, counted by day in one bounded file, grouped by meaning."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from jieda.analysis.pipeline import Glossary
from jieda.diagnosis.words import WordReader
from jieda.entry import Language
from jieda.feedback import (
    GAPS,
    MEGABYTE,
    FeedbackStore,
    FeedbackUnusable,
    Gap,
    GapCount,
    GapOutcome,
    GapSource,
    today,
)
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.gaps.maintenance import GapGroup, group_gaps
from jieda.usecases.gaps.recorder import Waiting

END = float("inf")


def gap(text: str, kind: str = "", lang: Language = Language.EN) -> Gap:
    source, outcome = (GapSource.LOG, GapOutcome.UNKNOWN) if kind else (GapSource.SEARCH, GapOutcome.NOTHING)
    return Gap(source, kind, text, outcome, lang)


def test_a_search_that_is_refined_into_a_find_is_no_gap() -> None:
    waiting = Waiting(seconds=60)
    waiting.add(b"one", gap("gguf"), 0)
    waiting.add(b"one", gap("gguf export"), 10)
    waiting.add(b"two", gap("gguf"), 20)
    waiting.found(b"one")
    waiting.found(b"nobody who ever asked")
    assert list(waiting.due(79)) == []
    assert list(waiting.due(80)) == [gap("gguf")]
    assert list(waiting.due(END)) == []


def test_what_one_asks_again_and_again_is_one_question() -> None:
    waiting = Waiting(seconds=60)
    for second in range(50):
        waiting.add(b"one", gap("gguf", lang=list(Language)[second % 2]), second)
    assert list(waiting.due(60)) == [gap("gguf")]
    assert list(waiting.due(END)) == []


def test_where_too_many_wait_the_oldest_counts_as_asked_in_vain() -> None:
    waiting = Waiting(seconds=60, most=2)
    for number in range(4):
        waiting.add(b"one", gap(f"word {number}"), 0)
    assert list(waiting.due(0)) == [gap("word 0"), gap("word 1")]
    assert sorted(each.text for each in waiting.due(END)) == ["word 2", "word 3"]


def test_counts_add_up_by_day(tmp_path: Path) -> None:
    file = FeedbackStore(tmp_path)
    assert (file.asked(90), file.reads(90)) == ((), {})
    file.add_counts({gap("gguf"): 2, gap("gguf", lang=Language.ZH): 1}, {"roll/a": 3}, 1)
    file.add_counts({gap("gguf"): 5}, {"roll/a": 1, "roll/b": 1}, 1)
    day = today().isoformat()
    assert set(file.asked(1)) == {
        GapCount(gap("gguf"), day, 7),
        GapCount(gap("gguf", lang=Language.ZH), day, 1),
    }
    assert file.reads(1) == {"roll/a": 4, "roll/b": 1}


def test_what_was_written_before_a_failure_is_not_counted_again(tmp_path: Path) -> None:
    file, asked = FeedbackStore(tmp_path), {gap(f"word {number}"): 1 for number in range(700)}
    file.add_counts({gap("the first"): 1}, {}, 1)
    # A file that has no room for more than 600 questions; they are written 500 at a time.
    full = """CREATE TRIGGER full BEFORE INSERT ON asked WHEN (SELECT COUNT(*) FROM asked) > 600
        BEGIN SELECT RAISE(ABORT, ''); END"""
    with closing(sqlite3.connect(file.gaps)) as connection:
        connection.execute(full)
        with pytest.raises(FeedbackUnusable):
            file.add_counts(asked, {}, 1)
        connection.execute("DROP TRIGGER full")
    file.add_counts(asked, {}, 1)
    assert [each.times for each in file.asked(1)] == [1] * 701


def size_of(file: FeedbackStore) -> int:
    """Bytes on disk, with what SQLite keeps beside the file."""
    return sum(path.stat().st_size for path in file.directory.glob(f"{GAPS}*"))


def age(file: FeedbackStore, days: int) -> None:
    """Makes what was counted today so many days older."""
    now, day = today().isoformat(), (today() - timedelta(days=days)).isoformat()
    with closing(sqlite3.connect(file.gaps)) as connection, connection:
        connection.execute("UPDATE asked SET day = ? WHERE day = ?", (day, now))
        connection.execute("UPDATE reads SET day = ? WHERE day = ?", (day, now))


def test_what_is_too_old_is_forgotten(tmp_path: Path) -> None:
    file = FeedbackStore(tmp_path)
    file.add_counts({gap("gguf"): 1}, {"roll/a": 1}, 1)
    age(file, 30)
    file.add_counts({gap("onnx"): 1}, {"roll/b": 1}, 1)
    assert len(file.asked(31)) == 2
    assert [each.gap.text for each in file.asked(30)] == ["onnx"]
    file.prune(30, 1)
    assert [each.gap.text for each in file.asked(3650)] == ["onnx"]
    assert file.reads(3650) == {"roll/b": 1}
    assert b"gguf" not in file.gaps.read_bytes()


def test_the_file_stays_within_its_bound_and_the_rarest_go_first(tmp_path: Path) -> None:
    file = FeedbackStore(tmp_path)
    frequent = {gap(f"frequent {number}"): 9 for number in range(50)}
    for turn in range(20):
        noise = {gap(f"rare {turn} {number} " + "x" * 140): 1 for number in range(500)}
        file.add_counts(frequent | noise, {}, 1)
        assert size_of(file) <= MEGABYTE
    kept = {each.gap: each.times for each in file.asked(1)}
    assert all(kept.get(each) == 180 for each in frequent)
    assert 500 < len(kept) < 10_000


def test_reads_alone_cannot_fill_the_disk_either(tmp_path: Path) -> None:
    file = FeedbackStore(tmp_path)
    for turn in range(12):
        file.add_counts({}, {f"framework/{'entry' * 10}-{number}": 1 for number in range(2000)}, 1)
        age(file, 12 - turn)
        assert size_of(file) <= MEGABYTE
    assert file.reads(90)


def test_a_damaged_file_is_set_aside_by_those_who_write(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = FeedbackStore(tmp_path)
    file.gaps.write_bytes(b"no database at all, but long enough to be taken for one" * 100)
    with pytest.raises(FeedbackUnusable):
        file.asked(90)
    assert file.gaps.read_bytes().startswith(b"no database")
    with pytest.raises(FeedbackUnusable):
        file.add_counts({gap("gguf"): 1}, {}, 1)
    file.add_counts({gap("gguf"): 1}, {}, 1)
    assert [each.gap.text for each in file.asked(1)] == ["gguf"]
    assert len(caplog.records) == 1
    assert {path.name for path in tmp_path.iterdir()} == {GAPS, f"{GAPS}.damaged"}
    file.clear_gaps()
    assert file.asked(1) == ()
    assert {path.name for path in tmp_path.iterdir()} == {GAPS}


@pytest.fixture(scope="module")
def reader(shipped: Snapshot) -> WordReader:
    analyzer = shipped.searcher.analyzer
    return WordReader(analyzer, Glossary(shipped.library.glossary, analyzer))


def groups(reader: WordReader, gaps: Iterable[tuple[Gap, int]]) -> list[GapGroup]:
    return list(group_gaps([GapCount(each, "2026-11-01", times) for each, times in gaps], reader))


def test_what_the_glossary_links_is_one_gap_in_both_languages(reader: WordReader) -> None:
    found = groups(
        reader,
        [
            (gap("显存不足", lang=Language.ZH), 2),
            (gap("how to resume training"), 4),
            (gap("CUDA out of memory"), 3),
            (gap("what about GPU OOM"), 1),
            (gap("续训", lang=Language.ZH), 1),
        ],
    )
    assert [(each.text, each.count) for each in found] == [
        ("CUDA out of memory", 6),
        ("how to resume training", 5),
    ]
    assert found[0].langs == {Language.EN: 4, Language.ZH: 2}
    assert set(found[0].others) == {"显存不足", "what about GPU OOM"}


def test_wordings_that_share_most_words_are_one_gap_and_others_are_not(reader: WordReader) -> None:
    found = groups(
        reader,
        [
            (gap("export the policy to {word} format"), 5),
            (gap("policy format export {word}"), 1),
            (gap("export metrics to {word}"), 2),
        ],
    )
    assert [each.count for each in found] == [6, 2]


def test_logs_are_grouped_by_type_and_message(reader: WordReader) -> None:
    found = groups(
        reader,
        [
            (gap("connection refused by {addr}", "ConnectionError"), 2),
            (gap("connection refused by {path}", "ConnectionError TimeoutError"), 1),
            (gap("connection refused by {addr}", "ValueError"), 1),
            (gap("connection refused by {addr}"), 1),
        ],
    )
    assert [(each.source, each.failure, each.count) for each in found] == [
        (GapSource.LOG, "ConnectionError", 3),
        (GapSource.LOG, "ValueError", 1),
        (GapSource.SEARCH, "", 1),
    ]
