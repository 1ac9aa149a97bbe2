"""`jieda eval`: figures of search and diagnosis over judged queries."""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from app.analysis.pipeline import Analyzer
from app.cli.content_commands import content_directories, content_option
from app.content.load import load_library
from app.entry import Language
from app.errors import JiedaError
from app.knowledge import build_snapshot
from app.search import evaluate
from app.search.answers import SearchAnswer, SearchRequest
from app.search.document import build_documents
from app.search.evaluate import Diagnosed, Judged, Ranked
from app.search.searcher import Searcher
from app.search.store import IndexStore

SHOWN_INSTEAD = 3
EXPLAINED = 8


@click.command("eval")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--hide-lang",
    type=click.Choice(["query"]),
    help="Hide, for each query, the editions in its own language: titles, aliases and tag names, too. "
    "Mixed queries have no one language and are left out.",
)
@click.option("--failures", is_flag=True, help="Show each miss, what came instead and why.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@content_option
def command(
    file: Path, hide_lang: str | None, failures: bool, as_json: bool, directories: tuple[Path, ...]
) -> None:
    """Run the judged queries of FILE, JSON lines {id, kind, lang, query, expected}, and print how well they fare.

    Questions, errors and paraphrases go through search; errors, tracebacks and negatives through diagnosis.
    """
    judged = [one for one in evaluate.read_judged(file) if not (hide_lang and one.lang == "mixed")]
    with tempfile.TemporaryDirectory(prefix="jieda-eval-") as folder:
        bench = Bench(content_directories(directories), Path(folder))
        searched = [one for one in judged if one.kind in evaluate.SEARCHED_KINDS]
        search_for = bench.hidden if hide_lang else bench.full
        ranked = evaluate.search_all(searched, search_for)
        negative = evaluate.search_all([one for one in judged if one.kind == "negative"], search_for)
        diagnosed = () if hide_lang else evaluate.diagnose_all(judged, bench.diagnose)
        report = _report(ranked, negative, diagnosed)
        click.echo(json.dumps(report, indent=2) if as_json else "\n".join(_lines(report)))
        if failures:
            click.echo("\n".join(bench.misses(ranked, hidden=bool(hide_lang))))


class Bench:
    """The searches that judged queries are run through, each built from the content when first asked for."""

    def __init__(self, directories: Sequence[Path], folder: Path) -> None:
        self._directories = directories
        self._store = IndexStore(folder)
        library = load_library(directories)
        self._analyzer = Analyzer(library.dictionary)
        self._snapshot = build_snapshot(library, self._analyzer, self._store)
        self._without: dict[Language, Searcher] = {}

    def full(self, _: Judged) -> Callable[[SearchRequest], SearchAnswer]:
        """Search over everything."""
        return self._snapshot.searcher.search

    def hidden(self, judged: Judged) -> Callable[[SearchRequest], SearchAnswer]:
        """Search without the editions in the query's own language. Raises JiedaError where nothing is left."""
        return self._hidden(Language(judged.lang)).search

    def diagnose(self, judged: Judged) -> Diagnosed:
        """Diagnosis over everything."""
        found = self._snapshot.diagnoser.diagnose(judged.query, evaluate.display_language(judged))
        ids = tuple(match.entry.id for match in found.matches)
        confidence = found.matches[0].confidence if found.matches else None
        return Diagnosed(judged, evaluate.rank_of(ids, judged.expected), ids, confidence)

    def misses(self, ranked: Sequence[Ranked], *, hidden: bool) -> Iterator[str]:
        """A block for each query whose right entry isn't first: what came instead, and what it scored by."""
        for one in (one for one in ranked if one.rank != 1):
            yield f"{one.judged.id} [{one.judged.kind}, {one.judged.lang}] {one.judged.query[:160]!r}"
            yield f"  expected {', '.join(one.judged.expected)}: " + (
                f"place {one.rank}" if one.rank else "not found"
            )
            searcher = self._hidden(Language(one.judged.lang)) if hidden else self._snapshot.searcher
            right = [one.found[one.rank - 1]] if one.rank else []
            for entry_id in [*one.found[:SHOWN_INSTEAD], *right]:
                yield f"  {entry_id}"
                for part in searcher.explain(one.judged.query, entry_id)[:EXPLAINED]:
                    yield f"    {part.score:6.2f} {part.label} ({part.source}, {part.zone}, {part.term})"

    def _hidden(self, lang: Language) -> Searcher:
        if lang not in self._without:
            library = load_library(self._directories, languages=frozenset({lang.other}))
            if not library.entries:
                raise JiedaError(f"no edition is left when those in {lang} are hidden")
            engine = self._store.open(
                f"without-{lang}", lambda: build_documents(library, self._analyzer, (lang.other,))
            )
            self._without[lang] = Searcher(library, engine, self._analyzer)
        return self._without[lang]


def _report(
    ranked: Sequence[Ranked], negative: Sequence[Ranked], diagnosed: Sequence[Diagnosed]
) -> dict[str, object]:
    report: dict[str, object] = {
        "search": {"all": asdict(evaluate.figures(ranked))}
        | {key: asdict(value) for key, value in evaluate.by(ranked, lambda one: one.kind).items()}
        | {key: asdict(value) for key, value in evaluate.by(ranked, lambda one: one.lang).items()},
        "nothing fits": {
            "negatives": len(negative),
            "below the threshold that keeps 95% of right answers": evaluate.negatives_rejected(
                ranked, negative
            ),
            "negatives called weak or empty": _share(negative, lambda one: one.weak or not one.found),
            "right answers called weak": _share(
                [one for one in ranked if one.rank == 1], lambda one: one.weak
            ),
        },
    }
    if diagnosed:
        report["diagnosis"] = {
            kind: asdict(evaluate.figures([one for one in diagnosed if one.judged.kind == kind]))
            | {"confidence": _confidences([one for one in diagnosed if one.judged.kind == kind])}
            for kind in evaluate.DIAGNOSED_KINDS
        }
    return report


def _share(results: Sequence[Ranked], holds: Callable[[Ranked], bool]) -> float:
    return sum(map(holds, results)) / len(results) if results else 0.0


def _confidences(diagnosed: Sequence[Diagnosed]) -> Mapping[str, int]:
    return Counter(str(one.confidence) if one.confidence else "none" for one in diagnosed)


FIGURES = ("queries", "right_first", "in_five", "mrr", "zero_results")


def _lines(report: Mapping[str, object]) -> Iterator[str]:
    """The report as a table; column names are those of `evaluate.Figures`."""
    yield f"{'search':<14}" + "".join(f"{name:>13}" for name in FIGURES)
    yield from _rows(report["search"])
    yield ""
    for name, value in _items(report["nothing fits"]):
        yield f"{name}: {value if isinstance(value, int) else f'{value:.3f}'}"
    if "diagnosis" in report:
        yield ""
        yield f"{'diagnosis':<14}" + "".join(f"{name:>13}" for name in FIGURES) + "  first match"
        yield from _rows(report["diagnosis"])


def _rows(table: object) -> Iterator[str]:
    for name, row in _items(table):
        cells = "".join(f"{row[key]:>13}" if key == "queries" else f"{row[key]:>13.3f}" for key in FIGURES)
        confidence = ", ".join(f"{word} {count}" for word, count in sorted(row.get("confidence", {}).items()))
        yield f"{name:<14}{cells}  {confidence}".rstrip()


def _items(value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
