"""Answers that are kept for whoever asks the same again, as long as what they were made of is served."""

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from weakref import ref

from app.content.library import Library
from app.diagnosis.answers import Match
from app.entry import Entry, Language
from app.search.answers import Hit, Reason, SearchAnswer
from app.snapshot.snapshot import Snapshot

MOST_KEPT = 10_000
"""Answers, however small they are."""
ANSWER_SIZE, HIT_SIZE, REASON_SIZE = 2000, 800, 150
"""Bytes that an answer takes beside its texts, about."""
OF_SOURCE = 6
"""What is made of an entry takes this many times its source."""


class Repeated:
    """Keeps what was answered from one snapshot, the least lately used first to go. Belongs to one event loop.

    Not from one generation: where its files were damaged it is read again, and what it answered may have been wrong.

    What is kept is shared by all who ask, so it must be immutable.
    """

    def __init__(self, room: int, most: int = MOST_KEPT) -> None:
        """`room` in bytes; 0: nothing is kept."""
        self.room = room
        self._most = most
        self._of: ref[Snapshot] | None = None
        self._used = 0
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, snapshot: Snapshot, key: Hashable) -> Any:
        """What was kept for a key; None where nothing is. `snapshot` is the one that is served: what was answered
        from another goes."""
        if not self._is_of(snapshot):
            self._of, self._used = ref(snapshot), 0
            self._kept.clear()
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, snapshot: Snapshot, key: Hashable, value: Any, size: int) -> None:
        """Keeps an answer of some bytes, unless it is of a snapshot that is served no more, or larger than all the
        room."""
        if not self._is_of(snapshot) or size > self.room or key in self._kept:
            return
        self._kept[key] = value, size
        self._used += size
        while self._used > self.room or len(self._kept) > self._most:
            _, (_, freed) = self._kept.popitem(last=False)
            self._used -= freed

    def _is_of(self, snapshot: Snapshot) -> bool:
        return self._of is not None and self._of() is snapshot


@dataclass(frozen=True, slots=True)
class KeptHit:
    """A hit without its entry, which the library reads again where it has let it go."""

    id: str
    lang: Language
    score: float
    reasons: tuple[Reason, ...]
    elsewhere: frozenset[str]
    title: str
    snippet: str

    @classmethod
    def of(cls, hit: Hit) -> "KeptHit":
        """What is kept of a hit."""
        return cls(
            id=hit.entry.id,
            lang=hit.edition.lang,
            score=hit.score,
            reasons=hit.reasons,
            elsewhere=hit.elsewhere,
            title=hit.title,
            snippet=hit.snippet,
        )

    def restored(self, library: Library) -> Hit:
        """The hit, as it was."""
        entry = library.entries[self.id]
        return Hit(
            entry=entry,
            edition=entry.editions[self.lang],
            score=self.score,
            reasons=self.reasons,
            elsewhere=self.elsewhere,
            title=self.title,
            snippet=self.snippet,
        )

    @property
    def size(self) -> int:
        """Bytes, about."""
        return HIT_SIZE + REASON_SIZE * len(self.reasons) + 2 * (len(self.title) + len(self.snippet))


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What is kept of an answer to a search: all but the entries of its hits, which a library of thousands could not
    keep in memory."""

    answer: SearchAnswer
    hits: tuple[KeptHit, ...]
    diagnosis: tuple[Match, ...]

    @classmethod
    def of(cls, answer: SearchAnswer, diagnosis: Iterable[Match]) -> "KeptAnswer":
        """What is kept, none of which anybody can change."""
        return cls(
            replace(answer, hits=(), facets=MappingProxyType(dict(answer.facets))),
            tuple(map(KeptHit.of, answer.hits)),
            tuple(replace(each, telling=MappingProxyType(dict(each.telling))) for each in diagnosis),
        )

    def restored(self, library: Library) -> SearchAnswer:
        """The answer, as it was."""
        return replace(self.answer, hits=tuple(hit.restored(library) for hit in self.hits))

    @property
    def size(self) -> int:
        """Bytes, about."""
        near = [each.entry for each in self.answer.suggestions if each.entry]
        entries = [*near, *(match.entry for match in self.diagnosis)]
        text = 4 * len(self.answer.query)
        return ANSWER_SIZE + text + sum(hit.size for hit in self.hits) + sum(map(_size_of_entry, entries))


def _size_of_entry(entry: Entry) -> int:
    return OF_SOURCE * sum(len(edition.raw) for edition in entry.editions.values())
