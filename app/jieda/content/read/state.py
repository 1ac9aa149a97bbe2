"""The state of all content, carried from one build to the next so that only what a change can affect is recomputed.

Without a previous state, `advance` computes everything. With one, it returns the same value for less work: each part is
a pure function of its inputs, and is recomputed when one of them has changed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TypeVar

from jieda.content.check.rules import check_entry
from jieda.content.markdown.links import Link, LinkKind, composed
from jieda.content.read.corpus import (
    Corpus,
    Outline,
    SampleFile,
    link_fault,
    newest,
    published,
    stale_languages,
)
from jieda.content.read.directory import KnownFile, Reading
from jieda.content.read.gather import (
    Chosen,
    ReadFile,
    Vocabulary,
    choose_editions,
    entry_id_of,
    find_collisions,
)
from jieda.entry import EditionSummary, Kind, Language, Problem, Summary
from jieda.log_knowledge import LogKnowledge
from jieda.taxonomy import Taxonomy

Value = TypeVar("Value")

Decisions = tuple[tuple[Link, Link | None], ...]
"""For each link to an entry, an anchor or an image, the link to write; None to write only its text."""


def claimed_ids(corpus: Corpus) -> dict[str, str]:
    """Map each old id to the first entry that claims it. Ids in use are left out."""
    claims: dict[str, str] = {}
    for entry_id, editions in corpus.published.items():
        for file in editions.values():
            for old in file.front.formerly:
                if old not in corpus.by_id:
                    claims.setdefault(old, entry_id)
    return claims


def old_ids_by_entry(claims: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Map each entry that has old ids to these."""
    by_entry: dict[str, tuple[str, ...]] = {}
    for old, entry_id in claims.items():
        by_entry[entry_id] = (*by_entry.get(entry_id, ()), old)
    return by_entry


def make_summary(corpus: Corpus, entry_id: str, formerly: tuple[str, ...]) -> Summary:
    """Return the summary of a published entry. If twins contradict each other, the newer one prevails."""
    editions = corpus.published[entry_id]
    front = newest(editions).front
    kind = front.kind
    topics, error_types = corpus.taxonomy.topic, corpus.taxonomy.error_type
    stale = stale_languages(editions)
    return Summary(
        id=entry_id,
        kind=kind,
        topics=tuple(filter(topics.__contains__, front.topics)),
        error_types=tuple(filter(error_types.__contains__, front.error_types)) if kind is Kind.ERROR else (),
        signatures=front.signatures,
        related=tuple(each for each in front.related if each in corpus.published and each != entry_id),
        formerly=formerly,
        updated=max(file.updated for file in editions.values()),
        editions={lang: _edition_summary(file, stale=lang in stale) for lang, file in editions.items()},
        validity=front.validity,
        applies_anywhere=front.applies_anywhere,
    )


def _edition_summary(file: Outline, *, stale: bool) -> EditionSummary:
    return EditionSummary(
        lang=file.lang,
        title=file.front.title,
        applies_to=file.front.applies_to,
        updated=file.updated,
        stale=stale,
        digest=file.digest,
        path=str(file.path),
    )


def decide_links(corpus: Corpus, file: Outline) -> Decisions:
    """Decide about the distinct links of a published edition."""
    internal = (LinkKind.ENTRY, LinkKind.ANCHOR, LinkKind.IMAGE)
    links = dict.fromkeys(link for link in file.links if link.kind in internal)
    return tuple((link, _resolve_link(corpus, file, link)) for link in links)


def _resolve_link(corpus: Corpus, file: Outline, link: Link) -> Link | None:
    if not link_fault(corpus, file, link):
        image = corpus.images[f"{file.lang}/{link.target}"] if link.kind is LinkKind.IMAGE else None
        return replace(link, size=image.size) if image else link
    without_anchor = replace(link, anchor="")
    if link.kind is LinkKind.ENTRY and not link_fault(corpus, file, without_anchor):
        return without_anchor
    return None


Group = tuple[tuple[KnownFile, ...], ...]
"""The files of an id, by content directory."""
ParseFiles = Callable[[Iterable[KnownFile]], Mapping[KnownFile, ReadFile]]
"""Returns the parsed content of files."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The summary and link decisions of a published entry: all that its text depends on, besides its files."""

    summary: Summary
    decisions: Mapping[Language, Decisions]


