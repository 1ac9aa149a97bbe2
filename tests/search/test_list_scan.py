"""The engine that others are compared with keeps the contract itself."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from app.search.engine import Document, Engine
from tests.search.contract import EngineContract
from tests.support.engines import ListScanEngine


class TestListScanEngine(EngineContract):
    @contextmanager
    def engine(self, documents: Sequence[Document]) -> Iterator[Engine]:
        yield ListScanEngine(documents)
