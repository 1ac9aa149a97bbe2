"""An index that was edited answers exactly as one that was built from nothing."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jieda.search.index.document import Document
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.segment import read_manifest, write_manifest
from jieda.search.index.writer import MERGED_AT, SMALL, plan_merge, update_index
from jieda.search.query.words import Query
from jieda.snapshot.build.publish import document_from
from jieda.snapshot.store.generation import RecordUnreadable, to_json

from tests.search.contract import ALL, document, documents, explain, queries, search, word
from tests.support.examples import examples


class Edited:
    """Generations of one index, each written beside the one before it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.places: list[Path] = []

    def update(
        self,
        changed: Mapping[str, Document],
        removed: Collection[str] = (),
        everything: Mapping[str, Document] | None = None,
    ) -> Path:
        """The directory of the next generation."""
        place = self._folder / str(len(self.places))
        place.mkdir()
        update_index(place, self.places[-1] if self.places else None, everything or changed, changed, removed)
        self.places.append(place)
        return place

    def index(self) -> EmbeddedIndex:
        """The latest generation, open."""
        return EmbeddedIndex(self.places[-1])


@pytest.fixture
def edited(tmp_path: Path) -> Edited:
    return Edited(tmp_path)


edits = st.lists(st.tuples(documents(), st.lists(st.integers(0, 8), max_size=4)), min_size=1, max_size=8)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits, st.lists(queries(), min_size=1, max_size=4))
def test_any_edits_lead_to_the_answers_of_a_fresh_index(
    steps: list[tuple[list[Document], list[int]]], asked: list[Query]
) -> None:
    with TemporaryDirectory() as folder:
        edited = Edited(Path(folder))
        held: dict[str, Document] = {}
        for changed, removed in steps:
            gone = [f"f/{number}" for number in removed]
            held = {name: one for name, one in held.items() if name not in gone}
            held |= {one.id: one for one in changed}
            edited.update({one.id: one for one in changed}, [name for name in gone if name not in held], held)
        fresh = Path(folder, "fresh")
        fresh.mkdir()
        update_index(fresh, None, held, (), ())
        one, other = edited.index(), EmbeddedIndex(fresh)
        assert one.lexicon.vocabulary("") == other.lexicon.vocabulary("")
        for query in asked:
            assert search(one, query) == search(other, query)
            assert explain(one, query) == explain(other, query)


def numbered(count: int, text: str = "t:all") -> dict[str, Document]:
    return {f"f/{n}": document(f"f/{n}", zones={"body_en": f"{text} t:w{n}"}) for n in range(count)}


def ids(index: EmbeddedIndex, *terms: str) -> list[str]:
    return [one.id for one in search(index, Query(tuple(map(word, terms)))).ranked]


def test_an_edit_writes_what_changed_and_links_the_rest(edited: Edited) -> None:
    first = edited.update({}, everything=numbered(50))
    second = edited.update({"f/7": document("f/7", zones={"title_en": "t:new"})})
    (old,) = first.glob("*.seg")
    segments = {path.name: path for path in second.glob("*.seg")}
    assert segments[old.name].stat().st_ino == old.stat().st_ino
    (new,) = (path for name, path in segments.items() if name != old.name)
    assert new.stat().st_size < old.stat().st_size
    index = edited.index()
    assert ids(index, "t:new") == ["f/7"]
    assert ids(index, "t:w7") == []
    assert index.lexicon.doc_frequency("t:w7") == 0
    assert "t:w7" not in index.lexicon.vocabulary("t:")


def test_a_removed_document_is_found_no_more_and_may_come_back(edited: Edited) -> None:
    edited.update({}, everything=numbered(3))
    edited.update({}, ["f/1"])
    assert ids(edited.index(), "t:all") == ["f/0", "f/2"]
    edited.update({"f/1": numbered(3)["f/1"]})
    assert ids(edited.index(), "t:w1") == ["f/1"]


