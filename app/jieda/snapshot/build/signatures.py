"""Which logs of a corpus match which signatures, for the checks and for the weight of each signature as evidence."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain

from jieda.content.check.findings import Matches, SignatureHolders
from jieda.content.read.corpus import Corpus, SampleFile
from jieda.content.read.state import ContentState
from jieda.diagnosis.signatures import (
    FoundSignatures,
    SignatureCount,
    count_signatures,
    signature_finder,
    signatures_of,
)
from jieda.entry import Signature
from jieda.log.formats import compile_formats
from jieda.log_knowledge import Failures
from jieda.snapshot.build.files import BuildResources, sample_text
from jieda.snapshot.store.facts import code_version, fact_key
from jieda.snapshot.store.generation import from_json, to_json

WORTH_HELP = 400
"""Logs that one process searches while helpers start."""


class LogSearch:
    """Finds signatures in logs, also in another process, where it creates its own finder."""

    def __init__(self, signatures: frozenset[Signature], failures: Failures) -> None:
        self._signatures, self._failures = signatures, failures

    def __reduce__(self) -> tuple[object, ...]:
        return LogSearch, (self._signatures, self._failures)

    def __call__(self, log: SampleFile) -> tuple[str, FoundSignatures]:
        """Return the hash of a log's content and the signatures found in it. Raises ContentMoved."""
        return log.content, self._find(sample_text(log))

    @cached_property
    def _find(self) -> Callable[[str], FoundSignatures]:
        return signature_finder(self._signatures, compile_formats(self._failures))


class LogSignatures:
    """Matches signatures against logs, but known logs only against new signatures. Not thread-safe."""

    def __init__(self, resources: BuildResources) -> None:
        self._resources = resources
        self._inputs: tuple[object, ...] = ()
        self._result: tuple[Matches, tuple[SignatureCount, ...]] = ({}, ())

    def of(
        self, state: ContentState, holders: SignatureHolders
    ) -> tuple[Matches, tuple[SignatureCount, ...]]:
        """Return the signatures of `holders` in each log, and the number of logs with each signature of an entry.
        Raises ContentMoved."""
        corpus, failures = state.corpus, state.vocabulary.logs.failures
        served = {entry_id: entry.summary.signatures for entry_id, entry in state.entries.items()}
        signatures = frozenset(holders.files).union(*served.values())
        inputs = signatures, served, failures, corpus.samples, corpus.background
        if inputs != self._inputs:
            found = self._match(corpus, signatures, failures)
            matches = {content: signatures_of(events) for content, events in found.items()}
            self._inputs, self._result = inputs, (matches, _count(corpus, served, found))
        return self._result

    def _match(
        self, corpus: Corpus, signatures: frozenset[Signature], failures: Failures
    ) -> Mapping[str, FoundSignatures]:
        version = fact_key("matches", code_version(), to_json(failures)).hex()
        tried, known = frozenset[Signature](), dict[str, FoundSignatures]()
        if note := self._resources.facts.note("matches", version):
            tried, known = from_json(note, tuple[frozenset[Signature], dict[str, FoundSignatures]])
        logs = {log.content: log for log in chain(*corpus.samples.values(), corpus.background)}
        if signatures == tried and logs.keys() == known.keys():
            return known
        found: dict[str, FoundSignatures] = {}
        unseen = [log for content, log in logs.items() if content not in known]
        seen = [log for content, log in logs.items() if content in known]
        for untried, group in (signatures, unseen), (signatures - tried, seen):
            if untried:
                search = LogSearch(untried, failures)
                found |= self._resources.helpers.map(group, search, WORTH_HELP, self._resources.pause)
        for content in logs:
            valid = (match for match in known.get(content, ()) if match[0] in signatures)
            found[content] = found.get(content, frozenset()).union(valid)
        self._resources.facts.put_note("matches", version, to_json((signatures, found)))
        return found


def _count(
    corpus: Corpus, served: Mapping[str, Sequence[Signature]], found: Mapping[str, FoundSignatures]
) -> tuple[SignatureCount, ...]:
    samples = (
        (entry_id, found[log.content])
        for entry_id, logs in corpus.samples.items()
        if entry_id in served
        for log in logs
    )
    return count_signatures(served, samples, (found[log.content] for log in corpus.background))
