"""The shipped content, opened once, and content of a test's own."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.analysis.pipeline import Analyzer
from app.content.load import load_library
from app.knowledge import Snapshot, build_snapshot
from app.search.store import IndexStore
from app.settings import ROOT
from tests.search.small import MakeSnapshot, files_of
from tests.support import small_content


@pytest.fixture(scope="session")
def analyzer() -> Analyzer:
    """The analyzer of the shipped content; building one takes a second."""
    return Analyzer(load_library([ROOT / "content"]).dictionary)


@pytest.fixture(scope="session")
def shipped(analyzer: Analyzer, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """A snapshot of the shipped content."""
    store = IndexStore(tmp_path_factory.mktemp("shipped"))
    return build_snapshot(load_library([ROOT / "content"]), analyzer, store)


@pytest.fixture
def small(analyzer: Analyzer, tmp_path: Path) -> MakeSnapshot:
    """Makes snapshots of content that a test writes: see `small.MakeSnapshot`."""

    def make(files: Mapping[str, str], glossary: str = "") -> Snapshot:
        content = small_content.write(tmp_path / "content", files_of(files, glossary))
        library = load_library([content])
        served = {f"{lang}/{entry.id}.md" for entry in library.entries.values() for lang in entry.editions}
        missing = {problem.path for problem in library.problems if not problem.served} - served
        assert not missing, library.problems
        return build_snapshot(library, analyzer, IndexStore(tmp_path / "data"))

    return make
