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

OTHER = """\
  slime:
    name: {en: slime, zh: slime}
    description: {en: Another framework., zh: 另一个框架。}
kinds:"""
TAXONOMY = {"taxonomy.yaml": small_content.TAXONOMY.replace("kinds:", OTHER, 1)}
"""Of two frameworks: entries of any other are refused, and an answer that they are not in says nothing."""


@pytest.fixture(scope="session")
def diagnoser(shipped: Snapshot) -> Diagnoser:
    """Over the shipped content."""
    return shipped.diagnoser


@pytest.fixture(scope="session")
def background(tmp_path_factory: pytest.TempPathFactory, analyzers: Analyzers) -> Path:
    """A folder with content that has no entries, but formats, programs and a part of the background as shipped; and
    with what a build made of them."""
    folder = tmp_path_factory.mktemp("background")
    content = small_content.write(folder / "content", TAXONOMY)
    for name in ("programs.yaml", "failures.yaml"):
        shutil.copy(CONTENT / name, content)
    (content / "background").mkdir()
    logs = sorted((CONTENT / "background").glob("*.log"))
    for log in {*logs[::8], *(CONTENT / "background").glob("*oom.log")}:
        shutil.copy(log, content / "background")
    open_snapshot(folder / "data", analyzers, content)
    return folder


@pytest.fixture
def diagnoser_of(
    background: Path, tmp_path: Path, analyzers: Analyzers
) -> Callable[[Mapping[str, str]], Diagnoser]:
    """Makes a diagnoser over error entries, given as front matter (`signatures: [...]`) by entry id.

    Formats and programs are as shipped; the background is a part of the shipped one, and read once for all tests.
    """

    def make(entries: Mapping[str, str]) -> Diagnoser:
        assert all(entry_id.startswith(("roll/", "slime/")) for entry_id in entries)
        files = {
            f"en/{entry_id}.md": small_content.edition(
                f"About {entry_id}", "## Fix\n\nDo it.\n", kind="error", topics="[memory]"
            ).replace("---\n", f"---\n{front.strip()}\n", 1)
            for entry_id, front in entries.items()
        }
        shutil.copytree(background, tmp_path, symlinks=True, dirs_exist_ok=True)
        content = small_content.write(tmp_path / "content", TAXONOMY | files)
        return open_snapshot(tmp_path / "data", analyzers, content).diagnoser

    return make
