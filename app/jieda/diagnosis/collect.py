"""Extracts the facts for diagnosis from entries and logs: they depend on the text, the words and the log knowledge."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from jieda.diagnosis.signatures import SignatureIndex
from jieda.diagnosis.words import (
    BackgroundFacts,
    CountedWords,
    DiagnosisFacts,
    SignatureCount,
    Word,
    WordReader,
)
from jieda.entry import Entry, Signature
from jieda.log.formats import Formats, without_values
from jieda.log.traceback import parse, shown_by
from jieda.log_knowledge import Background
from jieda.signature import literal_text

Events = frozenset[tuple[Signature, bool]]
"""Signatures that a log has, each with whether one of its `any` lines supports it."""


@dataclass(frozen=True, slots=True)
class FactReader:
    """Reads facts. Safe to share between threads."""

    words: WordReader
    formats: Formats

    def entry(self, entry: Entry, samples: Sequence[str]) -> DiagnosisFacts | None:
        """Return the facts of an entry and the texts of its samples; None if it cannot explain any log."""
        if not tells_failure(entry):
            return None
        shown = (
            passage.text
            for log in samples
            for passage in shown_by(parse(log, self.formats), self.formats).passages
        )
        words = _count(map(self.words.read, chain(_texts(entry), shown)))
        return DiagnosisFacts(entry.id, entry.signatures, words, len(samples), entry.applies_anywhere)

    def background(self, log: Background) -> BackgroundFacts:
        """Return the facts of a log that no entry explains."""
        text = "\n".join(parse(log.text, self.formats).texts)
        words = self.words.read(without_values(text))
        return BackgroundFacts(log.name, tuple(sorted({*chain.from_iterable(words)})))


def tells_failure(entry: Entry) -> bool:
    """Whether an entry has signatures or symptoms, so that it can explain a log."""
    return bool(entry.signatures) or any(edition.symptoms for edition in entry.editions.values())


def event_finder(signatures: Iterable[Signature], formats: Formats) -> Callable[[str], Events]:
    """Return a function that finds `signatures` in a log as a diagnosis does."""
    wanted = tuple(dict.fromkeys(signatures))
    index = SignatureIndex([("", wanted)])

    def find(text: str) -> Events:
        hits = index.find(parse(text, formats), pasted=False)
        return frozenset((wanted[hit.place], bool(hit.support)) for hit in hits)

    return find


def count_signatures(
    holders: Mapping[str, Sequence[Signature]],
    samples: Iterable[tuple[str, Events]],
    background: Iterable[Events],
) -> tuple[SignatureCount, ...]:
    """Count the logs that have each signature of `holders`, by entry; `samples`: pairs of an entry and the signatures
    in its log."""
    total: Counter[tuple[Signature, bool]] = Counter()
    behind: Counter[tuple[Signature, bool]] = Counter()
    own: Counter[tuple[str, tuple[Signature, bool]]] = Counter()
    for entry_id, events in samples:
        for event in _each_also_alone(events):
            total[event] += 1
            own[entry_id, event] += 1
    for events in background:
        behind.update(_each_also_alone(events))
    found = (
        (entry_id, place, (signature, supported))
        for entry_id, signatures in sorted(holders.items())
        for place, signature in enumerate(signatures)
        for supported in (False, True)
    )
    return tuple(
        SignatureCount(id_, place, event[1], own[id_, event], total[event] - own[id_, event], behind[event])
        for id_, place, event in found
        if event in total or event in behind
    )


def background_words(logs: Iterable[BackgroundFacts]) -> CountedWords:
    """Return the words of the background logs."""
    return CountedWords({log.name: dict.fromkeys(log.words, 1) for log in logs})


def _each_also_alone(events: Events) -> Events:
    """Count a signature that was found with support as found without it, too."""
    return events | {(signature, False) for signature, _ in events}


def _count(texts: Iterable[Sequence[Word]]) -> Mapping[str, int]:
    """Count the texts that have each term, in the order of terms, so that equal input gives equal facts."""
    counts = Counter(chain.from_iterable(frozenset[str]().union(*words) for words in texts))
    return dict(sorted(counts.items()))


def _texts(entry: Entry) -> Iterator[str]:
    """Yield the texts in which an entry describes its failure."""
    yield from map(literal_text, entry.signature_lines)
    for edition in entry.editions.values():
        yield from (edition.title, *edition.aliases, *edition.symptoms)
        if section := edition.section("symptom"):
            yield from filter(str.strip, section.text.splitlines())
