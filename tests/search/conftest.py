"""Content of a test's own."""

from collections.abc import Mapping
from functools import lru_cache

import pytest
from jieda.analysis.pipeline import Analyzer
from jieda.content.read.load import Loaded
from jieda.snapshot.snapshot import Snapshot

from bench.made import build_snapshot
from tests.search.small import MakeSnapshot, files_of
from tests.support import small_content


@pytest.fixture(scope="session")
def small(analyzer: Analyzer, tmp_path_factory: pytest.TempPathFactory) -> MakeSnapshot:
    """Makes snapshots of content that a test writes: see `small.MakeSnapshot`. The same one for the same content, where
    a test before has asked for it."""

    @lru_cache(maxsize=8)
    def made(*files: tuple[str, str]) -> Snapshot:
        folder = tmp_path_factory.mktemp("small")
        content = small_content.write(folder / "content", dict(files))
        library = Loaded([content]).library()
        served = {f"{lang}/{entry.id}.md" for entry in library.entries.values() for lang in entry.editions}
        missing = {problem.path for problem in library.problems if not problem.served} - served
        assert not missing, library.problems
        (folder / "index").mkdir()
        return build_snapshot(library, analyzer, folder / "index")

    def make(files: Mapping[str, str], glossary: str = "") -> Snapshot:
        return made(*sorted(files_of(files, glossary).items()))

    return make
