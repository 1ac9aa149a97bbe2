"""What logs would be answered if one entry were another: everything known of the others stays as it is."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from jieda.content.library import Library
from jieda.diagnosis.diagnose import Diagnoser
from jieda.diagnosis.facts import DiagnosisFacts, SignatureCount
from jieda.diagnosis.telling import NOBODY, Array, TellingWords
from jieda.entry import Signature


class WordsWith:
    """The words of entries with those of one entry replaced; `documents` of them tell a failure then."""

    def __init__(
        self, words: TellingWords, entry_id: str, counted: Mapping[str, int], documents: int
    ) -> None:
        self._words = words
        self._counted = counted
        self._number = bisect_left(words.ids, entry_id)
        self._is_new = entry_id not in words.ids[self._number : self._number + 1]
        self.ids: Sequence[str] = words.ids
        if self._is_new:
            self.ids = (*words.ids[: self._number], entry_id, *words.ids[self._number :])
        self.documents: int = documents

    def holders(self, word: str) -> tuple[Array, Array]:
        """As `TellingWords.holders`."""
        entries, counts = self._words.holders(word)
        if self._is_new:
            entries = entries + (entries >= self._number)
        else:
            kept = entries != self._number
            entries, counts = entries[kept], counts[kept]
        if not (count := self._counted.get(word, 0)):
            return (entries, counts) if len(entries) else NOBODY
        place = int(np.searchsorted(entries, self._number))
        return np.insert(entries, place, self._number), np.insert(counts, place, count)


def with_entry(
    diagnoser: Diagnoser,
    library: Library,
    entry_id: str,
    facts: DiagnosisFacts | None,
    counts: Sequence[SignatureCount],
) -> Diagnoser:
    """A diagnoser in which `facts` are those of an entry of `library`, and `counts` those of its signatures."""
    known = diagnoser.known
    signatures: dict[str, Sequence[Signature]] = {
        each: of for each, of in known.signatures.items() if each != entry_id
    }
    samples = {each: of for each, of in known.samples.items() if each != entry_id}
    if facts:
        signatures[entry_id], samples[entry_id] = facts.signatures, facts.samples
    documents = known.words.documents - (entry_id in known.samples) + (facts is not None)
    words = WordsWith(known.words, entry_id, facts.words if facts else {}, documents)
    changed = replace(
        known,
        signatures=signatures,
        samples=samples,
        words=words,
        anywhere=known.anywhere - {entry_id} | ({entry_id} if facts and facts.anywhere else frozenset()),
        counts=(*(each for each in known.counts if each.entry_id != entry_id), *counts),
    )
    return Diagnoser(library, changed, diagnoser.words)
