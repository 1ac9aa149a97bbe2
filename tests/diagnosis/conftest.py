"""Diagnosers over the shipped content and over content of a test's own."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from app.diagnosis.diagnose import Diagnoser
from app.knowledge import Knowledge, Snapshot
from app.settings import Settings
from tests.support import small_content


def open_snapshot(data: Path, content: Path | None = None) -> Snapshot:
    """The knowledge of a content directory, by default the shipped one, with its index in `data`."""
    given = {"JIEDA_DATA": str(data)} | ({"JIEDA_CONTENT": str(content)} if content else {})
    knowledge = Knowledge(Settings.load(given))
    knowledge.open()
    return knowledge.snapshot


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The shipped content."""
    return open_snapshot(tmp_path_factory.mktemp("diagnose"))


@pytest.fixture(scope="session")
def diagnoser(shipped: Snapshot) -> Diagnoser:
    """Over the shipped content."""
    return shipped.diagnoser


@pytest.fixture
def diagnoser_of(tmp_path: Path) -> Callable[[Mapping[str, str]], Diagnoser]:
    """Makes a diagnoser over error entries, given as front matter (`signatures: [...]`) by entry id."""

    def make(entries: Mapping[str, str]) -> Diagnoser:
        files = {
            f"en/{entry_id}.md": small_content.edition(
                f"About {entry_id}", "## Fix\n\nDo it.\n", kind="error", topics="[memory]"
            ).replace("---\n", f"---\n{front.strip()}\n", 1)
            for entry_id, front in entries.items()
        }
        content = small_content.write(tmp_path / "content", files)
        return open_snapshot(tmp_path / "data", content).diagnoser

    return make
