"""`jieda eval`: metrics of search and diagnosis over judged queries."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from jieda.cli.running import content_option, print_json
from jieda.evaluation.figures import NEGATIVE, SEARCHED_KINDS, Bench, full_report, read_judged
from jieda.settings import Settings


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
    queries = [query for file in files for query in read_judged(file)]
    if hidden := bool(hide_lang):
        queries = [query for query in queries if query.lang != "mixed"]
    with tempfile.TemporaryDirectory(prefix="jieda-eval-") as folder:
        bench = Bench(Settings.load(os.environ, content=directories, data=folder, engine="whoosh"))
        queries = list(map(bench.resolve, queries))
        to_search = [query for query in queries if query.kind in {*SEARCHED_KINDS, NEGATIVE}]
        searched = [bench.search(query, hidden=hidden) for query in to_search]
        report = full_report(searched, [] if hidden else list(map(bench.diagnose, queries)))
        if as_json:
            print_json(report)
        else:
            click.echo("\n".join(_table(report)))
        if failures:
            ranked = [result for result in searched if result.judged.kind != NEGATIVE]
            click.echo("\n".join(bench.misses(ranked, hidden=hidden)))


FIGURES = ("queries", "right_first", "in_five", "mrr", "zero_results")


def _table(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report as a table; its columns are those of `compute_figures`."""
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
