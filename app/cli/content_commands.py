"""`jieda check`, `jieda new` and `jieda sync`: what the writers of entries use."""

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from app.content.load import load_corpus, load_library
from app.content.scaffold import write_skeletons
from app.content.sync import sync_twins, twin_ids
from app.entry import Kind
from app.settings import Settings

content_option = click.option(
    "--content",
    "directories",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Content directory; give it several times and a later one overrides.  [default: JIEDA_CONTENT]",
)


def content_directories(given: tuple[Path, ...]) -> tuple[Path, ...]:
    """The directories given, or those of the settings. Raises SettingsError."""
    return given or Settings.load(os.environ).content


@click.command()
@content_option
@click.pass_context
def check(context: click.Context, directories: tuple[Path, ...]) -> None:
    """Report everything wrong in the content as `path:line: rule: message`; exit 1 where there is any."""
    library = load_library(content_directories(directories))
    for problem in library.problems:
        click.echo(str(problem))
    editions = sum(len(entry.editions) for entry in library.entries.values())
    files = len({problem.path for problem in library.problems})
    found = f"{len(library.problems)} problems in {files} files" if files else "no problems"
    click.echo(f"{len(library.entries)} entries in {editions} editions: {found}", err=True)
    context.exit(1 if library.problems else 0)


@click.command()
@click.argument("entry_id", metavar="ID")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in Kind]),
    required=True,
    help="What sort of question it answers.",
)
@content_option
def new(entry_id: str, kind: str, directories: tuple[Path, ...]) -> None:
    """Write skeletons of both editions of ID, <framework>/<slug>, into the (last) content directory."""
    chosen = content_directories(directories)
    taxonomy = load_corpus(chosen).taxonomy
    today = datetime.now(UTC).date()
    for path in write_skeletons(chosen[-1], taxonomy, entry_id, Kind(kind), today):
        click.echo(str(path))


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every entry that has both editions.")
@content_option
def sync(ids: tuple[str, ...], every: bool, directories: tuple[Path, ...]) -> None:
    """Declare the two editions of each ID equal: stamp `synced_with` in both."""
    if every == bool(ids):
        raise click.UsageError("Name the entries, or say --all.")
    corpus = load_corpus(content_directories(directories))
    for path in sync_twins(corpus, twin_ids(corpus) if every else ids):
        click.echo(str(path))
