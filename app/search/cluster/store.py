"""The documents of an index that were needed lately: those that are not here are asked for, all in one request."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from app.search.cluster.ask import Body
from app.search.index.cache import ByteCache

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
