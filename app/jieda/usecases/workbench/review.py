"""Reviews a draft: checks it, renders it as it would be served, tries it on a log, and ranks it for its own queries."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.words import within
from jieda.content.check.findings import SignatureHolders
from jieda.content.check.rules import check_between
from jieda.content.library import Library
from jieda.content.read.corpus import PLACEHOLDER
from jieda.content.read.gather import sort_problems
from jieda.content.read.load import Loaded
from jieda.content.read.state import ContentState
from jieda.diagnosis.answers import Confidence, Match
from jieda.diagnosis.diagnose import Diagnoser
from jieda.diagnosis.signatures import SignatureCount, count_signatures, signature_finder
from jieda.diagnosis.words import TermCounter, WordsWith
from jieda.entry import Edition, Entry, Language, Problem, Summary
from jieda.search.answers import SearchRequest
from jieda.signature import literal_text
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.diagnose import turn
from jieda.usecases.entries import ReadEntry
from jieda.usecases.judge import judge, search_and_judge
from jieda.usecases.secrets import masked
from jieda.usecases.service import Service
from jieda.usecases.workbench.desk import Desk, Draft, LoadedContent, where_of


@dataclass(frozen=True, slots=True)
class Checked:
    """Problems by file and line. `own`: those of each edition; `others`: those of samples, of the entry as a whole, and
    of other files that the draft would break."""

    own: dict[Language, tuple[Problem, ...]]
    others: tuple[Problem, ...]

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (*(each for found in self.own.values() for each in found), *self.others)

    @property
    def unserved(self) -> tuple[Problem, ...]:
        """Problems that keep an edition from being served."""
        return tuple(each for each in self.problems if not each.served)


def check(material: LoadedContent, edited: Loaded, draft: Draft) -> Checked:
    """Check a draft. `edited` is the content with the draft in place."""
    files = draft.files().keys()
    problems = (*edited.problems, *_check_between(material, edited, draft))
    found = [*(each for each in problems if each.path in files), *edited.state.checks.get(draft.id, ())]
    broken = _broken_elsewhere(material.loaded.state, edited.state, draft.id)
    places = {lang: where_of(draft.id, lang) for lang in Language}
    own = {lang: sort_problems(p for p in found if p.path == place) for lang, place in places.items()}
    others = (each for each in found if each.path not in places.values())
    return Checked(own, sort_problems((*others, *broken)))


def _check_between(material: LoadedContent, edited: Loaded, draft: Draft) -> Iterable[Problem]:
    corpus = edited.corpus
    files = corpus.by_id.get(draft.id, {}).values()
    signatures = [signature for file in files for signature in file.front.signatures]
    more = {
        sample.content: edited.log_texts[sample.content]
        for sample in corpus.samples.get(draft.id, ())
        if sample.where == draft.sample_place
    }
    matches = material.matches(signatures, more)
    return check_between(corpus, SignatureHolders.of(corpus), matches)


def _broken_elsewhere(before: ContentState, after: ContentState, entry_id: str) -> Iterator[Problem]:
    for other, found in after.checks.items():
        if other != entry_id:
            yield from set(found) - set(before.checks.get(other, ()))


MOST_QUERIES = 24
LONGEST_QUERY = 300
"""Maximum length of a query, in characters."""
MOST_HITS = 10
MOST_ALIKE = 4


@dataclass(frozen=True, slots=True)
class Tried:
    """Matches of a log, best first: `before`, as served, and `after`, with the draft in place."""

    before: tuple[Match, ...]
    after: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class QueryRank:
    """Rank of an entry for a query that should find it first. `place`: from 1, or 0 if it is not among the first hits;
    `winner`: the entry that ranks first instead, if any; `weak`: no hit fits well."""

    field: str
    query: str
    lang: Language
    place: int
    winner: Summary | None
    weak: bool


def with_entry(
    diagnoser: Diagnoser,
    library: Library,
    entry_id: str,
    samples: Sequence[str],
    counts: Sequence[SignatureCount],
) -> Diagnoser:
    """Return a diagnoser that knows one entry as `library` has it, if at all, with its `samples` and signature
    `counts`."""
    known, entry = diagnoser.known, library.entries.get(entry_id)
    signatures = {each: of for each, of in known.signatures.items() if each != entry_id}
    logs = {each: of for each, of in known.samples.items() if each != entry_id}
    counted: dict[str, int] = {}
    if entry:
        signatures[entry_id], logs[entry_id] = entry.signatures, len(samples)
        counted = TermCounter(diagnoser.words, diagnoser.formats).count_in_entry(entry, samples)
    applies_anywhere = {entry_id} if entry and entry.applies_anywhere else set[str]()
    changed = replace(
        known,
        signatures=signatures,
        samples=logs,
        words=WordsWith(known.words, entry_id, counted),
        anywhere=known.anywhere - {entry_id} | applies_anywhere,
        counts=(*(each for each in known.counts if each.entry_id != entry_id), *counts),
    )
    return Diagnoser(library, changed, diagnoser.words)


def diagnoser_with(snapshot: Snapshot, material: LoadedContent, library: Library, draft: Draft) -> Diagnoser:
    """Return the diagnoser with a draft in place; `library` has the draft as an entry if it can be served."""
    entry, entry_id, sample = library.entries.get(draft.id), draft.id, draft.sample
    served = snapshot.diagnoser
    if entry is None:
        return with_entry(served, library, entry_id, (), ())
    samples = material.loaded.corpus.samples
    texts = material.loaded.log_texts
    own = [texts[log.content] for log in samples.get(entry_id, ())] + ([sample] if sample else [])
    events = material.events(entry.signatures)
    logs = [(other, events[log.content]) for other, held in samples.items() for log in held]
    if sample:
        logs.append((entry_id, signature_finder(entry.signatures, material.formats)(sample)))
    background = [events[log.content] for log in material.loaded.corpus.background]
    counts = count_signatures({entry_id: entry.signatures}, logs, background)
    return with_entry(served, library, entry_id, own, counts)


def rank(snapshot: Snapshot, entry: Entry, lang: Language) -> tuple[QueryRank, ...]:
    """Rank an entry in the served snapshot for its title, aliases and symptoms, up to MOST_QUERIES of them."""
    return tuple(
        _rank(snapshot, entry.id, field, query, lang)
        for field, query in islice(dict.fromkeys(_queries(entry)), MOST_QUERIES)
    )


def _queries(entry: Entry) -> Iterator[tuple[str, str]]:
    for field in ("title", "aliases", "symptoms"):
        for edition in entry.editions.values():
            said = getattr(edition, field)
            lines = (said,) if isinstance(said, str) else said
            written = (within(each, LONGEST_QUERY) for each in lines if not PLACEHOLDER.search(each))
            yield from ((field, each) for each in written)


def _rank(snapshot: Snapshot, entry_id: str, field: str, query: str, lang: Language) -> QueryRank:
    found, answer = search_and_judge(snapshot, SearchRequest(query, lang, limit=MOST_HITS))
    explaining = [match.entry.id for match in found.matches]
    ids = list(dict.fromkeys((*explaining, *(hit.entry.id for hit in answer.hits))))
    place = ids.index(entry_id) + 1 if entry_id in ids else 0
    winner = snapshot.library.summary(ids[0]) if ids and place != 1 else None
    return QueryRank(field, query, lang, place, winner, answer.weak)


def alike(snapshot: Snapshot, entry: Entry, ranks: Iterable[QueryRank]) -> tuple[Summary, ...]:
    """Return other entries that answer the same question: those that rank first, and not weakly, for its title or an
    alias, or that explain the same error text."""
    found = [each.winner for each in ranks if each.winner and not each.weak and each.field != "symptoms"]
    found += [
        snapshot.library.summary(match.entry.id)
        for line in entry.signature_lines[:MOST_QUERIES]
        for match in judge(snapshot, SearchRequest(literal_text(line))).matches
        if match.entry.id != entry.id and match.confidence is not Confidence.POSSIBLE
    ]
    return tuple({each.id: each for each in found}.values())[:MOST_ALIKE]


MOST_WORDINGS = 20
"""Maximum of wordings offered per edition."""


def wordings(edition: Edition, glossary: Glossary, analyzer: Analyzer) -> tuple[str, ...]:
    """Return other wordings of an edition's title, by its glossary words, that are not yet aliases."""
    had = {analyzer.key(text) for text in (edition.title, *edition.aliases)}
    found = dict.fromkeys(_swapped(edition.title, edition.lang, glossary, analyzer))
    return tuple(each for each in found if analyzer.key(each) not in had)[:MOST_WORDINGS]


