"""The builder turns content directories into a generation on disk, computing only what has changed since the last."""

import logging
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path

from jieda.analysis.pipeline import Analyzer, GlossaryMember, glossary_members
from jieda.content.check.findings import Matches, SignatureHolders
from jieda.content.check.rules import check_between
from jieda.content.read.corpus import Corpus, SampleFile
from jieda.content.read.directory import KnownFile, Reading
from jieda.content.read.gather import Vocabulary, make_vocabulary, sort_problems
from jieda.content.read.state import ContentState, advance
from jieda.diagnosis.signatures import (
    FoundSignatures,
    SignatureCount,
    count_signatures,
    signature_finder,
    signatures_of,
)
from jieda.disk import make_room, set_aside
from jieda.entry import Problem, Signature
from jieda.errors import ContentError
from jieda.helpers import Helpers, collect_garbage_rarely
from jieda.log.formats import compile_formats
from jieda.log_knowledge import Failures
from jieda.search.meaning.embedder import NotEmbedded
from jieda.snapshot.build.entries import EntryFacts, model_of, read_files
from jieda.snapshot.build.files import (
    BuildResources,
    ContentMoved,
    FileReader,
    HistoryFacts,
    read_unchanged,
    sample_text,
)
from jieda.snapshot.build.publish import (
    GenerationPlan,
    Publication,
    copy_images,
    forget_old_facts,
    image_name,
)
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store.facts import FILE_NAME, FactStore, FactsUnreadable, code_version, fact_key
from jieda.snapshot.store.generation import (
    GENERATIONS,
    IMAGES,
    Generation,
    Header,
    clean,
    from_json,
    generation_folder,
    point_to,
    prune,
    read_generation,
    read_pointer,
    to_json,
)
from jieda.snapshot.store.processes import WORKERS, build_lock, serving_workers

log = logging.getLogger(__name__)

NOTE = "build"
"""Name of the note on the last build: a process that starts with the same inputs need not read them again."""


class BuildAbandoned(Exception):
    """The build was abandoned because the process ends."""


@dataclass(frozen=True, slots=True)
class BuildResult:
    """Result of a build. `changed`: the generation differs from the previous one. `problems`: those that are not about
    drafts. `folders`: all folders of the content. `lacks_vectors`: the embedder failed for some entries."""

    generation: str
    changed: bool
    entries: int
    problems: tuple[Problem, ...]
    folders: frozenset[str]
    lacks_vectors: bool = False


@dataclass(frozen=True, slots=True)
class LastBuild:
    """State of the last build, kept to speed up the next one, which can do without. If another process built from the
    same inputs, it has no `state` and `plan`."""

    result: BuildResult
    reading: Reading
    histories: Mapping[Path, bytes]
    state: ContentState | None = None
    plan: GenerationPlan | None = None


WORTH_HELP = 400
"""Logs that one process searches while helpers start."""


@lru_cache(1)
def _finder(signatures: frozenset[Signature], failures: Failures) -> Callable[[str], FoundSignatures]:
    return signature_finder(signatures, compile_formats(failures))


def _search_log(
    signatures: frozenset[Signature], failures: Failures, log: SampleFile
) -> tuple[str, FoundSignatures]:
    """Return the hash of a log's content and the signatures found in it. Raises ContentMoved."""
    return log.content, _finder(signatures, failures)(sample_text(log))


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
                search = partial(_search_log, untried, failures)
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


class BuildTools:
    """Readers and caches of a builder, kept as long as it uses the same fact store."""

    def __init__(self, resources: BuildResources, content: Sequence[Path]) -> None:
        self.resources = resources
        self.reader = FileReader(resources, content)
        self.signatures = LogSignatures(resources)
        self.histories = HistoryFacts(resources.facts, content)
        self._entries = lru_cache(1)(self._make_entries)

    def entries(self, reading: Reading) -> EntryFacts:
        """Return what computes facts of entries, with the vocabulary of all shared files. Raises ContentError if one of
        them is broken."""
        shared = tuple(file for directory in reading.directories for file in directory.shared)
        return self._entries(reading.directories[0].root, shared)

    def _make_entries(self, root: Path, files: tuple[KnownFile, ...]) -> EntryFacts:
        facts, analyzers = self.resources.facts, self.resources.analyzers
        key = fact_key("vocabulary", code_version(), *(f"{file.where} {file.content}" for file in files))
        if known := facts.get(key):
            return EntryFacts(
                self.resources, *from_json(known, tuple[Vocabulary, tuple[GlossaryMember, ...]])
            )
        vocabulary = make_vocabulary(root, [read_unchanged(file.found, file.content) for file in files])
        vocabulary = replace(vocabulary, dictionary=Analyzer(vocabulary.dictionary).dictionary)
        members = glossary_members(vocabulary.glossary, analyzers.analyzer(vocabulary.dictionary))
        facts.put(key, to_json((vocabulary, members)))
        return EntryFacts(self.resources, vocabulary, members)


