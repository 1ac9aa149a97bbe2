"""What the logs of a corpus have of its signatures: for the checks, and for how much each of them proves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain

from app.content.check.samples import Matches, SignatureFinder, Spoken
from app.diagnosis.collect import count_signatures, event_finder
from app.diagnosis.facts import SignatureCount
from app.entry import Signature
from app.log.formats import compile_formats
from app.log_knowledge import Failures
from app.snapshot.facts import FactStore, fact_key
from app.snapshot.helpers import Helpers
from app.snapshot.last import Last
from app.snapshot.matches import Find, Finder, KnownMatches, load_matches, match_logs, save_matches
from app.snapshot.records import to_json
from app.snapshot.state import State
from app.snapshot.versions import code_version


class LogSignatures:
    """Tries signatures on logs, only new ones on known logs. Not safe to share between threads."""

    def __init__(self, facts: FactStore, helpers: Helpers, pause: Callable[[], None]) -> None:
        self._facts = facts
        self._helpers = helpers
        self._pause = pause
        self._known: dict[str, KnownMatches] = {}
        self._matches: Last[Matches] = Last()
        self._counts: Last[tuple[SignatureCount, ...]] = Last()

    def matches(self, state: State, spoken: Spoken) -> Matches:
        """By the plain text of the logs."""
        wanted = tuple(spoken.holders)
        return self._matches.of(
            lambda: self._match("matches", code_version(), state, wanted, _plainly).of(),
            wanted,
            state.corpus.samples,
            state.corpus.background,
        )

    def counts(self, state: State) -> tuple[SignatureCount, ...]:
        """How many logs have each signature, as a diagnosis finds them."""
        holders = {entry_id: entry.head.signatures for entry_id, entry in state.entries.items()}
        failures = state.vocabulary.logs.failures
        return self._counts.of(
            lambda: self._counted(state, holders, failures),
            holders,
            failures,
            state.corpus.samples,
            state.corpus.background,
        )

    def _counted(
        self, state: State, holders: Mapping[str, Sequence[Signature]], failures: Failures
    ) -> tuple[SignatureCount, ...]:
        version = fact_key("events", code_version(), to_json(failures).decode()).hex()
        known = self._match(
            "events",
            version,
            state,
            chain.from_iterable(holders.values()),
            partial(_as_read, failures),
        )
        samples = (
            (entry_id, known.events(sample.content))
            for entry_id, each in state.corpus.samples.items()
            if entry_id in holders
            for sample in each
        )
        return count_signatures(
            holders, samples, (known.events(log.content) for log in state.corpus.background)
        )

    def _match(
        self, name: str, version: str, state: State, signatures: Iterable[Signature], finder: Finder
    ) -> KnownMatches:
        known = self._known.get(name)
        if known is None or known.version != version:
            known = load_matches(self._facts, name, version)
        matches = match_logs(known, state.corpus, signatures, finder, self._helpers, self._pause)
        if matches is not known:
            save_matches(self._facts, name, matches)
        self._known[name] = matches
        return matches


def _plainly(signatures: Iterable[Signature]) -> Find:
    """Finds signatures in the plain text of a log."""
    finder = SignatureFinder(signatures)
    return lambda text: frozenset((signature, False) for signature in finder.find(text))


def _as_read(failures: Failures, signatures: Iterable[Signature]) -> Find:
    """Finds signatures in a log as a diagnosis does."""
    return event_finder(signatures, compile_formats(failures))
