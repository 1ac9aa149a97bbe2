"""Content, data and an analyzer to build with."""

from pathlib import Path

import pytest
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers

from tests.support.small_content import edition, write


def two(folder: Path) -> Path:
    """A content directory of two entries."""
    return write(folder / "content", {f"en/roll/{slug}.md": edition(slug.upper()) for slug in ("a", "b")})


@pytest.fixture
def content(tmp_path: Path) -> Path:
    return two(tmp_path)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory that is not there yet."""
    return tmp_path / "data"


@pytest.fixture
def builder(content: Path, data: Path, analyzers: Analyzers) -> Builder:
    """A builder of `content` into `data`."""
    return Builder([content], data, analyzers)
