"""What a log says once decoration, repeats and ranks are taken off it."""

import json
import re
from collections.abc import Callable

import pytest
from jieda.log import traceback
from jieda.log.formats import compile_formats
from jieda.log.lines import PIECE
from jieda.log.window import LogWindow, is_binary
from jieda.log_knowledge import Failures, Family, Prefix

from tests.log.reading import CONTENT, fold, parse


@pytest.mark.parametrize(
    "prefix",
    [
        "(WorkerDict pid=123, ip=10.0.0.4) ",
        "(pid=123) ",
        "(raylet, ip=10.0.0.4) ",
        "\x1b[36m(RolloutManager pid=88)\x1b[0m ",
        "[36m(RolloutManager pid=88)[0m ",
        "[rank3]: ",
        "[default0]:",
        "[1,3]<stderr>:",
        "12: ",
        "trainer-0  | ",
        "2025-08-30 03:11:57,123 ",
        "[2025-08-30 03:11:57] ",
        "[2025-08-30 03:11:57 DP0 TP2] ",
        "2025-08-30T03:11:57.118273645Z stderr F ",
        "Nov 20 21:52:57 gpu-07 ",
        "[11142981.340231] ",
        "ERROR 06-19 14:20:51 [core.py:515] ",
        "2026-11-20 21:52:58,160\tERR cli.py:75 -- ",
        "2025-03-01 10:00:00,123 - root - ERROR - ",
        "E   ",
        "> ",
        "│ ",
        "[rank3]:[E1120 09:01:55.118123 ProcessGroupNCCL.cpp:629] ",
        "(WorkerDict pid=123, ip=10.0.0.4) [rank3]: 2025-08-30 03:11:57 ",
    ],
)
def test_decoration_is_taken_off(prefix: str) -> None:
    assert fold(prefix + "KeyError: 'a'").texts == ("KeyError: 'a'",)


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: could not find the metadata file /a/latest_checkpointed_iteration.txt",
        "(DRIVER) dispatch failed: batch_size 1 < chunks 2",
        "12 samples of 30 failed",
        "    return self.node2pg[node_rank]",
    ],
)
def test_what_is_part_of_the_message_stays(line: str) -> None:
    assert fold(line).texts == (line,)


@pytest.mark.parametrize(
    "launcher",
    [
        "",
        "0: ",
        "[rank0]: ",
        "trainer-1  | ",
        "team_trainer.1.x7k2@node-1    | ",
        "[pod/trainer-1/main] ",
        "Jun 12 10:00:00 web-1 train[12]: ",
        "2026-06-12T10:00:00+0800 web-1 train[12]: ",
        "2026-06-12T10:00:00.123456-05:00 web-1 train[12]: ",
        ">> ",
    ],
)
def test_an_actor_is_known_behind_the_prefix_of_a_launcher(launcher: str) -> None:
    log = f"{launcher}(ActorWorker(reference-0) pid=7, ip=10.0.0.4) KeyError: 1"
    assert [each for each in fold(log).processes if each != "rank"] == ["ActorWorker"]


def test_ranks_are_folded_and_the_first_line_is_remembered() -> None:
    log = "start\n" + "\n".join(f"[rank{rank}]: KeyError: 1" for rank in range(64))
    parsed = parse(log)
    assert list(zip(parsed.numbers, parsed.texts, strict=True)) == [(1, "start"), (2, "KeyError: 1")]
    assert [each.times for each in parsed.raised] == [64]


def test_what_ray_repeats_is_counted() -> None:
    parsed = parse("(W pid=1) KeyError: 1 [repeated 7x across cluster] (Ray deduplicates logs by default.)")
    assert parsed.texts == ("KeyError: 1",)
    assert [each.times for each in parsed.raised] == [7]


@pytest.mark.parametrize(
    ("log", "numbers"),
    [
        ("a\nb\n\nc", [1, 2, 4]),
        ("a\r\nb\r\n\r\nc", [1, 2, 4]),
        ("a\rb\r\rc", [1, 2, 4]),
        ("a\r\nb\n\nc\r\n", [1, 2, 4]),
        ("a\nb\x0c\u2028\n\nc", [1, 2, 4]),
    ],
    ids=["unix", "windows", "old mac", "mixed", "separators that editors do not count"],
)
def test_lines_are_numbered_as_an_editor_does(log: str, numbers: list[int]) -> None:
    assert fold(log).numbers == numbers


def test_a_progress_bar_hides_nothing_behind_its_carriage_returns() -> None:
    log = "Map:  10%|█         | 1/10 [00:01<00:09]\rMap:  20%|██        | 2/10 [00:02<00:08]\rKeyError: 1\n"
    assert fold(log).texts == ("KeyError: 1",)