@dataclass(frozen=True, slots=True)
class ContentState:
    """State of all content. `log_problems`: problems of samples and background logs; `refs`: by id, the ids and
    `image:` names that it refers to; `checks`: problems by id."""

    reading: Reading
    corpus: Corpus
    log_problems: tuple[Problem, ...]
    vocabulary: Vocabulary
    groups: Mapping[str, Group]
    colliding: Mapping[str, str]
    chosen: Mapping[str, Chosen]
    claims: Mapping[str, str]
    refs: Mapping[str, frozenset[str]]
    entries: Mapping[str, Prepared]
    checks: Mapping[str, tuple[Problem, ...]]

    @property
    def file_problems(self) -> tuple[Problem, ...]:
        """Problems of single files; those of entries are in `checks`."""
        editions = (problem for each in self.chosen.values() for problem in each.problems)
        return (*self.reading.problems, *self.vocabulary.problems, *editions, *self.log_problems)


_NO_TAGS = Taxonomy({}, {}, {}, {})
_NO_CONTENT = ContentState(
    reading=Reading((), (), frozenset()),
    corpus=Corpus({}, {}, _NO_TAGS, {}, {}),
    log_problems=(),
    vocabulary=Vocabulary(_NO_TAGS, (), (), LogKnowledge()),
    groups={},
    colliding={},
    chosen={},
    claims={},
    refs={},
    entries={},
    checks={},
)


def advance(
    before: ContentState | None, reading: Reading, vocabulary: Vocabulary, parse_files: ParseFiles
) -> ContentState:
    """Return the state for a reading, reusing the parts of the state `before` that no change affects."""
    taxonomy = vocabulary.taxonomy
    old = before if before and before.vocabulary.taxonomy == taxonomy else _NO_CONTENT
    groups = _group_files(reading, old)
    colliding = old.colliding if old.groups.keys() == groups.keys() else find_collisions(groups)

    collisions = _changed(old.colliding, colliding) & groups.keys()
    changed = _differing(old.groups, groups) | collisions
    parsed = parse_files(file for entry_id in changed for files in groups[entry_id] for file in files)
    chosen = {entry_id: old.chosen[entry_id] for entry_id in groups if entry_id in old.chosen}
    for entry_id in changed:
        directories = [[parsed[file] for file in files] for files in groups[entry_id]]
        chosen[entry_id] = choose_editions(directories, taxonomy, colliding)

    corpus, log_problems = _make_corpus(old, chosen, reading, taxonomy)
    claims = claimed_ids(corpus)
    formerly = old_ids_by_entry(claims)
    affected = _find_affected(old, corpus, _changed(old.chosen, chosen), formerly)
    dirty = [entry_id for entry_id in corpus.by_id if entry_id in affected]

    refs = _recompute(old.refs, corpus.by_id, dirty, partial(_find_references, corpus))
    public = [entry_id for entry_id in dirty if entry_id in corpus.published]
    entries = _recompute(old.entries, corpus.published, public, partial(_prepare, corpus, formerly))
    checks = _recompute(old.checks, corpus.by_id, dirty, partial(check_entry, corpus))
    return ContentState(
        reading, corpus, log_problems, vocabulary, groups, colliding, chosen, claims, refs, entries, checks
    )


def _group_files(reading: Reading, old: ContentState) -> dict[str, Group]:
    files = [directory.editions for directory in reading.directories]
    if files == [directory.editions for directory in old.reading.directories]:
        return dict(old.groups)
    groups: dict[str, list[list[KnownFile]]] = defaultdict(lambda: [[] for _ in files])
    for number, editions in enumerate(files):
        for file in editions:
            groups[entry_id_of(file.where)][number].append(file)
    return {entry_id: tuple(map(tuple, group)) for entry_id, group in sorted(groups.items())}


