"""`jieda sync`, and the option that says which content a command works on."""

import os
from pathlib import Path

import click

from app.cli.running import run, writing
from app.content.authoring.source_text import sync_twins, twin_ids
from app.content.read.load import load_corpus
from app.settings import Settings

content_option = click.option(
    "--content",
    "directories",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Content directory; may be repeated, and a later one overrides.  [default: JIEDA_CONTENT]",
)


def content_directories(given: tuple[Path, ...]) -> tuple[Path, ...]:
    """The directories given, or those of the settings. Raises SettingsError."""
    return given or Settings.load(os.environ).content


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every entry that has both editions.")
@content_option
def sync(ids: tuple[str, ...], every: bool, directories: tuple[Path, ...]) -> None:
    """Declare the two editions of each ID equal: stamp `synced_with` in both."""
    if every == bool(ids):
        raise click.UsageError("Name the entries, or say --all.")
    corpus = load_corpus(content_directories(directories))
    with writing():
        for path in sync_twins(corpus, twin_ids(corpus) if every else ids):
            click.echo(str(path))


if __name__ == "__main__":
    run(sync)
