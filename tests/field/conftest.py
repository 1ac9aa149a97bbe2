"""A server over a small content directory, in which every entry is there for one want or to lead it astray."""

from collections.abc import Iterator

import httpx
import pytest

from tests.field.corpus import FILES
from tests.support import server as servers
from tests.support.server import Server
from tests.support.small_content import write


@pytest.fixture(scope="session")
def field_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over `corpus.FILES`."""
    content = write(tmp_path_factory.mktemp("field-content"), FILES)
    running = servers.start(tmp_path_factory.mktemp("field-server"), content)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def field(field_server: Server) -> Iterator[httpx.Client]:
    """A client of `field_server`."""
    with field_server.client() as connected:
        yield connected
