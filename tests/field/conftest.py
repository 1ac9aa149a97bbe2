"""A server over a small content directory, in which every entry is there for one want or to lead it astray."""

from collections.abc import Iterator

import httpx
import pytest
from jieda.search.meaning.embedder import embedder
from jieda.snapshot.snapshot import Analyzers

from tests.field.corpus import FILES
from tests.support.inside import serving
from tests.support.small_content import write


@pytest.fixture(scope="session")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a server over `corpus.FILES`, in this process; searches by meaning, as a server does."""
    folder = tmp_path_factory.mktemp("field")
    analyzers = Analyzers(embedder(folder, wanted=True))
    with serving(folder, write(folder / "content", FILES), analyzers) as server, server.client() as connected:
        yield connected