def _swapped(title: str, lang: Language, glossary: Glossary, analyzer: Analyzer) -> Iterator[str]:
    analysis = analyzer.analyze(title)
    spans = analysis.spans
    for mention in glossary.mentions(analysis):
        group = glossary.groups[mention.group]
        start, end = spans[mention.first][0], spans[mention.last][1]
        for word in group.en if lang is Language.EN else group.zh:
            yield f"{title[:start]}{word}{title[end:]}"


@dataclass(frozen=True, slots=True)
class Review:
    """Review of a draft. `read`: the entry as it would be served, None if it cannot be; `tried`: None without a log;
    `wordings`: suggested aliases; `languages`: those of the content without the draft."""

    checked: Checked
    read: ReadEntry | None
    tried: Tried | None
    ranks: tuple[QueryRank, ...]
    alike: tuple[Summary, ...]
    wordings: Mapping[Language, tuple[str, ...]]
    languages: tuple[Language, ...]


async def review(service: Service, desk: Desk, draft: Draft, log: str, lang: Language) -> Review:
    """Review a draft, which must have an id. Raises TooBusy if too much work is in progress, and ContentError."""
    snapshot = service.current()
    async with turn(service, len(log)):
        return await service.offload(lambda: review_at(snapshot, desk, draft, log, lang))


def review_at(snapshot: Snapshot, desk: Desk, draft: Draft, log: str, lang: Language) -> Review:
    """Review a draft synchronously, as `review` does."""
    material, now = desk.material(snapshot), time.time()
    directory, sample = desk.directory_of(draft.id), draft.samples(desk.directory_of(draft.id), now)
    edited = material.loaded.with_entry(draft.id, draft.sources(directory, now), sample)
    checked = check(material, edited, draft)
    shown = draft.shown()
    library = material.loaded.with_entry(draft.id, shown.sources(directory, now), sample).library()
    entry = library.entries.get(draft.id)
    ranks = rank(snapshot, entry, lang) if entry else ()
    searcher = snapshot.searcher
    tried = None
    if log.strip():
        asked = SearchRequest(masked(log), lang)
        explain = partial(diagnoser_with(snapshot, material, library, draft).diagnose, asked.text, lang)
        tried = Tried(judge(snapshot, asked).matches, judge(snapshot, asked, explain=explain).matches)
    return Review(
        checked=checked,
        read=ReadEntry(entry, library.summary(draft.id), library.related(draft.id)) if entry else None,
        tried=tried,
        ranks=ranks,
        alike=alike(snapshot, entry, ranks) if entry else (),
        wordings={
            each.lang: wordings(each, searcher.glossary, searcher.analyzer)
            for each in entry.editions.values()
        }
        if entry
        else {},
        languages=material.loaded.corpus.languages,
    )