class Builder:
    """Builds generations of some content directories, each one incrementally from the last.

    Not thread-safe. Its state between builds is only a cache.
    """

    def __init__(
        self,
        content: Sequence[Path],
        data: Path,
        analyzers: Analyzers,
        stopping: Callable[[], bool] = lambda: False,
        processes: int = 1,
    ) -> None:
        """`stopping` returns True to abandon a build in progress; `processes` is passed to `Helpers`."""
        # Computed and cached now: sources that are replaced later are not the code that this process runs.
        code_version()
        self._data = data
        self._stopping = stopping
        self._helpers = Helpers(code_version, processes)
        self._content, self._analyzers = tuple(content), analyzers
        self._tools: BuildTools | None = None
        self._last: LastBuild | None = None
        self._embed = True

    def build(self) -> BuildResult:
        """Build the content as it is now and make it the current generation.

        Raises ContentError if a taxonomy, glossary or dictionary is broken, ContentMoved if a file does not stay the
        same during a build, OSError if the data directory cannot be written, FactsUnreadable if the store
        cannot be used, BuildAbandoned.
        """
        self._data.mkdir(0o700, parents=True, exist_ok=True)
        with build_lock(self._data, self._pause), collect_garbage_rarely(), self._helpers:
            for folder in (GENERATIONS, IMAGES, WORKERS):
                make_room(self._data / folder, stat.S_ISDIR)
            clean(self._data)
            self._embed = True
            for _ in range(3):
                try:
                    return self._build()
                except ContentMoved:
                    continue
                except NotEmbedded:
                    self._embed = False
                except FactsUnreadable as error:
                    if error.transient:
                        self._forget(damaged=False)
                        raise
                    log.warning("the fact store cannot be used (%s): rebuilding everything", error)
                    self._forget(damaged=True)
                except BaseException:  # partial state is worse than none
                    self._forget(damaged=False)
                    raise
            return self._build()

    def _build(self) -> BuildResult:
        tools = self._open()
        reading = tools.reader.read()
        pointer = read_pointer(self._data)
        current, moved = pointer.generation, pointer.content != tuple(map(str, self._content))
        last = self._last
        histories = tools.histories.of_content()
        unchanged = last and (reading, histories) == (last.reading, last.histories)
        if last and unchanged and last.result.generation == current and not last.result.lacks_vectors:
            return replace(last.result, changed=False)
        images = {file.where: file for directory in reading.directories for file in directory.images}
        copy_images(self._data, images, verify=last is None)
        model = model_of(self._analyzers.embedder, tools.resources.facts)
        inputs = self._inputs(reading, histories, model)
        if last is None and not moved and (result := self._earlier_result(tools, inputs, current)):
            self._last = LastBuild(result, reading, histories)
            prune(self._data, (worker.generation for worker in serving_workers(self._data)))
            return result
        entries, read = tools.entries(reading), partial(read_files, tools.resources)
        state = advance(last.state if last else None, reading, entries.vocabulary, read)
        rows = entries.rows(state, histories, model, embed=self._embed)
        previous = read_generation(self._data, current)
        if not rows and previous and previous.digests():
            raise ContentError(reading.directories[0].root, 1, f"no entries are left{_omissions(state)}")
        plan = GenerationPlan(self._header(tools, entries, state), rows)
        if self._publish(entries, state, plan, previous) or plan.name != current or moved:
            # Also for one that replaces a damaged one of the same name: processes that have that open must reopen.
            point_to(self._data, plan.name, self._content)
        prune(self._data, (worker.generation for worker in serving_workers(self._data)))
        forget_old_facts(tools.resources, plan, reading)
        lacks_vectors = self._analyzers.embedder is not None and not all(row.meaning for row in rows.values())
        problems = tuple(problem for problem in plan.header.problems if not problem.draft)
        changed = plan.name != current
        result = BuildResult(plan.name, changed, len(rows), problems, reading.folders, lacks_vectors)
        self._last = LastBuild(result, reading, histories, state, plan)
        if not lacks_vectors:
            tools.resources.facts.put_note(NOTE, inputs, to_json(replace(result, changed=False)))
        return result

    def _inputs(self, reading: Reading, histories: Mapping[Path, bytes], model: str) -> str:
        """Return a digest of everything that a generation depends on."""
        versions = code_version(), self._analyzers.engine_name, model
        content = reading.directories, reading.problems, sorted(reading.folders), sorted(histories.items())
        return fact_key("build", *versions, to_json(content)).hex()

    def _earlier_result(self, tools: BuildTools, inputs: str, current: str) -> BuildResult | None:
        """Return the result of a build from the same inputs if it made the current generation, which is checked when it
        is opened. None with a cluster, which may have lost its index."""
        note = tools.resources.facts.note(NOTE, inputs)
        result = from_json(note, BuildResult) if note and self._analyzers.engine is None else None
        exists = generation_folder(self._data, current).is_dir()
        return result if result and result.generation == current and exists else None

    def _publish(
        self, entries: EntryFacts, state: ContentState, plan: GenerationPlan, previous: Generation | None
    ) -> bool:
        """Write the generation unless it is on disk and undamaged. Return whether it was written."""
        last = self._last
        if last and previous and plan.name == previous.name:
            return False
        existing = read_generation(self._data, plan.name)
        engine = self._analyzers.engine
        if existing and (engine is None or engine.is_whole(existing.index)):
            return False
        old = last.plan.rows if last and last.plan else {}
        changed = {entry_id: row for entry_id, row in plan.rows.items() if old.get(entry_id) != row}
        entries.ensure(changed, state)
        Publication(entries.resources, plan, previous).write()
        return True

    def _open(self) -> BuildTools:
        if self._tools is not None and not self._tools.resources.facts.is_current:
            self._forget(damaged=False)
        if self._last and not generation_folder(self._data, self._last.result.generation).is_dir():
            self._forget(damaged=False)  # another process found it damaged: its inputs are checked again, too
        if self._tools is None:
            facts = FactStore(self._data / FILE_NAME, writable=True)
            resources = BuildResources(self._data, facts, self._analyzers, self._helpers, self._pause)
            self._tools = BuildTools(resources, self._content)
        return self._tools

    def _forget(self, *, damaged: bool) -> None:
        if self._tools is not None:
            self._tools.resources.facts.close()
        if damaged:
            for path in self._data.glob(f"{FILE_NAME}*"):  # and its log
                set_aside(path)
        self._tools = self._last = None

    def _pause(self) -> None:
        if self._stopping():
            raise BuildAbandoned

    def _header(self, tools: BuildTools, entries: EntryFacts, state: ContentState) -> Header:
        corpus, holders = state.corpus, SignatureHolders.of(state.corpus)
        matches, counts = tools.signatures.of(state, holders)
        across = check_between(corpus, holders, matches)
        summaries = {entry_id: entry.summary for entry_id, entry in state.entries.items()}
        samples = [log for entry_id, logs in corpus.samples.items() if entry_id in summaries for log in logs]
        return Header(
            code=code_version(),
            engine=self._analyzers.engine_name,
            vocabulary=state.vocabulary,
            members=entries.members,
            background_words=entries.background(corpus.background),
            counts=counts,
            signatures={entry_id: each.signatures for entry_id, each in summaries.items() if each.signatures},
            anywhere=tuple(sorted(entry_id for entry_id, each in summaries.items() if each.applies_anywhere)),
            samples=(*samples, *corpus.background),
            problems=sort_problems(
                (*state.file_problems, *chain.from_iterable(state.checks.values()), *across)
            ),
            old_ids=state.claims,
            images={where: image_name(where, image.content) for where, image in corpus.images.items()},
            drafts=corpus.drafts,
        )


def _omissions(state: ContentState) -> str:
    """Say how many problems keep files out, and the first of them; empty if there are none."""
    problems = sort_problems(each for each in state.file_problems if not each.served and not each.draft)
    return f"; problems: {len(problems)}, the first: {problems[0]}" if problems else ""
