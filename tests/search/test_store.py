"""An index on disk is opened as it was written, or not at all."""

from collections.abc import Callable
from pathlib import Path

import pytest
from jieda.errors import IndexUnreadable
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.writer import update_index

from tests.search.contract import document

DOCUMENTS = [
    document("f/first", zones={"title_en": "t:a t:b", "body_zh": "t:显存"}, keys=("k:a",), texts=["a b"]),
    document("f/second", zones={"body_en": "t:a"}, texts=["a"]),
]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """The directory of an index."""
    update_index(tmp_path, None, {one.id: one for one in DOCUMENTS}, (), ())
    return tmp_path


def is_opened(directory: Path) -> bool:
    try:
        EmbeddedIndex(directory)
    except IndexUnreadable:
        return False
    return True


def truncate(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def delete(path: Path) -> None:
    path.unlink()


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x01
    path.write_bytes(bytes(data))


def overwrite(path: Path) -> None:
    path.write_bytes(b"\x80garbage\x00" * 50)


def replace_by_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: list[Callable[[Path], None]] = [truncate, empty, delete, flip, overwrite, replace_by_directory]
FILES = ["*.seg", "index.json"]
CASES = [(pattern, damage) for pattern in FILES for damage in DAMAGES]


def test_every_file_of_an_index_is_among_those_damaged_here(built: Path) -> None:
    named = {path.name for pattern in FILES for path in built.glob(pattern)}
    assert {path.name for path in built.iterdir()} == named


@pytest.mark.parametrize(("pattern", "damage"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_a_damaged_index_is_not_opened(built: Path, pattern: str, damage: Callable[[Path], None]) -> None:
    (file,) = built.glob(pattern)
    assert is_opened(built)
    damage(file)
    assert not is_opened(built)


@pytest.mark.parametrize(("name", "step"), [("index.json", 3), ("*.seg", 7)])
def test_no_bit_can_change_unnoticed(built: Path, name: str, step: int) -> None:
    """No other file vouches for the manifest, and a changed id is still JSON."""
    (file,) = built.glob(name)
    whole = file.read_bytes()
    for place in range(0, len(whole), step):
        changed = bytearray(whole)
        changed[place] ^= 1 << (place % 7)
        file.write_bytes(bytes(changed))
        assert not is_opened(built)
    file.write_bytes(whole)
    assert is_opened(built)
