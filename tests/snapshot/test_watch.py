"""Folders that go and come back, as a checkout of another branch or a synchronization has it, are watched as before."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jieda.settings import Settings
from jieda.snapshot.build.files import FileReader
from jieda.snapshot.knowledge import Health, Knowledge
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store.generation import read_pointer
from jieda.snapshot.watch.keep import Watch

from tests.support.server import until
from tests.support.small_content import edition, write

FILES = {"en/roll/a.md": edition("A"), "zh/roll/b.md": edition("B", "## 回答\n\n是。\n")}


@pytest.fixture
def content(tmp_path: Path) -> Path:
    return write(tmp_path / "content", FILES)


@pytest.fixture(params=["events"])
def knowledge(
    request: pytest.FixtureRequest, content: Path, data: Path, plain_analyzers: Analyzers
) -> Iterator[Knowledge]:
    """What follows the content by events alone: what no event tells of is never noticed."""
    given = {"CONTENT": str(content), "DATA": str(data), "RELOAD_CONTENT": "1", "WATCH": request.param}
    settings = Settings.load({f"JIEDA_{name}": value for name, value in given.items()})
    knows = Knowledge(settings, analyzers=plain_analyzers)
    knows.open()
    knows.start()
    yield knows
    knows.stop()


def titles(knowledge: Knowledge) -> set[str]:
    entries = knowledge.snapshot.library.entries.values()
    return {edition.title for entry in entries for edition in entry.editions.values()}


@pytest.mark.parametrize("knowledge", ["auto", "events", "poll"], indirect=True)
def test_a_folder_that_is_new_is_watched_like_the_others(knowledge: Knowledge, content: Path) -> None:
    shutil.rmtree(content / "zh")
    until(lambda: titles(knowledge) == {"A"})
    (content / "zh/roll").mkdir(parents=True)
    (content / "zh/roll/new.md").write_text(edition("新", "## 回答\n\n是。\n"), encoding="utf-8")
    until(lambda: titles(knowledge) == {"A", "新"})
    (content / "zh/roll/later.md").write_text(edition("后", "## 回答\n\n是。\n"), encoding="utf-8")
    until(lambda: titles(knowledge) == {"A", "新", "后"})


Missed = Callable[[], None]
"""Called while a folder is away."""
Move = Callable[[Path, Missed], None]


def away_and_back(folder: Path, missed: Missed) -> None:
    aside = folder.rename(folder.with_name("aside~"))
    missed()
    aside.rename(folder)


def made_again(folder: Path, missed: Missed) -> None:
    files = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.md")}
    shutil.rmtree(folder)
    missed()
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text)


def at_once() -> None:
    """Nobody has noticed that it was gone."""


FOLDERS = [(move, name) for move in (away_and_back, made_again) for name in ("en/roll", "en")]
WAYS = [(*each, noticed) for each in FOLDERS for noticed in (False, True)]
# Nobody watches what the directory itself lies in: where it is back before anybody looked, events alone may not tell.
WAYS.append((away_and_back, "", True))


@pytest.mark.parametrize(("move", "name", "noticed"), WAYS)
def test_a_folder_that_comes_back_is_watched_again(
    knowledge: Knowledge, content: Path, move: Move, name: str, noticed: bool
) -> None:
    def is_missed() -> bool:
        return titles(knowledge) == {"B"} if name else "failed" in knowledge.health().degraded

    move(content / name, (lambda: until(is_missed)) if noticed else at_once)
    until(lambda: titles(knowledge) == {"A", "B"} and not knowledge.health().degraded)
    for number in range(3):
        (content / "en/roll/a.md").write_text(edition(f"Edited {number}"), encoding="utf-8")
        until(lambda number=number: titles(knowledge) == {f"Edited {number}", "B"})  # type: ignore[misc] # bound now


def test_a_thread_that_dies_of_anything_is_told_of_and_begins_again(
    knowledge: Knowledge, content: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = Watch.changed

    def exhausted(*_: object) -> bool:
        raise MemoryError

    monkeypatch.setattr(Watch, "changed", exhausted)
    until(lambda: knowledge.health().degraded == "the thread jieda-watch died of MemoryError")
    assert "the thread jieda-watch died and is restarted" in caplog.messages
    monkeypatch.setattr(Watch, "changed", changed)
    (content / "en/roll/new.md").write_text(edition("New"), encoding="utf-8")
    until(lambda: "roll/new" in knowledge.snapshot.library)


def test_what_is_degraded_stays_so_while_a_build_that_failed_is_tried_again(
    knowledge: Knowledge, content: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    during: list[Health] = []
    read = FileReader.read

    def noted(reader: FileReader) -> object:
        during.append(knowledge.health())
        return read(reader)

    monkeypatch.setattr(FileReader, "read", noted)
    whole = (content / "taxonomy.yaml").read_text(encoding="utf-8")
    (content / "taxonomy.yaml").write_text("frameworks: [", encoding="utf-8")
    until(lambda: len(during) > 2)
    assert {each.builder.state for each in during} == {"building"}
    assert [bool(each.degraded) for each in during[:3]] == [False, True, True]
    (content / "taxonomy.yaml").write_text(whole, encoding="utf-8")
    until(lambda: not knowledge.health().degraded)


def test_what_is_rejected_is_made_anew(
    knowledge: Knowledge, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As where a cluster has lost the index of a generation."""
    before = read_pointer(data).generation
    (made,) = (data / "generations").iterdir()
    stamp = made.stat().st_ino
    knowledge._follower.reject("lost")
    until(lambda: made.is_dir() and made.stat().st_ino != stamp and not knowledge.health().degraded)
    assert read_pointer(data).generation == before
    assert titles(knowledge) == {"A", "B"}
    assert f"generation {before[:12]} cannot be opened: lost" in caplog.messages
