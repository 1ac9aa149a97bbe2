"""The content as a whole, carried from one build to the next: only what a change can reach is worked out again.

`advance` with no state before it works out everything. With one, it gives exactly the same value for less work,
because each part is a pure function of what its docstring names, and is redone when any of that changed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from jieda.content.check.rules import check_entry
from jieda.content.markdown.links import LinkKind
from jieda.content.read.assemble import (
    Decisions,
    EntryHead,
    claimed_ids,
    decide_links,
    make_head,
    old_ids,
)
from jieda.content.read.corpus import Corpus, Editions, Image, SampleFile, published
from jieda.content.read.gather import (
    Chosen,
    ReadFile,
    Vocabulary,
    by_place,
    choose,
    collisions,
    entry_id_of,
    not_utf8,
    sample_owner,
)
from jieda.content.read.reading import KnownFile, Reading
from jieda.entry import Language, Problem
from jieda.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class ReadCorpus:
    """A corpus with the reading it is of, and the problems of its samples and of the background."""

    reading: Reading
    corpus: Corpus
    sample_problems: tuple[Problem, ...]
    background_problems: tuple[Problem, ...]


def read_corpus(
    old: ReadCorpus | None, chosen: Mapping[str, Chosen], reading: Reading, taxonomy: Taxonomy
) -> ReadCorpus:
    """The corpus of what was chosen and read, with what `old` has of it."""
    by_id = {entry_id: each.editions for entry_id, each in sorted(chosen.items()) if each.editions}
    if old and _logs(reading) == _logs(old.reading):
        samples, problems = old.corpus.samples, old.sample_problems
    else:
        samples, problems = _samples(reading)
    background, background_problems = _background(reading)
    corpus = Corpus(
        by_id=by_id,
        published=_published(old.corpus if old else None, by_id),
        taxonomy=taxonomy,
        samples=samples,
        images={
            file.where: Image(file.path, file.content, _size(file.note))
            for directory in reading.directories
            for file in directory.images
        },
        background=background,
    )
    return ReadCorpus(reading, corpus, problems, background_problems)


def _published(before: Corpus | None, by_id: Mapping[str, Editions]) -> dict[str, Editions]:
    """The editions that are no drafts, of every entry that has any."""
    found = {
        entry_id: before.published.get(entry_id, {})
        if before and before.by_id.get(entry_id) is editions
        else published(editions)
        for entry_id, editions in by_id.items()
    }
    return {entry_id: shown for entry_id, shown in found.items() if shown}


def _logs(reading: Reading) -> list[tuple[KnownFile, ...]]:
    return [directory.samples for directory in reading.directories]


def _samples(reading: Reading) -> tuple[dict[str, tuple[SampleFile, ...]], tuple[Problem, ...]]:
    chosen: dict[str, tuple[SampleFile, ...]] = {}
    problems: list[Problem] = []
    for directory in reading.directories:
        here: dict[str, list[SampleFile]] = defaultdict(list)
        for file in directory.samples:
            if file.note:
                problems.append(not_utf8(file.where, int(file.note)))
                continue
            owner = sample_owner(file.where)
            here[owner].append(SampleFile(owner, file.where, file.path, file.content))
        chosen |= {owner: tuple(files) for owner, files in here.items()}
    return dict(sorted(chosen.items())), tuple(problems)


def _background(reading: Reading) -> tuple[tuple[SampleFile, ...], tuple[Problem, ...]]:
    files = [file for directory in reading.directories for file in directory.background]
    logs = (SampleFile("", file.where, file.path, file.content) for file in files if not file.note)
    return by_place(logs), tuple(not_utf8(file.where, int(file.note)) for file in files if file.note)


def _size(note: str) -> tuple[int, int] | None:
    width, _, height = note.partition("x")
    return (int(width), int(height)) if height else None


Value = TypeVar("Value")

Group = tuple[tuple[KnownFile, ...], ...]
"""The files of one id, by content directory."""
Outlines = Callable[[Iterable[KnownFile]], Mapping[KnownFile, ReadFile]]
"""Looks up what files say."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A published entry with all that its text depends on besides its files."""

    head: EntryHead
    decisions: Mapping[Language, Decisions]


@dataclass(frozen=True, slots=True)
class ContentState:
    """`refs`: of every id, the ids and `image:` names that it looks at; `checks`: the problems of every id."""

    read: ReadCorpus
    vocabulary: Vocabulary
    groups: Mapping[str, Group]
    colliding: Mapping[str, str]
    chosen: Mapping[str, Chosen]
    claims: Mapping[str, str]
    refs: Mapping[str, frozenset[str]]
    entries: Mapping[str, Prepared]
    checks: Mapping[str, tuple[Problem, ...]]

    @property
    def corpus(self) -> Corpus:
        """Everything that was read."""
        return self.read.corpus

    @property
    def file_problems(self) -> tuple[Problem, ...]:
        """What is wrong with single files; what is wrong with entries is in `checks`."""
        logs = self.read.sample_problems + self.read.background_problems
        editions = (problem for each in self.chosen.values() for problem in each.problems)
        return (*self.read.reading.problems, *self.vocabulary.problems, *editions, *logs)


