"""What is served is asked a few questions again and again: damage that no file tells of is seen, said and mended."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.entry import Language
from app.search.answers import SearchRequest
from app.settings import Settings
from app.snapshot.analyzers import Analyzers
from app.snapshot.knowledge import Knowledge
from app.snapshot.questions import TITLES, Questions, drawn
from tests.support.server import until
from tests.support.small_content import TAXONOMY, edition, write

TITLED = ("Apple pie", "Banana bread", "Cherry cake", "Date syrup", "Elderberry wine", "Fig jam")


@pytest.fixture
def content(tmp_path: Path) -> Path:
    files = {f"en/roll/entry-{number}.md": edition(title) for number, title in enumerate(TITLED)}
    return write(tmp_path / "content", files)


@pytest.fixture
def served(content: Path, data: Path, analyzers: Analyzers) -> Iterator[Knowledge]:
    """As a server has it, with the thread that follows."""
    knowledge = Knowledge(
        Settings.load({"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(data), "JIEDA_SEMANTIC": "0"}),
        analyzers=analyzers,
    )
    knowledge.open()
    knowledge.start()
    yield knowledge
    knowledge.stop()


def found(knowledge: Knowledge) -> list[str]:
    asked = (SearchRequest(text=title, lang=Language.EN) for title in TITLED)
    return [hit.title for one in asked for hit in knowledge.snapshot.searcher.search(one).hits[:1]]


def plant_noise(data: Path) -> None:
    """In the place of all that is looked up, leaving size, time and inode of the files as they were."""
    for path in (data / "generations").rglob("*.seg"):
        status, content = path.stat(), path.read_bytes()
        with path.open("r+b") as file:
            file.write(content[:64] + bytes(byte ^ 0xFF for byte in content[64:]))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_noise_that_no_file_tells_of_is_noticed_said_and_mended(
    served: Knowledge, content: Path, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    right = found(served)
    assert len(right) == len(TITLED)
    # Nothing can be built for now, so that there is time to see what is said.
    (content / "taxonomy.yaml").write_text("frameworks: [", encoding="utf-8")
    plant_noise(data)
    until(lambda: served.health().degraded == "what is served does not answer as it should")
    assert [record.message for record in caplog.records if "it is examined" in record.message]
    (content / "taxonomy.yaml").write_text(TAXONOMY, encoding="utf-8")
    until(lambda: not served.health().degraded)
    assert found(served) == right


def test_a_generation_is_asked_about_titles_of_its_own(served: Knowledge) -> None:
    asked = list(drawn(served.snapshot))
    assert len({question.entry_id for question in asked}) == TITLES
    assert {question.text for question in asked} < set(TITLED)
    assert Questions().are_answered_by(served.snapshot)


def test_titles_that_nobody_could_find_raise_no_doubt(
    tmp_path: Path, data: Path, analyzers: Analyzers
) -> None:
    titles = ("???", "!!!", "The same", "The same", "Another")
    files = {f"en/roll/entry-{number}.md": edition(title) for number, title in enumerate(titles)}
    content = write(tmp_path / "odd", files)
    knowledge = Knowledge(
        Settings.load({"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(data), "JIEDA_SEMANTIC": "0"}),
        analyzers=analyzers,
    )
    knowledge.open()
    questions = Questions()
    assert all(questions.are_answered_by(knowledge.snapshot) for _ in range(2))
