"""Runs judged queries through the search and diagnosis that every surface offers, and computes the figures."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from jieda.analysis.pipeline import Glossary
from jieda.content.library import Library
from jieda.content.read.load import load_library
from jieda.diagnosis.answers import Confidence
from jieda.entry import Language
from jieda.errors import JiedaError
from jieda.search.answers import SearchRequest
from jieda.search.index.document import Document, build_documents
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.writer import update_index
from jieda.search.meaning.embedder import Embedder
from jieda.search.meaning.sayings import with_meaning
from jieda.search.searcher import Searcher
from jieda.search.weights import WEIGHTING
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.watch.follow import Follower
from jieda.usecases.judge import search_and_judge

SEARCHED_KINDS = ("question", "error", "paraphrase")
DIAGNOSED_KINDS = ("error", "traceback", "negative")
FOUND, WEAK = "found", "weak"
GRADES = (*map(str, Confidence), FOUND, WEAK)
"""Grades of an answer, surest first: the confidence of an entry that explains a text, or the grade of search hits."""
FIRST_FIVE = 5
DEPTH = 50


@dataclass(frozen=True, slots=True)
class Judged:
    """A query with the ids of the entries that answer it: any of them is right; empty if no entry does."""

    id: str
    kind: str
    lang: str
    """`en`, `zh` or `mixed`."""
    query: str
    expected: tuple[str, ...]
    cross: bool = False
    """Whether the query is also measured across languages, with the editions in its own language hidden."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The result of a query: `rank` of the first right entry from 1, or 0; `found`: ids, best first."""

    judged: Judged
    rank: int
    found: tuple[str, ...]
    weak: bool


