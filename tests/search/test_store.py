"""Indexes on disk: reused while they fit, rebuilt whenever anything in them doesn't, never seen half done."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.errors import JiedaError
from app.search.index.document import Document
from app.search.index.embedded import EmbeddedIndex
from app.search.index.writer import ABANDONED_AFTER, KEPT, IndexStore
from app.search.query.types import Query
from app.search.weights import WEIGHTING
from tests.search.contract import document, search, word
from tests.support.server import ROOT

pytestmark = pytest.mark.slow

DOCUMENTS = [
    document("f/first", zones={"title_en": "t:a t:b", "body_zh": "t:显存"}, keys=("k:a",), texts=["a b"]),
    document("f/second", zones={"body_en": "t:a"}, texts=["a"]),
]


class Built(Exception):
    """A build was asked for where none was called for."""


def refuse() -> list[Document]:
    raise Built


def found(index: EmbeddedIndex, *terms: str) -> list[str]:
    return [one.id for one in search(index, Query(tuple(map(word, terms)), keys=("k:a",))).ranked]


@pytest.fixture
def store(tmp_path: Path) -> IndexStore:
    return IndexStore(tmp_path / "data", WEIGHTING)


@pytest.fixture
def built(store: IndexStore, tmp_path: Path) -> Path:
    """The directory of an index that has been built under `digest`."""
    store.open("digest", lambda: DOCUMENTS)
    return tmp_path / "data" / "index" / "digest"


# ---- reuse


def test_an_index_is_reused_while_its_digest_is_asked_for(store: IndexStore, built: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in built.iterdir()}
    assert found(store.open("digest", refuse), "t:a") == ["f/first", "f/second"]
    assert {path.name: path.stat().st_mtime_ns for path in built.iterdir()} == before


def test_another_digest_is_another_index(store: IndexStore, built: Path) -> None:
    other = [document("f/other", zones={"body_en": "t:a"})]
    assert found(store.open("other", lambda: other), "t:a") == ["f/other"]
    assert found(store.open("digest", refuse), "t:a") == ["f/first", "f/second"]


def test_the_index_directory_is_private(built: Path) -> None:
    """What a team keeps to itself is in it, word for word."""
    assert built.parent.stat().st_mode & 0o077 == 0


# ---- damage: every kind, in every file


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
def test_a_damaged_index_is_built_anew(
    store: IndexStore, built: Path, pattern: str, damage: Callable[[Path], None]
) -> None:
    (file,) = built.glob(pattern)
    damage(file)
    assert found(store.open("digest", lambda: DOCUMENTS), "t:显存") == ["f/first"]
    assert found(store.open("digest", refuse), "t:a") == ["f/first", "f/second"]


def test_no_bit_of_the_manifest_can_change_unnoticed(store: IndexStore, built: Path) -> None:
    """It is the one file that no other file vouches for, and a changed id is still JSON."""
    manifest = built / "index.json"
    whole = manifest.read_bytes()
    for place in range(0, len(whole), 3):
        changed = bytearray(whole)
        changed[place] ^= 1 << (place % 7)
        manifest.write_bytes(bytes(changed))
        with pytest.raises(Built):
            store.open("digest", refuse)
    manifest.write_bytes(whole)
    store.open("digest", refuse)


def test_no_byte_of_a_segment_can_change_unnoticed(store: IndexStore, built: Path) -> None:
    (segment,) = built.glob("*.seg")
    whole = segment.read_bytes()
    for place in range(0, len(whole), 7):
        changed = bytearray(whole)
        changed[place] ^= 1 << (place % 7)
        segment.write_bytes(bytes(changed))
        with pytest.raises(Built):
            store.open("digest", refuse)


@pytest.mark.parametrize("stands_there", ["file", "empty directory"])
def test_whatever_stands_in_the_place_of_an_index_is_replaced(
    store: IndexStore, tmp_path: Path, stands_there: str
) -> None:
    place = tmp_path / "data" / "index" / "digest"
    place.parent.mkdir(parents=True)
    if stands_there == "file":
        place.write_text("no index")
    else:
        place.mkdir()
    assert found(store.open("digest", lambda: DOCUMENTS), "t:a") == ["f/first", "f/second"]


# ---- builds that fail or are killed


def test_a_build_that_fails_leaves_nothing_and_may_be_tried_again(store: IndexStore, tmp_path: Path) -> None:
    def half() -> Iterator[Document]:
        yield DOCUMENTS[0]
        raise RuntimeError("no more memory")

    with pytest.raises(RuntimeError, match="no more memory"):
        store.open("digest", half)
    assert [path.name for path in (tmp_path / "data" / "index").iterdir()] == ["lock"]
    assert found(store.open("digest", lambda: DOCUMENTS), "t:a") == ["f/first", "f/second"]


def test_a_rebuild_that_fails_keeps_the_other_indexes(store: IndexStore, built: Path) -> None:
    with pytest.raises(Built):
        store.open("next", refuse)
    assert found(store.open("digest", refuse), "t:a") == ["f/first", "f/second"]


PROCESS = """
import os, signal, sys, time
from pathlib import Path
from app.search.index.embedded import EmbeddedIndex
from app.search.query.types import Query
from app.search.weights import WEIGHTING
from app.search.index.writer import IndexStore
from tests.search.contract import search, word
from tests.search.test_store import DOCUMENTS

