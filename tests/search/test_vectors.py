"""What vectors' signs leave out of sight is nothing that a comparison of all vectors would have put first."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from jieda.search.index.array_file import Array
from jieda.search.index.document import ZONES, Document
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.vectors import CENTROIDS
from jieda.search.index.writer import update_index
from jieda.search.meaning.embedder import STEPS, EntryVectors, Vectors
from jieda.search.weights import CENTROID_WEIGHT

DOCUMENTS = 2 * CENTROIDS
"""So many that not all are looked at."""
TITLES = 1
"""Of what each says."""
MUTE = 5
"""This one has no vectors."""


def unit(drawn: Array) -> Vectors:
    """The same with length 1."""
    made: Vectors = (drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)).astype(np.float32)
    return made


def made(width: int) -> tuple[Mapping[str, Document], Mapping[str, Vectors]]:
    """Documents, and the vectors of what they say: about a dozen each, around something that it is all about."""
    chance = np.random.default_rng(7)
    said = {
        f"a/{number:03}": unit(chance.normal(size=width) + chance.normal(size=(1 + number % 23, width)))
        for number in range(DOCUMENTS)
        if number != MUTE
    }
    meanings = {
        name: EntryVectors.of(vectors, central=len(vectors), titles=TITLES) for name, vectors in said.items()
    }
    ids = [f"a/{number:03}" for number in range(DOCUMENTS)]
    zones: Mapping[str, Mapping[str, int]] = {zone: {} for zone in ZONES}
    return {name: Document(name, zones, (), (), {}, meaning=meanings.get(name)) for name in ids}, said


@pytest.mark.parametrize("width", [512, 100])
def test_the_closest_document_is_found_among_many_in_any_segments(tmp_path: Path, width: int) -> None:
    documents, said = made(width)
    folders = [tmp_path / name for name in ("whole", "half", "both")]
    for folder in folders:
        folder.mkdir()
    whole, half, both = folders
    update_index(whole, None, documents, (), ())
    first = {name: one for name, one in documents.items() if name < "a/400"}
    update_index(half, None, first, (), ())
    update_index(both, half, documents, [name for name in documents if name >= "a/350"], ())
    one, two = (EmbeddedIndex(folder) for folder in (whole, both))
    assert len(two.collection.segments) > 1
    chance = np.random.default_rng(8)
    words = np.zeros(DOCUMENTS)
    for name, vectors in list(said.items())[::9]:
        asked = unit(vectors[-1] + 0.5 * unit(chance.normal(size=width)))
        text, titled = one.vectors.similarity(asked, words)
        number = int(name[2:])
        assert text.argmax() == number
        meaning = documents[name].meaning
        assert meaning
        mean, *chunks = meaning.vectors().astype(np.float32) @ asked / STEPS
        assert text[number] == pytest.approx(max(chunks) + CENTROID_WEIGHT * mean)
        assert titled[number] == pytest.approx(max(chunks[:TITLES]))
        again = two.vectors.similarity(asked, words)
        assert text == pytest.approx(again.text)
        assert titled == pytest.approx(again.title)


def test_documents_that_words_found_are_looked_at_however_little_they_are_alike(tmp_path: Path) -> None:
    documents, said = made(512)
    update_index(tmp_path, None, documents, (), ())
    index = EmbeddedIndex(tmp_path)
    asked = said["a/150"][0]
    far = int(np.argmin([(said.get(name, asked[np.newaxis]) @ asked).max() for name in documents]))
    words = np.zeros(DOCUMENTS)
    assert not index.vectors.similarity(asked, words).text[far]
    words[[far, MUTE]] = 1
    likeness = index.vectors.similarity(asked, words).text
    assert likeness[far]
    assert not likeness[MUTE]


def test_a_question_of_another_embedder_is_like_nothing(tmp_path: Path) -> None:
    documents, _ = made(100)
    update_index(tmp_path, None, documents, (), ())
    index = EmbeddedIndex(tmp_path)
    assert not index.vectors.similarity(unit(np.ones(512)), np.ones(DOCUMENTS)).text.any()
