"""What every process knows of an index in the cluster without asking: written beside a generation, mapped into memory.

cluster.json holds the index's name, how many documents it has and the tags that occur; one array file holds terms with
the number of documents that have each, keys, and the words of the texts that tell a failure, which a diagnosis counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from app.cluster.ask import Body
from app.errors import IndexUnreadable
from app.search.index.array_file import (
    Array,
    Occurrences,
    Strings,
    Table,
    narrow,
    read_arrays,
    read_signed,
    string_arrays,
    table_arrays,
    write_arrays,
    write_signed,
)
from app.search.index.cache import ByteCache
from app.search.index.collection import Collection, EmbeddedTelling, FacetColumns
from app.taxonomy import FACETS

FILE = "cluster.json"


@dataclass(frozen=True, slots=True)
class ClusterManifest:
    """`index` by its name in the cluster; `facets`: the values of each that documents have, sorted; `lexicon`: the name
    of the array file."""

    index: str
    documents: int
    facets: Mapping[str, tuple[str, ...]]
    lexicon: str


def write_lexicon(directory: Path, collection: Collection, index: str, tag: str) -> ClusterManifest:
    """Writes what processes are to know of a collection that is kept as `index` in the cluster. `tag` is the facet
    whose documents a diagnosis looks at. Raises OSError."""
    terms, facets = _terms(collection), FacetColumns(collection)
    tagged = [collection.ids[number] for number in facets.carriers(tag).tolist()]
    arrays = {
        **string_arrays("terms", list(terms)),
        "terms.holders": narrow(np.array(list(terms.values()), dtype=np.int64)),
        **string_arrays("keys", _keys(collection)),
        **string_arrays("tagged", tagged),
        **_telling(collection),
    }
    everyone = np.ones(len(collection), dtype=np.bool_)
    manifest = ClusterManifest(
        index=index,
        documents=len(collection),
        facets={facet: tuple(facets.counts(facet, everyone)) for facet in FACETS},
        lexicon=write_arrays(directory, arrays),
    )
    write_signed(directory / FILE, asdict(manifest))
    return manifest


def read_cluster_manifest(directory: Path) -> ClusterManifest:
    """Raises IndexUnreadable where it is missing or not as it was written."""
    content = read_signed(directory / FILE)
    try:
        facets = {facet: tuple(values) for facet, values in content.pop("facets").items()}
        return ClusterManifest(facets=facets, **content)
    except (KeyError, TypeError, AttributeError) as error:
        raise IndexUnreadable(f"{directory}: {error}") from error


class ClusterLexicon:
    """Implements `protocol.Lexicon`, and tells a diagnosis its words."""

    def __init__(self, directory: Path, manifest: ClusterManifest) -> None:
        """Raises IndexUnreadable."""
        arrays = read_arrays(directory, manifest.lexicon)
        try:
            self._terms, self._keys = Strings(arrays, "terms"), Strings(arrays, "keys")
            self._holders = arrays["terms.holders"]
            self.tagged = Strings(arrays, "tagged")
            """Ids of the documents that a diagnosis looks at."""
            self.telling = ClusterTelling(arrays)
        except (KeyError, ValueError) as error:
            raise IndexUnreadable(f"{directory / manifest.lexicon}: {error}") from error

    def frequency(self, term: str) -> int:
        """How many documents hold an index term in any zone."""
        number = self._terms.find(term)
        return 0 if number is None else int(self._holders[number])

    def vocabulary(self, prefix: str) -> Sequence[str]:
        """All index terms that start with `prefix`, sorted."""
        return self._terms.slice(self._terms.prefixed(prefix))

    def has_key(self, key: str) -> bool:
        """Whether any document has a key."""
        return self._keys.find(key) is not None

    def are_neighbors(self, _first: str, _second: str) -> bool:
        """False: every pair of neighbors would have to lie beside each generation."""
        return False


class ClusterTelling:
    """The words of the texts that tell a failure. Documents are numbers in the order of `ids`."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.ids: Sequence[str] = Strings(arrays, "telling.ids")
        self.documents = len(self.ids)
        self._table = Table(arrays, "telling", 2)

    def holders(self, word: str) -> tuple[Array, Array]:
        """The documents that have a word, ascending, and in how many texts each has it."""
        rows = self._table.rows(word)
        if rows is None:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        documents, counts = self._table.columns
        return documents[rows].astype(np.int32), counts[rows].astype(np.int64)


