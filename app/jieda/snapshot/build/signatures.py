"""Which logs of a corpus match which signatures: for the checks, and to weigh each signature as evidence."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain

from jieda.content.check.findings import Matches, SignatureFinder, SignatureHolders
from jieda.content.read.corpus import Corpus, SampleFile
from jieda.content.read.state import ContentState
from jieda.diagnosis.facts import Events, SignatureCount, count_signatures, event_finder
from jieda.entry import Signature
from jieda.log.formats import compile_formats
from jieda.log_knowledge import Failures
from jieda.snapshot.build.files import BuildResources, LastValue, sample_text
from jieda.snapshot.store.facts import code_version, fact_key
from jieda.snapshot.store.records import from_json, to_json

Find = Callable[[str], Events]
"""Finds signatures in a log."""
Finder = Callable[[Iterable[Signature]], Find]
"""Makes a `Find` for some signatures; can be pickled."""
WORTH_HELP = 400
"""Logs that one process searches in the time that helpers take to start."""


class LogSearch:
    """Matches signatures against logs, also in another process, which then makes its own finder."""

    def __init__(self, finder: Finder, signatures: Sequence[Signature]) -> None:
        self._finder, self._signatures = finder, signatures

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle everything but `_find`."""
        return LogSearch, (self._finder, self._signatures)

    def __call__(self, log: SampleFile) -> tuple[str, Events]:
        """Return the hash of a log's content, and its matches. Raises ContentMoved, OSError."""
        return log.content, self._find(sample_text(log))

    @cached_property
    def _find(self) -> Find:
        return self._finder(self._signatures)


@dataclass(frozen=True, slots=True)
class KnownMatches:
    """Matches that are known. `found`: by the hash of a log's content, the index in `tried` of each signature that it
    matches, and whether the match is supported."""

    tried: tuple[Signature, ...]
    found: Mapping[str, tuple[tuple[int, bool], ...]]

    def of(self) -> dict[str, frozenset[Signature]]:
        return {
            content: frozenset(self.tried[place] for place, _ in events)
            for content, events in self.found.items()
        }

    def events(self, content: str) -> Events:
        """Return the signatures that one log matches, and whether each match is supported."""
        return frozenset((self.tried[place], supported) for place, supported in self.found.get(content, ()))


def match_logs(
    known: KnownMatches,
    corpus: Corpus,
    wanted: Iterable[Signature],
    finder: Finder,
    resources: BuildResources,
) -> KnownMatches:
    """Return the matches of a corpus; `known` itself if nothing changed. Raises ContentMoved, OSError."""
    signatures = tuple(dict.fromkeys(wanted))
    logs = {log.content: log for each in (*corpus.samples.values(), corpus.background) for log in each}
    if frozenset(signatures) == frozenset(known.tried) and logs.keys() == known.found.keys():
        return known
    places = {signature: place for place, signature in enumerate(signatures)}
    before = frozenset(known.tried)
    fresh = [signature for signature in signatures if signature not in before]

    def tried(some: Sequence[Signature], on: Sequence[SampleFile]) -> dict[str, Events]:
        return dict(resources.helpers.map(on, LogSearch(finder, some), WORTH_HELP, resources.pause))

    new = tried(signatures, [log for content, log in logs.items() if content not in known.found])
    more = tried(fresh, [log for content, log in logs.items() if content in known.found]) if fresh else {}
    nothing: Events = frozenset()
    found: dict[str, tuple[tuple[int, bool], ...]] = {}
    for content in logs:
        here = new[content] if content in new else known.events(content) | more.get(content, nothing)
        found[content] = tuple(
            sorted((places[signature], held) for signature, held in here if signature in places)
        )
    return KnownMatches(signatures, found)


class LogSignatures:
    """Matches signatures against logs; known logs only against new signatures. Not safe to share between threads."""

    def __init__(self, resources: BuildResources) -> None:
        self._resources = resources
        self._matches: LastValue[Matches] = LastValue()
        self._counts: LastValue[tuple[SignatureCount, ...]] = LastValue()

    def matches(self, state: ContentState, holders: SignatureHolders) -> Matches:
        """Return the signatures that match the plain text of each log."""
        corpus, wanted = state.corpus, tuple(holders.holders)
        return self._matches.of(
            lambda: self._match("matches", code_version(), corpus, wanted, find_in_text).of(),
            wanted,
            corpus.samples,
            corpus.background,
        )

    def counts(self, state: ContentState) -> tuple[SignatureCount, ...]:
        """Return how many logs match each signature, found as in a diagnosis."""
        corpus, failures = state.corpus, state.vocabulary.logs.failures
        holders = {entry_id: entry.head.signatures for entry_id, entry in state.entries.items()}
        return self._counts.of(
            lambda: self._count(corpus, holders, failures),
            holders,
            failures,
            corpus.samples,
            corpus.background,
        )

    def _count(
        self, corpus: Corpus, holders: Mapping[str, Sequence[Signature]], failures: Failures
    ) -> tuple[SignatureCount, ...]:
        version = fact_key("events", code_version(), to_json(failures)).hex()
        wanted = chain.from_iterable(holders.values())
        known = self._match("events", version, corpus, wanted, partial(find_as_diagnosis, failures))
        samples = (
            (entry_id, known.events(sample.content))
            for entry_id, each in corpus.samples.items()
            if entry_id in holders
            for sample in each
        )
        return count_signatures(holders, samples, (known.events(log.content) for log in corpus.background))

    def _match(
        self, name: str, version: str, corpus: Corpus, signatures: Iterable[Signature], finder: Finder
    ) -> KnownMatches:
        note = self._resources.facts.note(name, version)
        known = from_json(note, KnownMatches) if note else KnownMatches((), {})
        matches = match_logs(known, corpus, signatures, finder, self._resources)
        if matches is not known:
            self._resources.facts.put_note(name, version, to_json(matches))
        return matches


def find_in_text(signatures: Iterable[Signature]) -> Find:
    """Return a function that finds signatures in the plain text of a log."""
    finder = SignatureFinder(signatures)
    return lambda text: frozenset((signature, False) for signature in finder.find(text))


def find_as_diagnosis(failures: Failures, signatures: Iterable[Signature]) -> Find:
    """Return a function that finds signatures in a log as a diagnosis does."""
    return event_finder(signatures, compile_formats(failures))
