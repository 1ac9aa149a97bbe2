"""Content of a test's own."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

import pytest
from jieda.analysis.pipeline import Analyzer
from jieda.content.read.load import load_library
from jieda.snapshot.snapshot import Snapshot

from bench.made import build_snapshot
from tests.search.small import MakeSnapshot, files_of
from tests.support import small_content


@pytest.fixture
def small(analyzer: Analyzer, tmp_path: Path) -> MakeSnapshot:
    """Makes snapshots of content that a test writes: see `small.MakeSnapshot`."""

    def make(files: Mapping[str, str], glossary: str = "") -> Snapshot:
        content = small_content.write(tmp_path / "content", files_of(files, glossary))
        library = load_library([content])
        served = {f"{lang}/{entry.id}.md" for entry in library.entries.values() for lang in entry.editions}
        missing = {problem.path for problem in library.problems if not problem.served} - served
        assert not missing, library.problems
        return build_snapshot(library, analyzer, Path(mkdtemp(dir=tmp_path)))

    return make
