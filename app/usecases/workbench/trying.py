"""What a log is taken for, and what searches find, as it is served and with a draft in place."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from app.analysis.normalize import within
from app.content.library import Library
from app.content.read.outline import LEFT_TO_WRITE
from app.diagnosis.answers import Confidence, Match
from app.diagnosis.collect import FactReader, count_signatures, event_finder
from app.diagnosis.diagnose import Diagnoser
from app.diagnosis.overlay import with_entry
from app.entry import Entry, Language, Summary
from app.search.answers import SearchRequest
from app.signature.grammar import literal_text
from app.snapshot.snapshot import Snapshot
from app.usecases.workbench.desk import Material
from app.usecases.workbench.draft import Draft

MOST_QUERIES = 24
LONGEST_QUERY = 300
"""Characters of a title or an alias that are searched for."""
MOST_HITS = 10
MOST_ALIKE = 4
SURE = (Confidence.EXACT, Confidence.LIKELY)


@dataclass(frozen=True, slots=True)
class Taken:
    """An entry that a log is taken for. `signature`: the one that says most, empty where words alone speak."""

    id: str
    title: str
    lang: Language
    confidence: Confidence
    signature: str


@dataclass(frozen=True, slots=True)
class Tried:
    """What a log is taken for, best first: as served, and with the draft in place."""

    before: tuple[Taken, ...]
    after: tuple[Taken, ...]


@dataclass(frozen=True, slots=True)
class QueryRank:
    """A query that an entry should win. `place` from 1, 0 where it is not among the first; `winner` is who wins
    instead, if anybody does. `weak`: nothing fits well."""

    field: str
    query: str
    lang: Language
    place: int
    winner: Summary | None
    weak: bool


def diagnoser_with(snapshot: Snapshot, material: Material, library: Library, draft: Draft) -> Diagnoser:
    """The diagnoser as it would be if a draft, which is an entry of `library` if it can be served, were in place."""
    entry, entry_id, sample = library.entry(draft.id), draft.id, draft.sample
    served = snapshot.diagnoser
    if entry is None:
        return with_entry(served, library, entry_id, None, ())
    samples = {
        other: material.loaded.corpus.samples[other] for other in sorted(material.loaded.corpus.samples)
    }
    texts = material.loaded.sample_texts
    own = [texts[log.path] for log in samples.get(entry_id, ())] + ([sample] if sample else [])
    facts = FactReader(served.words, material.formats).entry(entry, own)
    events = material.events(entry.signatures)
    logs = [(other, events[log.content]) for other, held in samples.items() for log in held]
    if sample:
        logs.append((entry_id, event_finder(entry.signatures, material.formats)(sample)))
    background = [events[log.content] for log in material.loaded.corpus.background]
    counts = count_signatures({entry_id: entry.signatures}, logs, background)
    return with_entry(served, library, entry_id, facts, counts)


def try_log(before: Diagnoser, after: Diagnoser, log: str, lang: Language) -> Tried:
    """What a log is taken for by two diagnosers."""
    return Tried(_taken(before, log, lang), _taken(after, log, lang))


def _taken(diagnoser: Diagnoser, log: str, lang: Language) -> tuple[Taken, ...]:
    return tuple(
        Taken(
            match.entry.id,
            match.edition.title,
            match.edition.lang,
            match.confidence,
            next((each.detail for each in match.evidence if each.kind == "signature"), ""),
        )
        for match in diagnoser.diagnose(log, lang).matches
    )


def rank(snapshot: Snapshot, entry: Entry, lang: Language) -> tuple[QueryRank, ...]:
    """How the queries that an entry should win are answered in what is served; the first of them are asked."""
    return tuple(
        _rank(snapshot, entry.id, field, query, lang)
        for field, query in islice(dict.fromkeys(_queries(entry)), MOST_QUERIES)
    )


def _queries(entry: Entry) -> Iterator[tuple[str, str]]:
    for field in ("title", "aliases", "symptoms"):
        for edition in entry.editions.values():
            said = getattr(edition, field)
            lines = (said,) if isinstance(said, str) else said
            written = (within(each, LONGEST_QUERY) for each in lines if not LEFT_TO_WRITE.search(each))
            yield from ((field, each) for each in written)


def _rank(snapshot: Snapshot, entry_id: str, field: str, query: str, lang: Language) -> QueryRank:
    answer = snapshot.searcher.search(SearchRequest(query, lang, limit=MOST_HITS))
    ids = [hit.entry.id for hit in answer.hits]
    place = ids.index(entry_id) + 1 if entry_id in ids else 0
    winner = snapshot.library.summary(ids[0]) if ids and place != 1 else None
    return QueryRank(field, query, lang, place, winner, answer.weak)


def alike(snapshot: Snapshot, entry: Entry, ranks: Iterable[QueryRank]) -> tuple[Summary, ...]:
    """Other entries that answer the same: that win its title or an alias with something that fits, or that are told
    by the same error text."""
    found = [each.winner for each in ranks if each.winner and not each.weak and each.field != "symptoms"]
    found += [
        snapshot.library.summary(match.entry.id)
        for line in entry.signature_lines[:MOST_QUERIES]
        for match in _explained(snapshot, literal_text(line))
        if match.entry.id != entry.id
    ]
    return tuple({each.id: each for each in found}.values())[:MOST_ALIKE]


def _explained(snapshot: Snapshot, text: str) -> Sequence[Match]:
    matches = snapshot.diagnoser.diagnose(text, Language.EN).matches
    return [match for match in matches if match.confidence in SURE]
