"""A second index, of plain dictionaries, keeps the contract: it asks for nothing that only the embedded one has."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from jieda.search.index.document import Document
from jieda.search.index.protocol import Index

from tests.search.contract import IndexContract
from tests.support.engines import DictionaryIndex


class TestDictionaryIndex(IndexContract):
    @contextmanager
    def index(self, documents: Sequence[Document]) -> Iterator[Index]:
        yield DictionaryIndex(documents)
