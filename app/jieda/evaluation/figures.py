"""Runs judged queries through the search and diagnosis of all surfaces, and computes how well they do."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from jieda.analysis.pipeline import Glossary
from jieda.content.read.load import Loaded
from jieda.diagnosis.answers import Confidence
from jieda.entry import Language
from jieda.errors import JiedaError
from jieda.search.answers import SearchAnswer, SearchRequest
from jieda.search.index.document import Document, build_documents
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.writer import embed_words, update_index
from jieda.search.meaning.embedder import Embedder
from jieda.search.searcher import Searcher
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.snapshot import Analyzers, analyzers_of
from jieda.usecases.judge import search_and_judge

NEGATIVE = "negative"
"""The kind of queries that no entry answers."""
SEARCHED_KINDS = ("question", "error", "paraphrase")
DIAGNOSED_KINDS = ("error", "traceback", NEGATIVE)
KINDS = tuple(dict.fromkeys((*SEARCHED_KINDS, *DIAGNOSED_KINDS)))
LANGS = (*map(str, Language), "mixed")
FOUND, WEAK = "found", "weak"
GRADES = (*map(str, Confidence), FOUND, WEAK)
"""Grades of an answer, surest first: the confidence of a diagnosis, then the grades of search hits."""
FIRST_FIVE = 5
DEPTH = 10
"""Hits per query, as is usual for MRR@10. Each costs a snippet, which nobody reads here."""
SHOWN_INSTEAD = 3
EXPLAINED = 8


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query with the ids of the entries that answer it, of which any is right; none if no entry does."""

    id: str
    kind: str
    lang: str
    """`en`, `zh` or `mixed`."""
    query: str
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The answer to a query. `found`: ids of hits or, in a diagnosis, of entries that explain the text, best first.
    `grade`, one of GRADES or empty, is that of the first entry shown; `right` says whether that entry is right."""

    judged: JudgedQuery
    found: tuple[str, ...]
    grade: str
    right: bool

    @property
    def rank(self) -> int:
        """The rank of the first right entry in `found`, from 1; 0 if there is none."""
        return rank_of(self.found, self.judged.expected)


def read_judged(path: Path) -> tuple[JudgedQuery, ...]:
    """Read the queries of a file of JSON lines. Raises JiedaError, OSError."""
    judged = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            judged.append(_judged(json.loads(line)))
        except (ValueError, TypeError) as error:
            message = f"is not a judged query ({{id, kind, lang, query, expected}}): {error}"
            raise JiedaError(f"{path}:{number}: {message}") from error
    return tuple(judged)


def _judged(row: Any) -> JudgedQuery:
    """Raises ValueError, TypeError."""
    if missing := [field for field in ("id", "kind", "lang", "query", "expected") if field not in row]:
        raise ValueError(f"{missing[0]} is missing")
    name, kind, lang, query = (str(row[field]) for field in ("id", "kind", "lang", "query"))
    for field, known in (("kind", KINDS), ("lang", LANGS)):
        if row[field] not in known:
            raise ValueError(f"{field} is one of {', '.join(known)}")
    if not isinstance(row["expected"], list) or not all(isinstance(each, str) for each in row["expected"]):
        raise TypeError("expected is a list of ids")
    return JudgedQuery(name, kind, lang, query, tuple(row["expected"]))


def display_language(judged: JudgedQuery) -> Language:
    """Return the language in which a query is searched: its own; Chinese for mixed ones."""
    return Language.EN if judged.lang == "en" else Language.ZH


def rank_of(found: Sequence[str], expected: Iterable[str]) -> int:
    """Return the rank of the first id that is among `expected`, from 1; 0 if none is."""
    right = set(expected)
    return next((rank for rank, entry_id in enumerate(found, 1) if entry_id in right), 0)


def compute_figures(answers: Sequence[QueryResult]) -> dict[str, float]:
    """Compute the figures of some answers, as shares between 0 and 1; all zero for none. `mrr` is MRR@10, the mean of
    1/rank, 0 if no right entry is among the first ten."""
    ranks = [answer.rank for answer in answers]
    return {
        "queries": len(ranks),
        "right_first": _share(rank == 1 for rank in ranks),
        "in_five": _share(1 <= rank <= FIRST_FIVE for rank in ranks),
        "mrr": sum(1 / rank for rank in ranks if rank) / (len(ranks) or 1),
        "zero_results": _share(not answer.found for answer in answers),
    }


def sureness(diagnosed: Sequence[QueryResult]) -> dict[str, dict[str, float]]:
    """Return how often each grade was right, over all texts and over those about a failure. Any answer to a text that
    no entry is about counts as wrong."""
    rows: dict[str, dict[str, float]] = {}
    for grade in GRADES:
        answers = [answer for answer in diagnosed if answer.grade == grade]
        failures = [answer for answer in answers if answer.judged.kind in DIAGNOSED_KINDS]
        if answers:
            rows[grade] = {
                "answers": len(answers),
                "right": _share(answer.right for answer in answers),
                "failures": len(failures),
                "failures_right": _share(answer.right for answer in failures),
            }
    return rows


def full_report(searched: Sequence[QueryResult], diagnosed: Sequence[QueryResult]) -> dict[str, Any]:
    """Return all figures in the form of `jieda eval --json`; `diagnosed` may be empty."""
    negatives = [answer for answer in searched if answer.judged.kind == NEGATIVE]
    ranked = [answer for answer in searched if answer.judged.kind != NEGATIVE]
    groups = {"all": ranked}
    for field in ("kind", "lang"):
        for answer in sorted(ranked, key=lambda answer: getattr(answer.judged, field)):
            groups.setdefault(getattr(answer.judged, field), []).append(answer)
    report: dict[str, Any] = {
        "search": {name: compute_figures(group) for name, group in groups.items()},
        "nothing fits": {
            "negatives": len(negatives),
            "negatives called weak or empty": _share(answer.grade != FOUND for answer in negatives),
            "right answers called weak": _share(
                answer.grade == WEAK for answer in ranked if answer.rank == 1
            ),
        },
    }
    if diagnosed:
        report["diagnosis"] = {}
        for kind in DIAGNOSED_KINDS:
            answers = [answer for answer in diagnosed if answer.judged.kind == kind]
            confidence = Counter(answer.grade if answer.found else "none" for answer in answers)
            report["diagnosis"][kind] = compute_figures(answers) | {"confidence": confidence}
        report["sureness"] = sureness(diagnosed)
    return report


def _share(holds: Iterable[bool]) -> float:
    values = list(holds)
    return sum(values) / (len(values) or 1)


def build_index(
    folder: Path, documents: Iterable[Document], embedder: Embedder | None = None
) -> EmbeddedIndex:
    """Write the index of some documents, with their words if there is an embedder, to an empty folder, and open it."""
    update_index(folder, None, {each.id: each for each in documents}, (), ())
    if embedder:
        embed_words(folder, None, embedder, lambda: None)
    return EmbeddedIndex(folder)


class Bench:
    """Answers judged queries. The index without one language is built on first use."""

    def __init__(self, settings: Settings, analyzers: Analyzers | None = None) -> None:
        self._settings, self._analyzers = settings, analyzers or analyzers_of(settings)
        knowledge = Knowledge(settings, analyzers=self._analyzers)
        knowledge.build()
        self._snapshot = knowledge.snapshot
        self._hidden: dict[Language, Searcher] = {}

    def resolve(self, judged: JudgedQuery) -> JudgedQuery:
        """Return the query with the current ids of the expected entries. Raises JiedaError for an unknown id."""
        current = {each: self._snapshot.library.resolve(each) for each in judged.expected}
        if unknown := [each for each, entry_id in current.items() if entry_id is None]:
            raise JiedaError(
                f"query {judged.id} expects {', '.join(unknown)}, which is not an entry of the content"
            )
        return replace(judged, expected=tuple(filter(None, current.values())))

    def search(self, judged: JudgedQuery, *, hidden: bool = False) -> QueryResult:
        """Search all editions as every surface does; if `hidden`, only those in the other language. Raises JiedaError
        if there are none."""
        request = SearchRequest(judged.query, display_language(judged), limit=DEPTH)
        if hidden:
            answer = self._other_language(Language(judged.lang)).search(request)
        else:
            _, answer = search_and_judge(self._snapshot, request)
        found = _listed(answer)
        return QueryResult(judged, found, _grade(answer), rank_of(found, judged.expected) == 1)

    def diagnose(self, judged: JudgedQuery) -> QueryResult:
        """Diagnose a text as every surface does: below a single line, search hits are shown as well."""
        request = SearchRequest(judged.query, display_language(judged))
        diagnosis, answer = search_and_judge(self._snapshot, request)
        found = tuple(match.entry.id for match in diagnosis.matches)
        grade, shown = str(diagnosis.confidence or ""), found
        if "\n" not in judged.query.strip():
            grade, shown = grade or _grade(answer), found + _listed(answer)
        return QueryResult(judged, found, grade, rank_of(shown, judged.expected) == 1)

    def misses(self, ranked: Iterable[QueryResult], *, hidden: bool) -> Iterator[str]:
        """Yield lines on each query whose right entry is not first: what was found instead, with scores."""
        for answer in ranked:
            if answer.rank == 1:
                continue
            judged = answer.judged
            place = f"place {answer.rank}" if answer.rank else f"not among the first {DEPTH}"
            yield f"{judged.id} [{judged.kind}, {judged.lang}] {judged.query[:160]!r}"
            yield f"  expected {', '.join(judged.expected)}: {place}"
            searcher = self._other_language(Language(judged.lang)) if hidden else self._snapshot.searcher
            right = [answer.found[answer.rank - 1]] if answer.rank else []
            for entry_id in [*answer.found[:SHOWN_INSTEAD], *right]:
                yield f"  {entry_id}"
                for part in searcher.explain(judged.query, entry_id)[:EXPLAINED]:
                    yield f"    {part.score:6.2f} {part.label} ({part.source}, {part.zone}, {part.term})"

    def _other_language(self, lang: Language) -> Searcher:
        if lang not in self._hidden:
            library = Loaded(self._settings.content, languages=frozenset({lang.other})).library()
            if not library.entries:
                raise JiedaError(f"no edition is left when those in {lang} are hidden")
            analyzer, embedder = self._snapshot.searcher.analyzer, self._analyzers.embedder
            glossary = Glossary(library.glossary, analyzer)
            documents = build_documents(library, analyzer, glossary, (lang.other,), embedder)
            index = build_index(Path(mkdtemp(dir=self._settings.data)), documents, embedder)
            dictionary = self._analyzers.dictionary
            self._hidden[lang] = Searcher(library, index, analyzer, glossary, embedder, dictionary=dictionary)
        return self._hidden[lang]


def _listed(answer: SearchAnswer) -> tuple[str, ...]:
    return tuple(hit.entry.id for hit in answer.hits)


def _grade(answer: SearchAnswer) -> str:
    """Return the grade of the hits of a search; empty without any."""
    return (WEAK if answer.weak else FOUND) if answer.hits else ""
