"""Which logs of a corpus match which signatures: for the checks, and to weigh each signature as evidence."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from jieda.content.check.findings import Matches, SignatureFinder, SignatureHolders
from jieda.content.read.corpus import Corpus, SampleFile
from jieda.content.read.state import ContentState
from jieda.diagnosis.facts import Events, SignatureCount, count_signatures, event_finder
from jieda.entry import Signature
from jieda.log.formats import compile_formats
from jieda.log_knowledge import Failures
from jieda.snapshot.build.files import BuildResources, sample_text
from jieda.snapshot.store.facts import code_version, fact_key
from jieda.snapshot.store.generation import from_json, to_json

WORTH_HELP = 400
"""Logs that one process searches in the time that helpers take to start."""

LogMatches = frozenset[tuple[Signature, bool | None]]
"""The signatures that match a log: with None if its plain text contains them, and if a diagnosis finds them, with
whether the match is supported."""


@dataclass(frozen=True, slots=True)
class KnownMatches:
    """The matches of all `tried` signatures, by the hash of a log's content."""

    tried: frozenset[Signature]
    found: Mapping[str, LogMatches]


class LogSearch:
    """Matches signatures against logs, also in another process, which then makes its own finders."""

    def __init__(self, signatures: frozenset[Signature], failures: Failures) -> None:
        self._signatures, self._failures = signatures, failures

    def __reduce__(self) -> tuple[object, ...]:
        return LogSearch, (self._signatures, self._failures)

    def __call__(self, log: SampleFile) -> tuple[str, LogMatches]:
        """Return the hash of a log's content, and its matches. Raises ContentMoved."""
        text = sample_text(log)
        in_text, as_diagnosis = self._finders
        return log.content, as_diagnosis(text) | {(signature, None) for signature in in_text(text)}

    @cached_property
    def _finders(self) -> tuple[Callable[[str], frozenset[Signature]], Callable[[str], Events]]:
        formats = compile_formats(self._failures)
        return SignatureFinder(self._signatures).find, event_finder(self._signatures, formats)


class LogSignatures:
    """Matches signatures against logs; known logs only against new signatures. Not safe to share between threads."""

    def __init__(self, resources: BuildResources) -> None:
        self._resources = resources
        self._inputs: tuple[object, ...] = ()
        self._found: tuple[Matches, tuple[SignatureCount, ...]] = ({}, ())

    def of(
        self, state: ContentState, holders: SignatureHolders
    ) -> tuple[Matches, tuple[SignatureCount, ...]]:
        """Return the signatures of `holders` that the plain text of each log contains, and how many logs match each
        signature of an entry, found as in a diagnosis. Raises ContentMoved."""
        corpus, failures = state.corpus, state.vocabulary.logs.failures
        checked = frozenset(holders.holders)
        served = {entry_id: entry.summary.signatures for entry_id, entry in state.entries.items()}
        inputs = checked, served, failures, corpus.samples, corpus.background
        if inputs != self._inputs:
            found = self._match(corpus, checked.union(*served.values()), failures)
            in_text = {
                content: frozenset(each for each, how in matches if how is None and each in checked)
                for content, matches in found.items()
            }
            self._inputs, self._found = inputs, (in_text, _count(corpus, served, found))
        return self._found

    def _match(
        self, corpus: Corpus, wanted: frozenset[Signature], failures: Failures
    ) -> Mapping[str, LogMatches]:
        version = fact_key("matches", code_version(), to_json(failures)).hex()
        note = self._resources.facts.note("matches", version)
        known = from_json(note, KnownMatches) if note else KnownMatches(frozenset(), {})
        logs = {log.content: log for log in chain(*corpus.samples.values(), corpus.background)}
        if wanted == known.tried and logs.keys() == known.found.keys():
            return known.found
        found: dict[str, LogMatches] = {}
        unseen = [log for content, log in logs.items() if content not in known.found]
        seen = [log for content, log in logs.items() if content in known.found]
        for signatures, some in (wanted, unseen), (wanted - known.tried, seen):
            if signatures:
                search = LogSearch(signatures, failures)
                found |= self._resources.helpers.map(some, search, WORTH_HELP, self._resources.pause)
        for content in logs:
            kept = (match for match in known.found.get(content, ()) if match[0] in wanted)
            found[content] = found.get(content, frozenset()).union(kept)
        self._resources.facts.put_note("matches", version, to_json(KnownMatches(wanted, found)))
        return found


def _count(
    corpus: Corpus, served: Mapping[str, Sequence[Signature]], found: Mapping[str, LogMatches]
) -> tuple[SignatureCount, ...]:
    def events(log: SampleFile) -> Events:
        return frozenset((signature, how) for signature, how in found[log.content] if how is not None)

    samples = (
        (entry_id, events(log))
        for entry_id, logs in corpus.samples.items()
        if entry_id in served
        for log in logs
    )
    return count_signatures(served, samples, map(events, corpus.background))