def test_an_endless_line_is_read_to_its_end_in_pieces() -> None:
    log = "x" * 50_000 + " ValueError: at the very end"
    folded = fold(log)
    assert max(map(len, folded.texts)) <= PIECE
    assert set(folded.numbers) == {1}
    assert [each.type for each in parse(log).raised] == ["ValueError"]


def test_ranks_that_write_in_turns_keep_their_own_tracebacks() -> None:
    first = ["Traceback (most recent call last):", '  File "a.py", line 1, in left', "KeyError: 1"]
    other = ["Traceback (most recent call last):", '  File "b.py", line 2, in right', "ValueError: no"]
    log = "\n".join(
        line
        for pair in zip(first, other, strict=True)
        for line in (f"[rank0]: {pair[0]}", f"[rank1]: {pair[1]}")
    )
    assert [(each.type, [frame.function for frame in each.frames]) for each in parse(log).raised] == [
        ("KeyError", ["left"]),
        ("ValueError", ["right"]),
    ]


@pytest.mark.parametrize(
    "before",
    [
        lambda _: "shop  | ",
        lambda _: "shop-7d9f-x2 main ",
        lambda number: f"2026-06-12 10:00:{number:02} shop > ",
        lambda number: f"{number + 9}: ",
        lambda number: f"{number + 9:4}\t",
        lambda number: f"{number + 9} | ",
        lambda number: f"train.log:{number + 9}:",
    ],
    ids=["container", "stern", "behind a time", "grep -n", "cat -n", "numbered", "grep -Hn"],
)
def test_what_a_log_has_before_the_lines_of_a_traceback_is_taken_off_all_lines(
    before: Callable[[int], str],
) -> None:
    lines = [
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in f',
        "    g()",
        "m.Gone: no",
        "ok",
    ]
    log = "\n".join(f"{before(number)}{line}" for number, line in enumerate(lines))
    parsed = parse(log)
    assert [(each.type, each.line, len(each.frames)) for each in parsed.raised] == [("m.Gone", 4, 1)]
    assert parsed.texts[-1] == "ok"


def test_ranks_are_no_line_numbers() -> None:
    tracebacks = [
        [
            "Traceback (most recent call last):",
            f'  File "{name}.py", line 1, in f',
            "    g()",
            f"m.Gone: {name}",
        ]
        for name in "abc"
    ]
    log = "\n".join(
        f"{rank}: {line}" for row in zip(*tracebacks, strict=True) for rank, line in enumerate(row)
    )
    assert [(each.message, len(each.frames)) for each in parse(log).raised] == [("a", 1), ("b", 1), ("c", 1)]


def test_what_html_makes_of_a_log_is_undone() -> None:
    text = "AssertionError:&nbsp;&#39;a&#x27; &lt; &quot;b&quot;\xa0&amp;lt; &copy; ?a=1&copy=2 &#10;"
    assert fold(text).texts == ("AssertionError: 'a' < \"b\" &lt; &copy; ?a=1&copy=2 &#10;",)


def test_a_number_in_a_prefix_is_that_number() -> None:
    failures = Failures(levels=("V1",), prefixes=(Prefix("x", ("job 7", "{level}:")),))
    texts = fold("job 8 left\njob 7 stays\nV2: on\nV1: off", compile_formats(failures)).texts
    assert texts == ("job 8 left", "stays", "V2: on", "off")


def test_a_message_is_found_whatever_quotes_it_has_as_its_examples_are() -> None:
    formats = compile_formats(Failures(families=(Family("disk", ("disk {word} is 'full'",)),)))
    for left, right in ("''", '""', "‘’", "＂＂"):
        log = f"disk sda is {left}full{right}"
        assert [each.message for each in traceback.parse(log, formats).raised] == [log]
        window = LogWindow(1 << 10, formats)
        window.feed(f"{log}\n{'ok' * 10_000}\n".encode())
        assert window.extract().text.startswith(log) == log.isascii()


def test_the_browser_takes_the_same_files_for_text() -> None:
    script = (CONTENT.parent / "static" / "log.js").read_text(encoding="utf-8")
    found = re.search(
        r"isText\(blob\) \{.*?slice\(0, (\d+)\).*?!(\[[\d, ]+\])\.includes.*?head\.length / (\d+)",
        script,
        re.DOTALL,
    )
    assert found
    size, in_text, most = int(found[1]), json.loads(found[2]), int(found[1]) // int(found[3])
    assert {byte for byte in range(32) if not is_binary(bytes([byte]) * size)} == set(in_text)
    assert not is_binary(b"\x01" * most + b"a" * (size - most))
    assert is_binary(b"\x01" * (most + 1) + b"a" * (size - most - 1))
    assert not is_binary(b"a" * size + b"\x01" * size)