@dataclass(frozen=True, slots=True)
class DiagnosedQuery:
    """The result of a diagnosed text: as `Ranked`, for the matches. `grade`, one of GRADES, is that of the first entry,
    and `right` whether it is the right one; the grade is empty if there is no entry."""

    judged: Judged
    rank: int
    found: tuple[str, ...]
    grade: str
    right: bool


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares between 0 and 1, over `queries` queries."""

    queries: int
    right_first: float
    in_five: float
    mrr: float
    """Mean of 1/rank of the first right entry, 0 if there is none."""
    zero_results: float


def read_judged(path: Path) -> tuple[Judged, ...]:
    """Read the queries of a file of JSON lines. Raises JiedaError, OSError."""
    judged = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            one = json.loads(line)
            name, kind, lang, query = (str(one[field]) for field in ("id", "kind", "lang", "query"))
            expected, cross = tuple(one["expected"]), bool(one.get("cross", False))
            judged.append(Judged(name, kind, lang, query, expected, cross))
        except (ValueError, KeyError, TypeError) as error:
            message = f"is not a judged query ({{id, kind, lang, query, expected}}): {error!r}"
            raise JiedaError(f"{path}:{number}: {message}") from error
    return tuple(judged)


def display_language(judged: Judged) -> Language:
    """Return the language in which a query is searched: its own; Chinese for mixed ones."""
    return Language.EN if judged.lang == "en" else Language.ZH


def rank_of(found: Sequence[str], expected: Iterable[str]) -> int:
    """Return the rank of the first id that is among `expected`, from 1; 0 if none is."""
    wanted = set(expected)
    return next((place for place, one in enumerate(found, 1) if one in wanted), 0)


def sureness(results: Sequence[DiagnosedQuery]) -> dict[str, dict[str, float]]:
    """Return how often each grade was right, over all texts and over those about a failure; any answer to a text that
    no entry is about is wrong."""
    rows: dict[str, dict[str, float]] = {}
    for grade in GRADES:
        given = [one for one in results if one.grade == grade]
        failures = [one.right for one in given if one.judged.kind in DIAGNOSED_KINDS]
        if given:
            rows[grade] = {
                "answers": len(given),
                "right": sum(one.right for one in given) / len(given),
                "failures": len(failures),
                "failures_right": sum(failures) / (len(failures) or 1),
            }
    return rows


def compute_figures(results: Sequence[Ranked | DiagnosedQuery]) -> Figures:
    """Compute the figures of some results; all zero for none."""
    count = len(results) or 1
    return Figures(
        queries=len(results),
        right_first=sum(one.rank == 1 for one in results) / count,
        in_five=sum(1 <= one.rank <= FIRST_FIVE for one in results) / count,
        mrr=sum(1 / one.rank for one in results if one.rank) / count,
        zero_results=sum(not one.found for one in results) / count,
    )


def figures_by(results: Sequence[Ranked], key: Callable[[Judged], str]) -> dict[str, Figures]:
    """Compute figures by `key` of the query, in alphabetical order."""
    values = sorted({key(one.judged) for one in results})
    return {value: compute_figures([one for one in results if key(one.judged) == value]) for value in values}


SHOWN_INSTEAD = 3
EXPLAINED = 8


def build_index(
    folder: Path, library: Library, documents: Iterable[Document], embedder: Embedder | None = None
) -> EmbeddedIndex:
    """Write the index of documents of a library into an empty folder, and open it."""
    made = {each.id: each for each in with_meaning(library, documents, embedder)}
    update_index(folder, None, made, (), ())
    return EmbeddedIndex(folder, WEIGHTING)


class Bench:
    """The searches for judged queries, each built from the content on first use."""

    def __init__(self, directories: Sequence[Path], folder: Path, analyzers: Analyzers) -> None:
        self._directories, self._folder, self._analyzers = directories, folder, analyzers
        data = Path(mkdtemp(dir=folder))
        Builder(directories, data, analyzers).build()
        follower = Follower(data, analyzers, lambda: None)
        follower.catch_up()
        self._snapshot = follower.snapshot
        self._without: dict[Language, Searcher] = {}

    def search_all(self, judged: Iterable[Judged], *, hidden: bool = False) -> tuple[Ranked, ...]:
        """Search every query over all editions as every surface does; if `hidden`, only over those in the other
        language, which raises JiedaError if there are none."""
        results = []
        for one in judged:
            request = SearchRequest(one.query, display_language(one), limit=DEPTH)
            if hidden:
                answer = self._other_language(Language(one.lang)).search(request)
            else:
                answer = search_and_judge(self._snapshot, request)[1]
            found = tuple(hit.entry.id for hit in answer.hits)
            results.append(Ranked(one, rank_of(found, one.expected), found, answer.weak))
        return tuple(results)

    def diagnose(self, judged: Judged) -> DiagnosedQuery:
        """Diagnose a text as every surface does."""
        found, answer = search_and_judge(
            self._snapshot, SearchRequest(judged.query, display_language(judged))
        )
        ids = tuple(match.entry.id for match in found.matches)
        listed = [hit.entry.id for hit in answer.hits] if "\n" not in judged.query.strip() else []
        grade = found.confidence or ((WEAK if answer.weak else FOUND) if listed else "")
        right = rank_of([*ids, *listed], judged.expected) == 1
        return DiagnosedQuery(judged, rank_of(ids, judged.expected), ids, grade, right)

    def misses(self, ranked: Sequence[Ranked], *, hidden: bool) -> Iterator[str]:
        """Yield a block for each query whose right entry isn't first: the entries found instead, and their scores."""
        for one in (one for one in ranked if one.rank != 1):
            yield f"{one.judged.id} [{one.judged.kind}, {one.judged.lang}] {one.judged.query[:160]!r}"
            yield f"  expected {', '.join(one.judged.expected)}: " + (
                f"place {one.rank}" if one.rank else "not found"
            )
            searcher = self._other_language(Language(one.judged.lang)) if hidden else self._snapshot.searcher
            right = [one.found[one.rank - 1]] if one.rank else []
            for entry_id in [*one.found[:SHOWN_INSTEAD], *right]:
                yield f"  {entry_id}"
                for part in searcher.explain(one.judged.query, entry_id)[:EXPLAINED]:
                    yield f"    {part.score:6.2f} {part.label} ({part.source}, {part.zone}, {part.term})"

    def _other_language(self, lang: Language) -> Searcher:
        """Return the search without the editions in `lang`."""
        if lang not in self._without:
            library = load_library(self._directories, languages=frozenset({lang.other}))
            if not library.entries:
                raise JiedaError(f"no edition is left when those in {lang} are hidden")
            analyzer, embedder = self._snapshot.searcher.analyzer, self._analyzers.embedder
            glossary = Glossary(library.glossary, analyzer)
            documents = build_documents(library, analyzer, glossary, (lang.other,))
            index = build_index(Path(mkdtemp(dir=self._folder)), library, documents, embedder)
            dictionary = self._analyzers.dictionary
            self._without[lang] = Searcher(
                library, index, analyzer, glossary, embedder, dictionary=dictionary
            )
        return self._without[lang]
