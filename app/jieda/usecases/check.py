"""The whole check of content directories, as `jieda check` runs it."""

import filecmp
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from jieda.content.check.findings import MOST_NAMED, SignatureHolders, glossary_words
from jieda.content.check.rules import check_between
from jieda.content.read.corpus import Corpus, newest
from jieda.content.read.directory import BRAND, list_directory
from jieda.content.read.gather import GLOSSARY, TAXONOMY, sort_problems
from jieda.content.read.load import Loaded
from jieda.content.read.shared_files import site_block
from jieda.diagnosis.answers import Confidence
from jieda.diagnosis.signatures import signature_finder, signatures_of
from jieda.entry import Kind, Problem
from jieda.git import Repository
from jieda.log.formats import compile_formats
from jieda.progress import with_progress
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.judge import judge


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Numbers of served entries and editions, and all problems, sorted by file and line. `notes` are hints, not
    problems. `drafts` are the files that are hidden from readers."""

    entries: int
    editions: int
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    drafts: frozenset[str]

    @property
    def wrong(self) -> tuple[Problem, ...]:
        """All problems except those that an unfinished draft may still have."""
        return tuple(each for each in self.problems if not (each.served and each.path in self.drafts))


def check_content(directories: Sequence[Path], snapshot: Snapshot | None = None) -> CheckReport:
    """Check content directories. Without a `snapshot` of them, checks that need a search or a diagnosis are skipped.
    Raises ContentError if a taxonomy, glossary, dictionary, programs.yaml or failures.yaml is broken."""
    loaded = Loaded(directories)
    corpus, failures = loaded.corpus, loaded.vocabulary.logs.failures
    holders = SignatureHolders.of(corpus)
    find, logs = signature_finder(holders.files, compile_formats(failures)), loaded.log_texts
    matches = {
        content: signatures_of(find(text))
        for content, text in with_progress(logs.items(), len(logs), "logs tried")
    }
    of_entries = chain.from_iterable(loaded.state.checks.values())
    between = check_between(corpus, holders, matches)
    return CheckReport(
        entries=len(corpus.published),
        editions=sum(len(editions) for editions in corpus.published.values()),
        problems=sort_problems((*loaded.problems, *_missing_images(loaded), *of_entries, *between)),
        notes=sort_problems(_notes_of(loaded, snapshot)) if snapshot else (),
        drafts=frozenset(corpus.drafts),
    )


def _general_fixes(corpus: Corpus) -> Iterator[Problem]:
    """Yield notes about errors with a fix that may hold for any program, but which do not say whether it does."""
    for editions in corpus.by_id.values():
        file = newest(editions)
        if file.front.kind is not Kind.ERROR or "applies_anywhere" in file.lines:
            continue
        if all(edition.fix_names_no_option for edition in editions.values()):
            message = (
                f"the fix names no option of {file.id.partition('/')[0]}: say `applies_anywhere: "
                "true` if it holds for the logs of any program, `false` if not"
            )
            line = file.line("applies_to")
            yield Problem(file.where, line, "anywhere", message, served=True)


def _notes_of(loaded: Loaded, snapshot: Snapshot) -> Iterator[Problem]:
    yield from _general_fixes(loaded.corpus)
    yield from _unanswered_groups(loaded, snapshot)
    yield from _misjudged_logs(loaded, snapshot)
    yield from _unanswered_words(loaded.corpus, snapshot)


def _misjudged_logs(loaded: Loaded, snapshot: Snapshot) -> Iterator[Problem]:
    """Yield notes about samples that are not diagnosed as their entry, and logs for which another entry is exact."""
    corpus = loaded.corpus
    samples = (sample for entry_id in corpus.published for sample in corpus.samples.get(entry_id, ()))
    for log in (*samples, *corpus.background):
        owner = log.entry_id
        framework = owner.partition("/")[0]
        request = SearchRequest(loaded.log_texts[log.content], frameworks=(framework,) if framework else ())
        matches = judge(snapshot, request).matches
        first = matches[0].entry.id if matches else ""
        if owner and owner != first:
            result = f"is taken for {first}" if first else "is not explained by any entry"
            yield Problem(log.where, 1, "undiagnosed", f"in a diagnosis, this log {result}", served=True)
        for match in matches:
            if match.confidence is Confidence.EXACT and match.entry.id != owner:
                whose = f"of {owner}" if owner else "that no entry explains"
                message = f"in a diagnosis, this log {whose} is exact for {match.entry.id}"
                yield Problem(log.where, 1, "two-exact", message, served=True)


def _unanswered_words(corpus: Corpus, snapshot: Snapshot) -> Iterator[Problem]:
    """Yield notes about symptoms and aliases by which a search does not find their entry."""
    for entry_id, editions in corpus.published.items():
        for lang, file in editions.items():
            fields = (("symptoms", file.front.symptoms), ("aliases", file.front.aliases))
            for name, texts in fields:
                for text in texts:
                    matches = judge(snapshot, SearchRequest(text, lang)).matches
                    if entry_id not in {match.entry.id for match in matches}:
                        message = f"{text!r} is not answered by this entry"
                        yield Problem(file.where, file.line(name), "own-words", message, served=True)


def _unanswered_groups(loaded: Loaded, snapshot: Snapshot) -> Iterator[Problem]:
    """Yield notes about glossary groups of which no word finds anything."""
    for group in chain.from_iterable(map(glossary_words, loaded.shared[GLOSSARY])):
        words = [word.text.strip() for word in group]
        if not any(map(snapshot.searcher.has_words, words)):
            ellipsis = ", …" if len(words) > MOST_NAMED else ""
            message = f"no search for {', '.join(words[:MOST_NAMED])}{ellipsis} finds anything yet"
            yield Problem(GLOSSARY, group[0].line, "unanswered", message, served=True)


def _missing_images(loaded: Loaded) -> Iterator[Problem]:
    """Yield problems for images that the `site` block names but no directory contains."""
    lines: dict[str, int] = {}
    for taxonomy in loaded.shared[TAXONOMY]:
        lines |= site_block(taxonomy).key_lines
    for key in lines.keys() & {"logo", "icon"}:
        name = getattr(loaded.vocabulary.site, key)
        if f"{BRAND}/{name}" not in loaded.corpus.images:
            yield Problem(TAXONOMY, lines[key], "link", f"there is no image {BRAND}/{name}", served=True)


@dataclass(frozen=True, slots=True)
class Earlier:
    """Content directories at an earlier commit, and the paths below them that have `changed` since."""

    directories: tuple[Path, ...]
    changed: frozenset[str]

    def select_new(self, now: Iterable[Problem], then: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return the current problems that are in changed files or did not exist then."""
        known = Counter((problem.path, problem.rule, problem.message) for problem in then)
        new = []
        for problem in now:
            key = (problem.path, problem.rule, problem.message)
            if problem.path in self.changed or not known[key]:
                new.append(problem)
            known[key] -= 1
        return tuple(new)