def _terms(collection: Collection) -> dict[str, int]:
    found: dict[str, int] = {}
    for place, segment in enumerate(collection.segments):
        counts = segment.term_frequencies(collection.live(place)).tolist()
        for term, count in zip(segment.terms.strings.all(), counts, strict=True):
            if count:
                found[term] = found.get(term, 0) + count
    return dict(sorted(found.items()))


def _keys(collection: Collection) -> list[str]:
    found: set[str] = set()
    for place, segment in enumerate(collection.segments):
        table, live = segment.keys, collection.live(place)
        bounds = table.starts.tolist()
        for key, start, end in zip(table.strings.all(), bounds, bounds[1:], strict=False):
            if live[table.columns[0][start:end]].any():
                found.add(key)
    return sorted(found)


def _telling(collection: Collection) -> dict[str, Array]:
    known = EmbeddedTelling(collection)
    words = sorted({word for one in collection.segments for word in one.telling.strings.all()})
    held = [known.holders(word) for word in words]
    documents = np.concatenate([np.zeros(0, dtype=np.int64), *(numbers for numbers, _ in held)])
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *(each for _, each in held)])
    numbers = np.repeat(np.arange(len(words)), [len(each) for each, _ in held])
    present, places = np.unique(documents, return_inverse=True)
    return {
        **string_arrays("telling.ids", [collection.ids[int(number)] for number in present]),
        **table_arrays("telling", Occurrences(words, numbers, (places, counts))),
    }


Value = TypeVar("Value")

Ask = Callable[[Sequence[Body]], Sequence[Body]]
"""Asks the cluster for some searches at once. Raises ClusterUnavailable."""


class Kept(Generic[Value]):
    """One field of documents, decoded. Safe to share between threads."""

    def __init__(
        self, field: str, room: int, read: Callable[[str], Value], size: Callable[[Value], int]
    ) -> None:
        """`room` in bytes, as `size` tells them of a value."""
        self._field, self._read = field, read
        self._cache: ByteCache[str, Value] = ByteCache(room, size)

    def known(self, ids: Iterable[str]) -> dict[str, Value]:
        """Of some documents, those that are here."""
        found = ((one, self._cache.find(one)) for one in ids)
        return {one: value for one, value in found if value is not None}

    def asked(self, ids: Sequence[str]) -> Body:
        """A search for the field of some documents."""
        return {
            "query": {"bool": {"filter": {"terms": {"id": list(ids)}}}},
            "size": len(ids),
            "_source": False,
            "stored_fields": "_none_",
            "docvalue_fields": ["id", self._field],
            "track_total_hits": False,
        }

    def learn(self, answer: Body) -> Mapping[str, Value]:
        """What such a search found, kept from now on. Raises IndexUnreadable."""
        found = {}
        for hit in answer["hits"]["hits"]:
            fields = hit["fields"]
            found[fields["id"][0]] = self._read(fields[self._field][0])
        for one, value in found.items():
            self._cache.put(one, value)
        return found


def fetched(ask: Ask, *wanted: tuple[Kept[Any], Sequence[str]]) -> list[dict[str, Any]]:
    """Of each kind, what is wanted of some documents: at most one request for all. Raises ClusterUnavailable,
    IndexUnreadable."""
    found = [kept.known(ids) for kept, ids in wanted]
    missing = [
        [one for one in ids if one not in known] for (_, ids), known in zip(wanted, found, strict=True)
    ]
    bodies = [kept.asked(ids) for (kept, _), ids in zip(wanted, missing, strict=True) if ids]
    answers = iter(ask(bodies) if bodies else ())
    for (kept, _), ids, known in zip(wanted, missing, found, strict=True):
        if ids:
            known.update(kept.learn(next(answers)))
    return found
