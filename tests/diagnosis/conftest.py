"""Diagnosers over the shipped content and over content of a test's own."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from jieda.diagnosis.diagnose import Diagnoser
from jieda.snapshot.snapshot import Analyzers, Snapshot

from tests.log.reading import CONTENT
from tests.support import small_content
from tests.support.shipped import open_snapshot


@pytest.fixture(scope="session")
def diagnoser(shipped: Snapshot) -> Diagnoser:
    """Over the shipped content."""
    return shipped.diagnoser


@pytest.fixture
def diagnoser_of(tmp_path: Path, analyzers: Analyzers) -> Callable[[Mapping[str, str]], Diagnoser]:
    """Makes a diagnoser over error entries, given as front matter (`signatures: [...]`) by entry id.

    Formats and programs are as shipped; the background is a part of the shipped one.
    """

    def make(entries: Mapping[str, str]) -> Diagnoser:
        files = {
            f"en/{entry_id}.md": small_content.edition(
                f"About {entry_id}", "## Fix\n\nDo it.\n", kind="error", topics="[memory]"
            ).replace("---\n", f"---\n{front.strip()}\n", 1)
            for entry_id, front in entries.items()
        }
        content = small_content.write(tmp_path / "content", files)
        for name in ("programs.yaml", "failures.yaml"):
            shutil.copy(CONTENT / name, content)
        (content / "background").mkdir()
        logs = sorted((CONTENT / "background").glob("*.log"))
        for log in {*logs[::8], *(CONTENT / "background").glob("*oom.log")}:
            shutil.copy(log, content / "background")
        return open_snapshot(tmp_path / "data", analyzers, content).diagnoser

    return make