data, log, how = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]

def documents():
    with log.open("a") as file:
        file.write("built\\n")
    yield DOCUMENTS[0]
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.5)
    yield DOCUMENTS[1]

print("ready", flush=True)
sys.stdin.readline()
index = IndexStore(data, WEIGHTING).open("digest", documents)
print(*(one.id for one in search(index, Query((word("t:a"),))).ranked))
"""


def opening(data: Path, log: Path, how: str) -> subprocess.Popen[str]:
    """A process that is about to open an index, and does so when a line is written to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(data), str(log), how],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_killed_build_is_never_opened_and_blocks_nobody(tmp_path: Path) -> None:
    data, log = tmp_path / "data", tmp_path / "log"
    process = opening(data, log, "killed")
    process.communicate("go\n", timeout=60)
    assert process.returncode == -9
    assert log.read_text() == "built\n"
    assert not (data / "index" / "digest").exists()
    assert found(IndexStore(data, WEIGHTING).open("digest", lambda: DOCUMENTS), "t:a") == [
        "f/first",
        "f/second",
    ]


def test_of_processes_that_open_at_once_one_builds_and_all_get_the_index(tmp_path: Path) -> None:
    data, log = tmp_path / "data", tmp_path / "log"
    processes = [opening(data, log, "slow") for _ in range(3)]
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=60)[0] for process in processes]
    assert answers == ["f/first f/second\n"] * 3
    assert log.read_text() == "built\n"


# ---- a data directory that cannot be written


def test_a_data_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(JiedaError, match=r"file/data/index: the index cannot be written: "):
        IndexStore(tmp_path / "file" / "data", WEIGHTING).open("digest", lambda: DOCUMENTS)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_data_directory_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o500)
    with pytest.raises(JiedaError, match="cannot be written"):
        IndexStore(data, WEIGHTING).open("digest", lambda: DOCUMENTS)


def test_an_index_that_is_there_is_opened_where_nothing_may_be_written(built: Path, tmp_path: Path) -> None:
    """Even root may write nothing once the place of the lock is taken by a directory."""
    (built.parent / "lock").unlink()
    (built.parent / "lock").mkdir()
    store = IndexStore(tmp_path / "data", WEIGHTING)
    assert found(store.open("digest", refuse), "t:a") == ["f/first", "f/second"]
    with pytest.raises(JiedaError, match="cannot be written"):
        store.open("other", lambda: DOCUMENTS)


# ---- what is no longer needed


def test_only_the_latest_indexes_are_kept(store: IndexStore, tmp_path: Path) -> None:
    root = tmp_path / "data" / "index"
    for number in range(4):
        store.open(f"digest{number}", lambda: DOCUMENTS)
        os.utime(root / f"digest{number}", (number, number))
    kept = {path.name for path in root.iterdir() if path.is_dir()}
    assert kept == {f"digest{number}" for number in range(4 - KEPT, 4)}


def test_what_a_dead_process_left_behind_is_removed_and_what_a_living_one_builds_is_not(
    store: IndexStore, built: Path
) -> None:
    root = built.parent
    for name in (".building-old", ".building-new", ".damaged-x"):
        (root / name).mkdir()
    long_ago = time.time() - ABANDONED_AFTER - 1
    os.utime(root / ".building-old", (long_ago, long_ago))
    store.open("next", lambda: DOCUMENTS)
    left = {path.name for path in root.iterdir() if path.name.startswith(".")}
    assert left == {".building-new"}


def test_nothing_of_others_is_removed_behind_a_link(store: IndexStore, tmp_path: Path) -> None:
    others = tmp_path / "others"
    for name in ("one", "two", "three", ".damaged-four"):
        (others / name).mkdir(parents=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "index").symlink_to(others)
    for number in range(4):
        assert found(store.open(f"digest{number}", lambda: DOCUMENTS), "t:a") == ["f/first", "f/second"]
    (tmp_path / "data" / "index" / "digest9").symlink_to(others)
    store.open("digest9", lambda: DOCUMENTS)
    assert {path.name for path in others.iterdir()} == {"one", "two", "three", ".damaged-four"}
