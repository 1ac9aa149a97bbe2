"""The index on disk does what every index must, in one segment and in several."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from jieda.search.index import embedded
from jieda.search.index.document import Document
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.protocol import Index
from jieda.search.index.writer import update_index

from tests.search.contract import IndexContract


class TestEmbeddedIndex(IndexContract):
    @contextmanager
    def index(self, documents: Sequence[Document]) -> Iterator[Index]:
        with TemporaryDirectory() as folder:
            update_index(Path(folder), None, {one.id: one for one in documents}, (), ())
            yield EmbeddedIndex(Path(folder))


class TestIndexOfSegments(IndexContract):
    """A segment for every document or two, and one whose documents are all deleted; of an even number of documents one
    that keeps no rows of any word, as it does for words that most documents have."""

    @contextmanager
    def index(self, documents: Sequence[Document]) -> Iterator[Index]:
        gone = [
            Document(f"gone/{n}", {"title_en": {"t:a": 1, "t:gone": 1}}, ("k:a",), (), {}) for n in range(3)
        ]
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
            most = embedded.MOST_ROWS if len(documents) % 2 else 0
            with patch.object(embedded, "MOST_ROWS", most):
                yield EmbeddedIndex(place)


def test_what_is_kept_of_a_word_and_what_is_read_again_tell_the_same() -> None:
    """Also of a document that is asked for twice, as where two words of a query share a term."""
    words = [("t:a", "t:b"), ("t:b",), ("t:a", "t:a", "t:b"), ("t:c",)]
    made = [
        Document(f"f/{n}", {"title_en": Counter(one), "code": Counter(one[:1])}, (), (), {})
        for n, one in enumerate(words)
    ]
    told = []
    for most in (0, 1000):
        with patch.object(embedded, "MOST_ROWS", most), TestEmbeddedIndex().index(made) as index:
            assert isinstance(index, EmbeddedIndex)
            found = embedded.make_pool(index.collection, ("t:a", "t:b"))
            told.append(found.shares([2, 0, 2, 3]))
    assert told[0] == told[1]
    assert told[0][0] == told[0][2]
    assert [len(of_document) for of_document in told[0]] == [3, 3, 3, 0]
