"""Drafts from issue tracker threads. Similar threads share a draft; threads that an entry answers get none.

Threads are similar if their root errors have the same shape, one is marked as a duplicate of the other, or their texts
have a similar meaning (docs/importing.md). The most common problems come first.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from jieda.analysis.pipeline import Analyzer
from jieda.content.read.forms import MAX_TITLE_CHARS, FrontMatter
from jieda.content.read.load import Loaded
from jieda.diagnosis.answers import Diagnosis, Verdict
from jieda.diagnosis.words import WordReader
from jieda.drafting.guesses import Doubt, SlugAllocator, doubt, doubt_guess, finders_of, to_signature
from jieda.entry import Kind, Sample, Signature, Source
from jieda.feedback import today
from jieda.importing.plan import Progress
from jieda.importing.threads import Comment, Thread, solution
from jieda.search.answers import SearchRequest
from jieda.search.meaning.embedder import NotEmbedded, similar_pairs
from jieda.signature import compile_signature_line
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import Filters
from jieda.usecases.from_log import MOST_NAMED, clues_of, edition_files, sample_files
from jieda.usecases.gaps.maintenance import ALIKE, meaning
from jieda.usecases.judge import judge, search_and_judge
from jieda.usecases.secrets import masked_for_others

NEAR = 0.75
"""Least cosine of two threads with the same meaning."""
COVERED = 0.6
"""Least score of a hit that answers a question without a log; high, since nobody sees that question again."""
NUMBER = re.compile(r"(?<![\w.{])\d+(?![\w.])")
MOST_SOURCES = 5
MOST_LOGS = 3
SHAPE_CHARS = 100
"""Characters of error lines that distinguish threads."""
UNKNOWN_LICENSE = "NOASSERTION"


@dataclass(frozen=True, slots=True)
class ReadThread:
    """A thread with its diagnosis. `shape` is its root error with placeholders for values, or empty."""

    thread: Thread
    diagnosis: Diagnosis
    shape: str
    entry: str
    """The entry that already answers it, or empty."""


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """Threads about the same problem, the one with the most reactions first."""

    members: tuple[ReadThread, ...]

    @property
    def first(self) -> ReadThread:
        return self.members[0]

    @property
    def entry(self) -> str:
        """The entry that answers one of them, or empty."""
        return next((each.entry for each in self.members if each.entry), "")

    @property
    def weight(self) -> tuple[int, int, int]:
        """Number of threads, reactions and comments: higher for more common problems."""
        threads = [each.thread for each in self.members]
        return len(threads), sum(each.reactions for each in threads), sum(each.replies for each in threads)

    @property
    def solved_by(self) -> Comment | None:
        return next((found for each in self.members if (found := solution(each.thread))), None)


@dataclass(frozen=True, slots=True)
class ThreadDraft:
    """A group with the files of its draft, by path below a content directory."""

    group: ThreadGroup
    id: str
    files: dict[str, str]


def diagnose_threads(
    snapshot: Snapshot, content: Loaded, threads: Sequence[Thread], framework: str, progress: Progress = iter
) -> tuple[ReadThread, ...]:
    """Return each thread with its diagnosis and the entry that answers it."""
    cited = {
        source.url.partition("#")[0]: file.id for file in content.corpus.files for source in file.front.source
    }
    found = []
    for thread in progress(threads):
        diagnosis = judge(snapshot, SearchRequest(thread.logs), framework)
        entry = cited.get(thread.url) or _answering_entry(snapshot, thread, diagnosis, framework)
        found.append(ReadThread(thread, diagnosis, _shape(thread, diagnosis), entry))
    return tuple(found)


def _answering_entry(snapshot: Snapshot, thread: Thread, diagnosis: Diagnosis, framework: str) -> str:
    """Return the entry that explains the log or, without a log, answers the question."""
    if diagnosis.verdict is Verdict.KNOWN:
        return diagnosis.matches[0].entry.id
    if diagnosis.root:
        return ""
    request = SearchRequest(thread.title, filters=Filters(framework=(framework,)), limit=1, verbatim=True)
    _, answer = search_and_judge(snapshot, request)
    best = next(iter(answer.hits), None)
    return best.entry.id if best and not answer.weak and best.score >= COVERED else ""


def _shape(thread: Thread, diagnosis: Diagnosis) -> str:
    """Return the shape of the root error, or else of a wrapper, or else the suspicious lines."""
    error = diagnosis.main_error
    if error is None:
        is_trouble = thread.has_code and diagnosis.verdict is not Verdict.NO_ERROR
        return diagnosis.query[:SHAPE_CHARS] if is_trouble else ""
    line = ": ".join(filter(None, (error.type.rpartition(".")[2], error.message)))
    return NUMBER.sub("{int}", to_signature(line))


def group_threads(snapshot: Snapshot, read: Sequence[ReadThread]) -> tuple[ThreadGroup, ...]:
    """Return the groups, the most common problems first."""
    parents = list(range(len(read)))

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = index = parents[parents[index]]
        return index

    pairs = (*_declared_duplicates(read), *_same_shape(read), *_same_meaning(snapshot, read))
    for first, second in pairs:
        parents[root(second)] = root(first)
    members: defaultdict[int, list[ReadThread]] = defaultdict(list)
    for index, thread in enumerate(read):
        members[root(index)].append(thread)
    groups = (ThreadGroup(tuple(sorted(each, key=_rank))) for each in members.values())
    return tuple(
        sorted(groups, key=lambda group: (*(-each for each in group.weight), group.first.thread.url))
    )


def _rank(read: ReadThread) -> tuple[int, int, str]:
    return -read.thread.reactions, -read.thread.replies, read.thread.url


def _declared_duplicates(read: Sequence[ReadThread]) -> Iterator[tuple[int, int]]:
    """Yield pairs of threads in one tracker, the second of which is marked as a duplicate of the first."""
    indexes = {_tracker(each.thread) + each.thread.number: index for index, each in enumerate(read)}
    for index, each in enumerate(read):
        for number in each.thread.duplicates():
            other = indexes.get(_tracker(each.thread) + number, index)
            if other != index:
                yield other, index


def _tracker(thread: Thread) -> str:
    return thread.url.rpartition("/")[0] + "/"


def _same_shape(read: Sequence[ReadThread]) -> Iterator[tuple[int, int]]:
    """Yield pairs of threads whose errors have the same shape, or that the same entry answers."""
    first: dict[str, int] = {}
    for index, each in enumerate(read):
        for key in filter(None, (each.shape.casefold(), each.entry)):
            if first.setdefault(key, index) != index:
                yield first[key], index


def _same_meaning(snapshot: Snapshot, read: Sequence[ReadThread]) -> Iterator[tuple[int, int]]:
    """Yield pairs by the encoder if there is one, else by words and glossary. Different error types never match."""
    texts = [f"{each.thread.title}. {each.shape}" if each.shape else each.thread.title for each in read]
    searcher = snapshot.searcher
    pairs: Iterable[tuple[int, int]] | None = None
    if searcher.embedder and searcher.embedder.is_reference:
        with suppress(NotEmbedded):
            pairs = list(similar_pairs(searcher.embedder, texts, NEAR))
    if pairs is None:
        reader = WordReader(searcher.analyzer, searcher.glossary)
        pairs = _pairs_sharing_words([meaning(text, reader) for text in texts])
    for first, second in pairs:
        errors = (read[first].diagnosis.main_error, read[second].diagnosis.main_error)
        if len({error.type for error in errors if error}) < 2:
            yield first, second


def _pairs_sharing_words(meanings: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    for second, words in enumerate(meanings):
        for first, others in enumerate(meanings[:second]):
            shared = len(words & others)
            if shared and shared >= ALIKE * len(words | others):
                yield first, second


class Drafter:
    """Creates drafts of groups, each with a slug that no entry or other draft has."""

    def __init__(self, content: Loaded, framework: str, groups: Sequence[ThreadGroup]) -> None:
        self._content, self._framework = content, framework
        self._groups = groups
        self._slugs = SlugAllocator(each.partition("/")[2] for each in content.corpus.by_id)
        self._topics, _ = finders_of(content.corpus, Analyzer(content.vocabulary.dictionary))

    def draft(self, group: ThreadGroup) -> ThreadDraft:
        """Create the draft of a group from its first thread, tested with the logs of all groups."""
        first = group.first
        title = first.thread.title[:MAX_TITLE_CHARS].strip()
        strangers = tuple(
            Sample("", Path(), each.thread.logs)
            for other in self._groups
            if other is not group
            for each in other.members
        )
        # A signature must not match the log of any other group.
        clues = clues_of(first.thread.logs, first.diagnosis, self._content, strangers=strangers)
        slug, named = self._slugs.take(title, title, "", clues.name or "question")
        entry_id = f"{self._framework}/{slug}"
        is_error = bool(clues.line)
        known = FrontMatter(
            title=masked_for_others(title),
            kind=Kind.ERROR if is_error else Kind.HOW_TO,
            topics=self._topics.find(title),
            error_types=clues.error_types,
            signatures=tuple(Signature((line,)) for line in clues.signatures),
            symptoms=(masked_for_others(title),) if is_error else (),
            source=tuple(_sources(group)),
            updated=today(),
        )
        logs = tuple(
            masked_for_others(each.thread.logs) for each in group.members if each.shape == first.shape
        )
        doubts = (
            doubt("title-from-threads", count=len(group.members)),
            *(() if named else (doubt("slug", slug=slug),)),
            *_doubts(group, known),
        )
        files = edition_files(self._content, entry_id, known, clues.line, doubts)
        samples = sample_files(entry_id, logs[:MOST_LOGS] if is_error else ())
        return ThreadDraft(group, entry_id, files | samples)


def _sources(group: ThreadGroup) -> Iterator[Source]:
    solved = group.solved_by
    if solved:
        yield Source(group.first.thread.title[:MAX_TITLE_CHARS], solved.url, UNKNOWN_LICENSE)
    for each in group.members[:MOST_SOURCES]:
        if not (solved and solved.url == each.thread.url):
            yield Source(each.thread.title[:MAX_TITLE_CHARS], each.thread.url, UNKNOWN_LICENSE)


def _doubts(group: ThreadGroup, known: FrontMatter) -> Iterator[Doubt]:
    solved, count = group.solved_by, len(group.members)
    yield doubt("source-from-threads", url=solved.url) if solved else doubt("unsolved-from-threads")
    if near := [each.entry.id for each in group.first.diagnosis.matches][:MOST_NAMED]:
        yield doubt("duplicate-from-log", ids=", ".join(near))
    yield doubt_guess("topics", known.topics)
    if known.kind is not Kind.ERROR:
        yield doubt("kind", kind=known.kind)
        return
    lines = [compile_signature_line(line) for each in known.signatures for line in each.all]
    fits = sum(any(line.matches(each.thread.logs) for line in lines) for each in group.members)
    if not lines:
        yield doubt("signature-from-log")
    elif fits < count:
        yield doubt("signature-from-threads", fits=fits, count=count)
    yield doubt("sample-from-threads")
