"""The index on disk does what every index must, in one segment and in several."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from app.search.index.document import Document
from app.search.index.embedded import EmbeddedIndex
from app.search.index.protocol import Index
from app.search.index.writer import update_index
from app.search.weights import WEIGHTING
from tests.search.contract import IndexContract


class TestEmbeddedIndex(IndexContract):
    @contextmanager
    def index(self, documents: Sequence[Document]) -> Iterator[Index]:
        with TemporaryDirectory() as folder:
            update_index(Path(folder), None, {one.id: one for one in documents}, (), ())
            yield EmbeddedIndex(Path(folder), WEIGHTING)


class TestIndexOfSegments(IndexContract):
    """A segment for every document or two, and one whose documents are all deleted."""

    @contextmanager
    def index(self, documents: Sequence[Document]) -> Iterator[Index]:
        gone = [Document(f"gone/{n}", {"title_en": ("t:a", "t:gone")}, ("k:a",), (), {}) for n in range(3)]
        with TemporaryDirectory() as folder:
            place = Path(folder, "0")
            place.mkdir()
            update_index(place, None, {one.id: one for one in gone}, (), ())
            for number, some in enumerate([documents[:1], documents[1:3], documents[3:]], 1):
                following = Path(folder, str(number))
                following.mkdir()
                removed = [one.id for one in gone[number - 1 : number]]
                changed = {one.id: one for one in some}
                update_index(following, place, changed, changed, removed)
                place = following
            yield EmbeddedIndex(place, WEIGHTING)
