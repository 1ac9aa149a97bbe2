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
from jieda.content.read.corpus import Corpus, draft_files, newest
from jieda.content.read.directory import BRAND, list_directory
from jieda.content.read.gather import GLOSSARY, TAXONOMY, in_order
from jieda.content.read.load import Loaded
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
    """Number of served entries and editions, and all problems by file and line. `notes` are hints, not problems;
    `drafts`: files that are hidden from readers."""

    entries: int
    editions: int
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    drafts: frozenset[str]

    @property
    def wrong(self) -> tuple[Problem, ...]:
        """Problems, except those that a draft may still have because it is unfinished."""
        return tuple(each for each in self.problems if not (each.served and each.path in self.drafts))


def check_content(directories: Sequence[Path], snapshot: Snapshot | None = None) -> CheckReport:
    """Check content directories; without a `snapshot` of them, checks that need a search or a diagnosis are skipped.
    Raises ContentError if a taxonomy, glossary, dictionary, programs.yaml or failures.yaml is broken."""
    loaded = Loaded(directories)
    corpus, failures = loaded.corpus, loaded.vocabulary.logs.failures
    signatures = SignatureHolders.of(corpus)
    find, logs = signature_finder(signatures.holders, compile_formats(failures)), loaded.log_texts
    matches = {
        content: signatures_of(find(text))
        for content, text in with_progress(logs.items(), len(logs), "logs tried")
    }
    of_entries = chain.from_iterable(loaded.state.checks.values())
    between = check_between(corpus, signatures, matches)
    return CheckReport(
        entries=len(corpus.published),
        editions=sum(len(editions) for editions in corpus.published.values()),
        problems=in_order((*loaded.problems, *_missing_images(loaded), *of_entries, *between)),
        notes=in_order(_notes_of(loaded, snapshot)) if snapshot else (),
        drafts=frozenset(draft_files(corpus.by_id)),
    )


def _general_fixes(corpus: Corpus) -> Iterator[Problem]:
    """Yield notes about errors whose fix may hold for other programs too, but do not say whether it does."""
    for editions in corpus.by_id.values():
        file = newest(editions)
        if file.front.kind is not Kind.ERROR or "applies_anywhere" in file.lines:
            continue
        if all(each.fix_names_no_option for each in editions.values()):
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
    """Yield notes about samples that a diagnosis does not explain by their entry, and logs with another exact entry."""
    owned = [
        (entry_id, each)
        for entry_id in loaded.corpus.published
        for each in loaded.corpus.samples.get(entry_id, ())
    ]
    for owner, log in (*owned, *(("", each) for each in loaded.corpus.background)):
        framework = owner.partition("/")[0]
        asked = SearchRequest(loaded.log_texts[log.content], frameworks=(framework,) if framework else ())
        matches = judge(snapshot, asked).matches
        first = matches[0].entry.id if matches else ""
        if owner and owner != first:
            said = f"is taken for {first}" if first else "is not explained by any entry"
            yield Problem(log.where, 1, "undiagnosed", f"in a diagnosis, this log {said}", served=True)
        exact = (each.entry.id for each in matches if each.confidence is Confidence.EXACT)
        for other in (each for each in exact if each != owner):
            whose = f"of {owner}" if owner else "that no entry explains"
            message = f"in a diagnosis, this log {whose} is exact for {other}"
            yield Problem(log.where, 1, "two-exact", message, served=True)


def _unanswered_words(corpus: Corpus, snapshot: Snapshot) -> Iterator[Problem]:
    """Yield notes about symptoms and aliases that do not find their entry."""
    for entry_id, editions in corpus.published.items():
        for lang, file in editions.items():
            said = (("symptoms", file.front.symptoms), ("aliases", file.front.aliases))
            for name, texts in said:
                for text in texts:
                    matches = judge(snapshot, SearchRequest(text, lang)).matches
                    if entry_id not in {match.entry.id for match in matches}:
                        message = f"{text!r} is not answered by this entry"
                        yield Problem(file.where, file.line(name), "own-words", message, served=True)


def _unanswered_groups(loaded: Loaded, snapshot: Snapshot) -> Iterator[Problem]:
    """Yield notes about glossary groups for none of whose words a search finds anything."""
    for group in chain.from_iterable(map(glossary_words, loaded.glossaries)):
        words = [word.text.strip() for word in group]
        if not any(map(snapshot.searcher.has_words, words)):
            named, more = ", ".join(words[:MOST_NAMED]), ", …" if len(words) > MOST_NAMED else ""
            message = f"no search for {named}{more} finds anything yet"
            yield Problem(GLOSSARY, group[0].line, "unanswered", message, served=True)


def _missing_images(loaded: Loaded) -> Iterator[Problem]:
    """Yield problems for images that the block `site` names but no directory has."""
    site = loaded.vocabulary.site
    for name in filter(None, (site.logo, site.icon)):
        if f"{BRAND}/{name}" not in loaded.corpus.images:
            yield Problem(TAXONOMY, 1, "link", f"there is no image {BRAND}/{name}", served=True)


@dataclass(frozen=True, slots=True)
class Earlier:
    """Content directories at an earlier commit; `changed`: paths below them that differ now."""

    directories: tuple[Path, ...]
    changed: frozenset[str]

    def select_new(self, now: Iterable[Problem], then: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return the current problems that are in changed files or that did not exist then."""
        known = Counter((each.path, each.rule, each.message) for each in then)
        found = []
        for each in now:
            key = (each.path, each.rule, each.message)
            if each.path in self.changed or not known[key]:
                found.append(each)
            known[key] -= 1
        return tuple(found)


@contextmanager
def check_out(directories: Sequence[Path], revision: str) -> Iterator[Earlier]:
    """Check out the content at the last commit that `revision` and HEAD have in common. The repository is that of the
    last directory; files in another one, or in none, count as unchanged. Raises GitError."""
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
    """Yield the paths that differ between two directories. All other files get the times that they have now, which may
    decide which of two twins is stale."""
    listings = list_directory(now), list_directory(then)
    wheres = {each.where for listing in listings for each in listing.files}
    for where in wheres.union(each.path for listing in listings for each in listing.problems):
        one, other = now / where, then / where
        if one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False):
            shutil.copystat(one, other)
        elif not (one.is_dir() and other.is_dir()):
            yield where
