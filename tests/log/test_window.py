"""What is read of a log that is longer than is read of one."""

import random

import pytest
from jieda.log.window import GAP, LogWindow

from tests.log.reading import FORMATS

LIMIT = 1 << 14
ROOT = "torch.OutOfMemoryError: CUDA out of memory."
WRAPPER = "ray.exceptions.RayTaskError(OutOfMemoryError): it failed over there"


def noise(count: int, number: random.Random) -> list[str]:
    return [
        f"2026-01-01 INFO step {number.randrange(9**9)} error=0 显存 {'x' * number.randrange(60)}"
        for _ in range(count)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_lines_keep_their_numbers_and_the_first_root_failure_is_read_wherever_it_stands(seed: int) -> None:
    number = random.Random(seed)
    before, after = number.choice([(0, 3000), (900, 2000), (2000, 900), (3000, 3), (3, 3)])
    lines = [
        *noise(before, number),
        WRAPPER,
        *noise(9, number),
        ROOT,
        *noise(after, number),
        "ValueError: a later one",
    ]
    text = "\n".join(lines) + "\n" * number.randrange(2)
    raw = text.encode("utf-16" if seed % 4 == 3 else "utf-8")
    window = LogWindow(LIMIT, FORMATS)
    at = 0
    while at < len(raw):
        size = number.choice([1, 100, 5000, 40_000])
        window.feed(raw[at : at + size])
        at += size
    found = window.extract()
    assert len(found.text.encode()) <= LIMIT
    read = found.text.rstrip("\n").split("\n")
    assert ROOT in read
    assert "ValueError: a later one" in read
    for place, line in enumerate(read, 1):
        assert line == lines[found.line(place) - 1] or line in GAP.split("\n")
    assert not any(part.in_part for part in found.parts)
    assert sum(part.last - part.first + 1 for part in found.parts) in {
        len(read) + 1 - GAP.count("\n"),
        len(read),
        0,
    }
    assert bool(found.parts) is (len(text.encode()) > LIMIT)


@pytest.mark.parametrize(
    ("text", "encoding", "declared", "read"),
    [
        ("错误：磁盘空间不足，拒绝接收", "gb18030", "utf-8", "错误：磁盘空间不足，拒绝接收"),
        ("錯誤：磁碟空間不足", "big5", "big5", "錯誤：磁碟空間不足"),
        ("Größe überschritten, naïve", "latin-1", "utf-8", "Gr��e �berschritten, na�ve"),
        ("\x80错误：磁盘空间不足", "utf-8", "utf-8", "\x80错误：磁盘空间不足"),
    ],
)
def test_the_encoding_is_told_by_the_first_text_that_is_not_ascii(
    text: str, encoding: str, declared: str, read: str
) -> None:
    window = LogWindow(LIMIT, FORMATS, declared)
    raw = b"starting\n" * 9 + text.encode(encoding)
    for start in (0, 20):
        window.feed(raw[start : start + 20] if not start else raw[start:])
    assert window.extract().text.endswith(f"starting\n{read}")


@pytest.mark.parametrize(("encoding", "declared"), [("utf-8", "utf-8"), ("gb18030", "utf-8"), ("gbk", "gbk")])
@pytest.mark.parametrize("cut", range(1, 9))
def test_an_encoding_is_told_wherever_a_block_ends(cut: int, encoding: str, declared: str) -> None:
    window = LogWindow(LIMIT, FORMATS, declared)
    raw = "存储空间不足".encode(encoding)
    window.feed(b"starting\n" + raw[:cut])
    window.feed(raw[cut:])
    assert window.extract().text == "starting\n存储空间不足"


def test_a_broken_byte_of_utf8_makes_no_other_encoding_of_it() -> None:
    window = LogWindow(LIMIT, FORMATS)
    window.feed("错误：磁盘空间不足\n".encode()[1:] * 2 + b"\xb4\xed")
    assert "��误：磁盘空间不足\n" in window.extract().text


def test_without_a_failure_all_that_is_read_is_the_end_and_a_log_without_lines_is_none_the_less_read() -> (
    None
):
    for raw in (b"step done\n" * 10_000, b"x" * 100_000, b"error: " * 20_000):
        window = LogWindow(LIMIT, FORMATS)
        window.feed(raw)
        text = window.extract().text
        assert raw.rstrip(b"\n").endswith(text.encode())
        assert len(text) > LIMIT - 100


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a b " * LIMIT, [(1, 1, True)]),
        (f"start\n{'x ' * LIMIT}\nError: boom\n", [(2, 3, True)]),
        ("ok\n" * LIMIT, [(LIMIT - LIMIT // 3 + 1, LIMIT, False)]),
        (f"{ROOT} {'x ' * LIMIT}\n{'ok' * 9}\n" + "ok\n" * LIMIT, [(1, 1, True), (11_612, LIMIT + 2, False)]),
    ],
)
def test_a_line_that_is_longer_than_what_is_read_is_read_in_part(
    text: str, parts: list[tuple[int, int, bool]]
) -> None:
    window = LogWindow(LIMIT, FORMATS)
    for start in range(0, len(text), 5000):
        window.feed(text[start : start + 5000].encode())
    found = window.extract().parts
    assert [(each.first, each.last, each.in_part) for each in found] == parts