def advance(
    before: ContentState | None, reading: Reading, vocabulary: Vocabulary, outlines: Outlines
) -> ContentState:
    """The state of what was read."""
    taxonomy = vocabulary.taxonomy
    afresh = before is None or before.vocabulary.taxonomy != taxonomy
    old = before if before and not afresh else None
    groups = _groups(reading, old)
    colliding = old.colliding if old and old.groups.keys() == groups.keys() else collisions(groups)

    reread = _differing(old.groups if old else {}, groups)
    if old and old.colliding != colliding:
        reread |= _differing(old.colliding, colliding) & groups.keys()
    known = outlines(file for entry_id in reread for files in groups[entry_id] for file in files)
    chosen = (
        {}
        if old is None
        else {entry_id: old.chosen[entry_id] for entry_id in groups if entry_id in old.chosen}
    )
    for entry_id in reread:
        files = [[known[file] for file in here] for here in groups[entry_id]]
        chosen[entry_id] = choose(files, taxonomy, colliding)

    read = read_corpus(old.read if old else None, chosen, reading, taxonomy)
    corpus = read.corpus
    claims = claimed_ids(corpus)
    formerly = old_ids(claims)
    touched = _differing(old.chosen if old else {}, chosen) | (
        old.chosen.keys() - chosen.keys() if old else set()
    )
    reach = _reach(old, corpus, touched, formerly)
    dirty = [entry_id for entry_id in corpus.by_id if entry_id in reach]

    refs = _carried(old.refs if old else {}, corpus.by_id, dirty, partial(_refs, corpus))
    shown = [entry_id for entry_id in dirty if entry_id in corpus.published]
    prepare = partial(_prepare, corpus, formerly)
    entries = _carried(old.entries if old else {}, corpus.published, shown, prepare)
    checks = _carried(old.checks if old else {}, corpus.by_id, dirty, partial(check_entry, corpus))
    return ContentState(read, vocabulary, groups, colliding, chosen, claims, refs, entries, checks)


def _groups(reading: Reading, old: ContentState | None) -> dict[str, Group]:
    """The files of every id."""
    files = [directory.editions for directory in reading.directories]
    before = [directory.editions for directory in old.read.reading.directories] if old else []
    if old and files == before:
        return dict(old.groups)
    number = len(reading.directories)
    found: dict[str, list[list[KnownFile]]] = defaultdict(lambda: [[] for _ in range(number)])
    for place, directory in enumerate(reading.directories):
        for file in directory.editions:
            found[entry_id_of(file.where)][place].append(file)
    return {entry_id: tuple(map(tuple, files)) for entry_id, files in sorted(found.items())}


def _differing(before: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    """The keys of `now` whose values are new or others."""
    return {key for key, value in now.items() if key not in before or before[key] != value}


def _carried(
    before: Mapping[str, Value], ids: Iterable[str], anew: Iterable[str], make: Callable[[str], Value]
) -> dict[str, Value]:
    """A value for every id, made for those in `anew`, in the order of `ids`."""
    made = {entry_id: make(entry_id) for entry_id in anew}
    return {entry_id: made[entry_id] if entry_id in made else before[entry_id] for entry_id in ids}


def _reach(
    old: ContentState | None, corpus: Corpus, touched: set[str], formerly: Mapping[str, tuple[str, ...]]
) -> frozenset[str]:
    """The ids that a change can reach: those that changed, those that look at them or at another image, and those
    that old addresses lead to or no longer lead to."""
    if old is None:
        return frozenset(corpus.by_id)
    images = _differing(old.corpus.images, corpus.images) | (old.corpus.images.keys() - corpus.images.keys())
    news = touched | {f"image:{where}" for where in images}
    before = old_ids(old.claims)
    moved = _differing(before, formerly) | (before.keys() - formerly.keys())
    looking = {entry_id for entry_id, refs in old.refs.items() if not refs.isdisjoint(news)}
    return frozenset(touched | moved | looking)


def _refs(corpus: Corpus, entry_id: str) -> frozenset[str]:
    """What an entry's links, neighbors and checks look at besides itself."""
    found: set[str] = set()
    for file in corpus.by_id[entry_id].values():
        found.update(file.front.related)
        for link in file.links:
            if link.kind is LinkKind.ENTRY:
                found.add(link.target)
            elif link.kind is LinkKind.IMAGE:
                found.add(f"image:{file.lang}/{link.target}")
    return frozenset(found - {entry_id})


def _prepare(corpus: Corpus, formerly: Mapping[str, tuple[str, ...]], entry_id: str) -> Prepared:
    return Prepared(
        head=make_head(corpus, entry_id, formerly.get(entry_id, ())),
        decisions={lang: decide_links(corpus, file) for lang, file in corpus.published[entry_id].items()},
    )
