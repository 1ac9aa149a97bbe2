"""`jieda load`: writes entries from JSON lines to files of a content directory."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click

from jieda.cli.running import content_option, note, texts
from jieda.content.read.gather import load_taxonomies
from jieda.importing.load import Loader, LoadEvent, LoadOutcome, open_record
from jieda.settings import content_directories


@click.command("load")
@click.argument("source", metavar="FILE", type=click.File("rb"))
@click.option(
    "--into",
    required=True,
    metavar="DIRECTORY",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Content directory to write to, best a separate one that JIEDA_CONTENT names, too.",
)
@click.option(
    "--prune",
    is_flag=True,
    help="Remove editions that an earlier load wrote and no line names, unless a line cannot be read at all.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done; write nothing.")
@content_option
def command(
    *, source: BinaryIO, into: Path, prune: bool, dry_run: bool, directories: tuple[Path, ...]
) -> int:
    """Load entries from FILE (-: standard input), one line of JSON per edition, as the API returns it.

    Each becomes <lang>/<framework>/<slug>.md below DIRECTORY. Unchanged files stay untouched; files that no load
    wrote, or that were edited since, are never overwritten. Tags are those of the content directories and of
    DIRECTORY. Exit code: 0 if all lines were loaded, 1 if some were refused or there were none, 2 if nothing can be
    read or written.
    """
    chosen = content_directories(directories)
    if into.resolve() not in {each.resolve() for each in chosen}:
        chosen = (*chosen, into)
    taxonomy = load_taxonomies(chosen).taxonomy
    with open_record(into, dry_run=dry_run) as record:
        loader = Loader(into, taxonomy, record, dry_run)
        path = getattr(source, "name", "")
        name = path if isinstance(path, str) and path not in {"", "<stdin>"} else "standard input"
        counts = Counter(_print_events(loader.load(source), name))
        objection = loader.why_not_prune() if prune else ""
        if prune and not objection:
            counts.update(_print_events(loader.prune(), ""))
    if objection:
        note(f"nothing was removed: {objection}")
    click.echo(_summary(counts, dry_run=dry_run), err=True)
    return 1 if counts[LoadOutcome.REFUSED] or not counts else 0


def _print_events(events: Iterator[LoadEvent], name: str) -> Iterator[LoadOutcome]:
    for event in events:
        if event.outcome is LoadOutcome.REFUSED:
            place = f"{name}:{event.number}" if event.number else event.path
            for field, fault in event.faults:
                note(fault, prefix="".join(f"{each}: " for each in (place, field) if each))
        elif event.outcome is not LoadOutcome.UNCHANGED:
            click.echo(f"{texts()(f'importing.status.{event.outcome}')} {event.path}")
        yield event.outcome


def _summary(counts: Counter[LoadOutcome], *, dry_run: bool) -> str:
    t = texts()
    if not counts:
        return t("load.empty")
    summary = t("list.join").join(f"{counts[each]} {t(f'importing.status.{each}')}" for each in LoadOutcome)
    return t("list.semicolon").join((summary, t("importing.dry"))) if dry_run else summary
