"""`jieda eval`: metrics of search and diagnosis over judged queries."""

import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from jieda.cli.running import content_option, run
from jieda.evaluation import figures as evaluate
from jieda.evaluation.figures import Bench, DiagnosedQuery, Ranked
from jieda.settings import Settings, content_directories
from jieda.snapshot.snapshot import Analyzers, dictionary_of, embedder_of


@click.command("eval")
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--hide-lang",
    type=click.Choice(["query"]),
    help="For each query, hide the editions in its own language, including titles, aliases and tag names. "
    "Queries that mix languages are left out.",
)
@click.option("--failures", is_flag=True, help="Show each miss, and what was found instead and why.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@content_option
def command(
    files: tuple[Path, ...],
    hide_lang: str | None,
    failures: bool,
    as_json: bool,
    directories: tuple[Path, ...],
) -> None:
    """Run the judged queries of each FILE, JSON lines {id, kind, lang, query, expected}, and print how well they do.

    Questions, errors and paraphrases go through search; errors, tracebacks and negatives through diagnosis. The last
    table says how often each grade of sureness was right.
    """
    read = (one for file in files for one in evaluate.read_judged(file))
    judged = [one for one in read if not (hide_lang and one.lang == "mixed")]
    with tempfile.TemporaryDirectory(prefix="jieda-eval-") as folder:
        settings = Settings.load(os.environ)
        means = Analyzers(embedder_of(settings), dictionary=dictionary_of(settings, Path(folder)))
        bench = Bench(content_directories(directories), Path(folder), means)
        searched = [one for one in judged if one.kind in evaluate.SEARCHED_KINDS]
        negatives = [one for one in judged if one.kind == "negative"]
        ranked, negative = (bench.search_all(each, hidden=bool(hide_lang)) for each in (searched, negatives))
        diagnosed = () if hide_lang else tuple(map(bench.diagnose, judged))
        report = _report(ranked, negative, diagnosed)
        click.echo(json.dumps(report, indent=2) if as_json else "\n".join(_table(report)))
        if failures:
            click.echo("\n".join(bench.misses(ranked, hidden=bool(hide_lang))))


def _report(
    ranked: Sequence[Ranked], negative: Sequence[Ranked], diagnosed: Sequence[DiagnosedQuery]
) -> dict[str, Any]:
    report: dict[str, Any] = {
        "search": {"all": asdict(evaluate.compute_figures(ranked))}
        | {key: asdict(value) for key, value in evaluate.figures_by(ranked, lambda one: one.kind).items()}
        | {key: asdict(value) for key, value in evaluate.figures_by(ranked, lambda one: one.lang).items()},
        "nothing fits": {
            "negatives": len(negative),
            "negatives called weak or empty": _share(negative, lambda one: one.weak or not one.found),
            "right answers called weak": _share(
                [one for one in ranked if one.rank == 1], lambda one: one.weak
            ),
        },
    }
    if diagnosed:
        report["diagnosis"] = {
            kind: _diagnosis_row([one for one in diagnosed if one.judged.kind == kind])
            for kind in evaluate.DIAGNOSED_KINDS
        }
        report["sureness"] = evaluate.sureness(diagnosed)
    return report


def _share(results: Sequence[Ranked], holds: Callable[[Ranked], bool]) -> float:
    return sum(map(holds, results)) / len(results) if results else 0.0


def _diagnosis_row(diagnosed: Sequence[DiagnosedQuery]) -> dict[str, Any]:
    confidence = Counter(one.grade if one.found else "none" for one in diagnosed)
    return asdict(evaluate.compute_figures(diagnosed)) | {"confidence": confidence}


FIGURES = ("queries", "right_first", "in_five", "mrr", "zero_results")


def _table(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report as a table; columns are named as in `evaluate.Figures`."""
    yield f"{'search':<14}" + "".join(f"{name:>13}" for name in FIGURES)
    yield from _rows(report["search"])
    yield ""
    for name, value in report["nothing fits"].items():
        yield f"{name}: {value if isinstance(value, int) else f'{value:.3f}'}"
    if "diagnosis" in report:
        yield ""
        yield f"{'diagnosis':<14}" + "".join(f"{name:>13}" for name in FIGURES) + "  first match"
        yield from _rows(report["diagnosis"])
        yield ""
        yield f"{'sureness':<14}{'answers':>13}{'right':>13}{'of failures':>13}{'right':>13}"
        for grade, row in report["sureness"].items():
            of_failures = f"{row['failures']:>13}{row['failures_right']:>13.3f}" if row["failures"] else ""
            yield f"{grade:<14}{row['answers']:>13}{row['right']:>13.3f}{of_failures}"


def _rows(table: Mapping[str, Any]) -> Iterator[str]:
    for name, row in table.items():
        cells = "".join(f"{row[key]:>13}" if key == "queries" else f"{row[key]:>13.3f}" for key in FIGURES)
        confidence = ", ".join(f"{word} {count}" for word, count in sorted(row.get("confidence", {}).items()))
        yield f"{name:<14}{cells}  {confidence}".rstrip()


if __name__ == "__main__":
    run(command)
