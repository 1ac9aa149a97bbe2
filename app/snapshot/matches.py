"""Which signatures every log has, kept from build to build: new ones are tried on all, new logs by all.

It is done twice: over the plain text of a log, for what the checks say, and as a diagnosis reads a log, for how much
a signature proves.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.content.read.corpus import Corpus, SampleFile
from app.diagnosis.collect import Events
from app.entry import Signature
from app.snapshot.facts import FactStore
from app.snapshot.helpers import Helpers
from app.snapshot.records import RecordUnreadable, from_json, to_json
from app.snapshot.sources import sample_text

Find = Callable[[str], Events]
"""Finds signatures in a log."""
Finder = Callable[[Iterable[Signature]], Find]
"""Finds these; it can be pickled."""
WORTH_HELP = 400
"""Logs that are looked through before helpers would have started."""


class Trial:
    """Tries signatures on logs, in this process or another one, which makes its own finder."""

    def __init__(self, finder: Finder, signatures: Sequence[Signature]) -> None:
        self._finder, self._signatures = finder, signatures

    def __call__(self, log: SampleFile) -> tuple[str, Events]:
        """The hash of a log's content, and what it has. Raises ContentMoved, OSError."""
        return log.content, self._find(sample_text(log))

    @cached_property
    def _find(self) -> Find:
        return self._finder(self._signatures)


@dataclass(frozen=True, slots=True)
class KnownMatches:
    """`found`: of a log, by the hash of its content, the places in `tried` of the signatures it has, and whether they
    are supported. `version` is that of whatever finds them."""

    version: str
    tried: tuple[Signature, ...]
    found: Mapping[str, tuple[tuple[int, bool], ...]]

    def of(self) -> dict[str, frozenset[Signature]]:
        """The signatures themselves."""
        return {
            content: frozenset(self.tried[place] for place, _ in events)
            for content, events in self.found.items()
        }

    def events(self, content: str) -> Events:
        """The signatures of one log, with whether they are supported."""
        return frozenset((self.tried[place], supported) for place, supported in self.found.get(content, ()))


def load_matches(facts: FactStore, name: str, version: str) -> KnownMatches:
    """What was found last time by the same version."""
    data, nothing = facts.note(name), KnownMatches(version, (), {})
    try:
        known = from_json(data, KnownMatches) if data else nothing
    except RecordUnreadable:
        return nothing
    return known if known.version == version else nothing


def save_matches(facts: FactStore, name: str, known: KnownMatches) -> None:
    """Keeps what was found for the next time."""
    facts.put_note(name, to_json(known))


def match_logs(  # noqa: PLR0913, PLR0917 - what is known, what is new, and how to look
    known: KnownMatches,
    corpus: Corpus,
    wanted: Iterable[Signature],
    finder: Finder,
    helpers: Helpers,
    pause: Callable[[], None],
) -> KnownMatches:
    """The matches of a corpus, `known` itself where nothing is new. `pause` is called between logs. Raises
    ContentMoved, OSError."""
    signatures = tuple(dict.fromkeys(wanted))
    logs = {log.content: log for each in (*corpus.samples.values(), corpus.background) for log in each}
    if frozenset(signatures) == frozenset(known.tried) and logs.keys() == known.found.keys():
        return known
    places = {signature: place for place, signature in enumerate(signatures)}
    before = frozenset(known.tried)
    fresh = [signature for signature in signatures if signature not in before]

    def tried(some: Sequence[Signature], on: Sequence[SampleFile]) -> dict[str, Events]:
        return dict(helpers.map(on, Trial(finder, some), Trial(finder, some), WORTH_HELP, pause))

    new = tried(signatures, [log for content, log in logs.items() if content not in known.found])
    more = tried(fresh, [log for content, log in logs.items() if content in known.found]) if fresh else {}
    nothing: Events = frozenset()
    found: dict[str, tuple[tuple[int, bool], ...]] = {}
    for content in logs:
        here = new[content] if content in new else known.events(content) | more.get(content, nothing)
        found[content] = tuple(
            sorted((places[signature], held) for signature, held in here if signature in places)
        )
    return KnownMatches(known.version, signatures, found)
