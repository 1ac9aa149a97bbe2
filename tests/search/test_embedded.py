"""The engine on disk does what every engine must."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from app.search.embedded import EmbeddedEngine, build
from app.search.engine import Document, Engine
from tests.search.contract import EngineContract


class TestEmbeddedEngine(EngineContract):
    @contextmanager
    def engine(self, documents: Sequence[Document]) -> Iterator[Engine]:
        with TemporaryDirectory() as folder:
            build(Path(folder), documents)
            engine = EmbeddedEngine(Path(folder))
            yield engine
            engine.close()