@contextmanager
def check_out(directories: Sequence[Path], revision: str) -> Iterator[Earlier]:
    """Check out the content at the last commit that `revision` and HEAD have in common, from the repository of the last
    directory. Files in another repository, or in none, count as unchanged. Raises GitError."""
    repository = Repository.around(directories[-1])
    commit = repository.fork_point(revision)
    changed: set[str] = set()
    with TemporaryDirectory(prefix="jieda-") as folder:
        then = list(directories)
        for number, directory in enumerate(directories):
            if directory.resolve().is_relative_to(repository.root):
                then[number] = repository.check_out(commit, directory.resolve(), Path(folder) / str(number))
                changed.update(_differing(directory, then[number]))
        yield Earlier(tuple(then), frozenset(changed))


def _differing(now: Path, then: Path) -> Iterator[str]:
    """Yield the paths that differ between two directories. Equal files get their current times, which may decide which
    of two twins is stale."""
    listings = list_directory(now), list_directory(then)
    paths = {file.where for listing in listings for file in listing.files}
    for path in paths.union(problem.path for listing in listings for problem in listing.problems):
        current, earlier = now / path, then / path
        if current.is_file() and earlier.is_file() and filecmp.cmp(current, earlier, shallow=False):
            shutil.copystat(current, earlier)
        elif not (current.is_dir() and earlier.is_dir()):
            yield path