def _make_corpus(
    old: ContentState, chosen: Mapping[str, Chosen], reading: Reading, taxonomy: Taxonomy
) -> tuple[Corpus, tuple[Problem, ...]]:
    """Return the corpus of the chosen editions and other files, and the problems of logs."""
    by_id = {entry_id: each.editions for entry_id, each in sorted(chosen.items()) if each.editions}
    if _logs(reading) == _logs(old.reading):
        samples, background, problems = old.corpus.samples, old.corpus.background, old.log_problems
    else:
        samples, background, problems = _read_logs(reading)
    corpus = Corpus(
        by_id=by_id,
        published={entry_id: kept for entry_id, each in by_id.items() if (kept := published(each))},
        taxonomy=taxonomy,
        samples=samples,
        images={composed(file.where): file for directory in reading.directories for file in directory.images},
        background=background,
    )
    return corpus, problems


def _logs(reading: Reading) -> list[tuple[tuple[KnownFile, ...], ...]]:
    return [(directory.samples, directory.background) for directory in reading.directories]


def _read_logs(
    reading: Reading,
) -> tuple[dict[str, tuple[SampleFile, ...]], tuple[SampleFile, ...], tuple[Problem, ...]]:
    """Return samples by id, background logs, and the problems of both. A later directory replaces all samples of an id,
    and background logs of the same path."""
    samples: dict[str, tuple[SampleFile, ...]] = {}
    background: dict[str, SampleFile] = {}
    for directory in reading.directories:
        readable = (_sample_file(file) for file in directory.samples if not file.note)
        samples |= {owner: tuple(files) for owner, files in groupby(readable, attrgetter("entry_id"))}
        background |= {file.where: _sample_file(file) for file in directory.background if not file.note}
    problems = tuple(
        Problem(file.where, int(file.note), "encoding", "must be UTF-8", served=False)
        for directory in reading.directories
        for file in (*directory.samples, *directory.background)
        if file.note
    )
    return dict(sorted(samples.items())), tuple(background[where] for where in sorted(background)), problems


def _sample_file(file: KnownFile) -> SampleFile:
    folder, _, owner = file.where.rpartition("/")[0].partition("/")
    return SampleFile(owner if folder == "samples" else "", file.where, file.path, file.content)


def _differing(before: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    """Return the keys of `now` whose values are new or changed."""
    return {key for key, value in now.items() if key not in before or before[key] != value}


def _changed(before: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    """Return the keys that are new or gone, or whose values have changed."""
    return _differing(before, now) | (before.keys() - now.keys())


def _recompute(
    before: Mapping[str, Value], ids: Iterable[str], dirty: Iterable[str], make: Callable[[str], Value]
) -> dict[str, Value]:
    """Return a value for each id, in order: computed for `dirty` ids, otherwise taken from `before`."""
    new = {entry_id: make(entry_id) for entry_id in dirty}
    return {entry_id: new[entry_id] if entry_id in new else before[entry_id] for entry_id in ids}


def _find_affected(
    old: ContentState, corpus: Corpus, touched: set[str], formerly: Mapping[str, tuple[str, ...]]
) -> set[str]:
    """Return the ids that a change can affect: the `touched` ones, those that refer to them or to changed images, and
    those whose old ids have changed."""
    changed = touched | {f"image:{where}" for where in _changed(old.corpus.images, corpus.images)}
    referring = {entry_id for entry_id, refs in old.refs.items() if not refs.isdisjoint(changed)}
    return touched | _changed(old_ids_by_entry(old.claims), formerly) | referring


def _find_references(corpus: Corpus, entry_id: str) -> frozenset[str]:
    """Return the other entries and the images that an entry's links, neighbors and checks depend on."""
    refs: set[str] = set()
    for file in corpus.by_id[entry_id].values():
        refs.update(file.front.related)
        for link in file.links:
            if link.kind is LinkKind.ENTRY:
                refs.add(link.target)
            elif link.kind is LinkKind.IMAGE:
                refs.add(f"image:{file.lang}/{link.target}")
    return frozenset(refs - {entry_id})


def _prepare(corpus: Corpus, formerly: Mapping[str, tuple[str, ...]], entry_id: str) -> Prepared:
    return Prepared(
        summary=make_summary(corpus, entry_id, formerly.get(entry_id, ())),
        decisions={lang: decide_links(corpus, file) for lang, file in corpus.published[entry_id].items()},
    )