def test_a_document_written_again_as_it_was_is_found_once(edited: Edited) -> None:
    held = numbered(1)
    edited.update(held)
    place = edited.update(held)
    assert len(read_manifest(place).segments) == 1
    assert ids(edited.index(), "t:all") == ["f/0"]


def test_the_generation_before_stays_as_it_was(edited: Edited) -> None:
    edited.update({}, everything=numbered(9))
    before = edited.index()
    for number in range(9):
        edited.update({f"f/{number}": document(f"f/{number}", zones={"body_en": "t:other"})})
    assert len(ids(before, "t:all")) == 9
    assert ids(EmbeddedIndex(edited.places[0]), "t:all") == ids(before, "t:all")
    assert ids(edited.index(), "t:all") == []


def test_many_edits_leave_few_segments(edited: Edited) -> None:
    held = numbered(30)
    edited.update({}, everything=held)
    for number in range(40):
        changed = numbered(30, f"t:round{number}")[f"f/{number % 30}"]
        held[changed.id] = changed
        place = edited.update({changed.id: changed})
        names = read_manifest(place).segments
        assert len(names) <= MERGED_AT
        assert {path.stem for path in place.glob("*.seg")} == set(names)
    index = edited.index()
    assert len(index.collection) == 30
    assert [one.id for one in search(index, Query((word("t:round39"),)), ALL).ranked] == ["f/9"]


def test_an_index_of_which_nothing_is_left_finds_nothing_and_may_be_filled_again(edited: Edited) -> None:
    edited.update({}, everything=numbered(3))
    edited.update({}, ["f/0", "f/1", "f/2"])
    assert ids(edited.index(), "t:all") == []
    edited.update(numbered(2))
    assert ids(edited.index(), "t:all") == ["f/0", "f/1"]


@pytest.mark.parametrize("deletes_too_many", [False, True])
def test_where_the_index_before_cannot_be_read_everything_is_written_anew(
    edited: Edited, deletes_too_many: bool
) -> None:
    first = edited.update({}, everything=numbered(3))
    if deletes_too_many:
        manifest = read_manifest(first)
        write_manifest(first, replace(manifest, deleted={manifest.segments[0]: (3,)}))
    else:
        (first / "index.json").write_text("{}")
    edited.update({"f/1": document("f/1")}, everything=numbered(5))
    assert len(ids(edited.index(), "t:all")) == 5


@pytest.mark.parametrize(
    ("sizes", "merged"),
    [
        ([(5, 5)] * (MERGED_AT - 1), 0),
        ([(5, 5)] * MERGED_AT, MERGED_AT),
        ([(10_000, 10_000), *[(1, 1)] * MERGED_AT], MERGED_AT),
        ([(SMALL, SMALL)] * MERGED_AT + [(1, 1)], MERGED_AT),
        ([(SMALL, SMALL)] * 3 + [(SMALL * MERGED_AT, SMALL * MERGED_AT)] * 3, 0),
        ([(1000, 499), (1000, 501)], 1),
    ],
)
def test_segments_of_one_size_are_merged_when_there_are_enough(
    sizes: list[tuple[int, int]], merged: int
) -> None:
    live = {str(number): np.arange(documents) < kept for number, (documents, kept) in enumerate(sizes)}
    assert len(plan_merge(live)) == merged


@settings(max_examples=examples(30), deadline=None)
@given(documents())
def test_a_document_that_is_kept_is_read_as_it_was(held: list[Document]) -> None:
    for one in held:
        read = document_from(to_json(one), to_json(one.diagnosis_terms))
        assert to_json(read) == to_json(one)
        assert (read.id, read.keys, read.facets) == (one.id, one.keys, one.facets)
        assert list(read.texts) == list(one.texts)


@pytest.mark.parametrize("data", [b"", b"{}", to_json(Document("a", {}, (), (), {}))[:-4]])
def test_what_is_no_document_is_refused(data: bytes) -> None:
    with pytest.raises(RecordUnreadable):
        document_from(data, to_json({}))
