"""`jieda check`, `jieda new` and `jieda sync`: what the writers of entries use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from app.analysis.pipeline import Analyzer
from app.cli.running import run, writing
from app.content.authoring.scaffold import write_skeletons
from app.content.authoring.sync import sync_twins, twin_ids
from app.content.check.everything import Answers, check_content
from app.content.read.load import load_corpus
from app.entry import Kind, Language
from app.search.answers import Fit
from app.settings import Settings
from app.snapshot.knowledge import Knowledge

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
@content_option
@click.option(
    "--search",
    "searches",
    is_flag=True,
    help="Build an index as well, and note samples that are not diagnosed as their entry and glossary groups whose"
    " words find nothing. Takes longer.",
)
@click.pass_context
def check(context: click.Context, directories: tuple[Path, ...], searches: bool) -> None:
    """Report everything wrong in the content as `path:line: rule: message`; exit 1 where there is any.

    Notes, from --search, are printed as `path:line: note: rule: message` and do not count as wrong.
    """
    chosen = content_directories(directories)
    with answers_of(chosen) if searches else nullcontext() as answers:
        report = check_content(chosen, lambda dictionary: Analyzer(dictionary).keeps_whole, answers)
    for problem in report.problems:
        click.echo(str(problem))
    for note in report.notes:
        click.echo(f"{note.path}:{note.line}: note: {note.rule}: {note.message}")
    files = len({problem.path for problem in report.problems})
    found = f"{len(report.problems)} problems in {files} files" if files else "no problems"
    click.echo(f"{report.entries} entries in {report.editions} editions: {found}", err=True)
    context.exit(1 if report.problems else 0)


@contextmanager
def answers_of(directories: tuple[Path, ...]) -> Iterator[Answers]:
    """What some content answers, by an index in a temporary directory.

    Raises ContentError as `check_content` does, JiedaError where nothing can be written there.
    """
    with TemporaryDirectory(prefix="jieda-") as data:
        given = {"content": os.pathsep.join(map(str, directories)), "data": data}
        knowledge = Knowledge(Settings.load(os.environ, **given))
        knowledge.build()
        snapshot = knowledge.snapshot

        def diagnosed(log: str) -> list[str]:
            return [match.entry.id for match in snapshot.diagnoser.diagnose(log, Language.EN).matches]

        yield Answers(lambda text: snapshot.searcher.fit(text) is not Fit.NOTHING, diagnosed)


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
    with writing():
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
    with writing():
        for path in sync_twins(corpus, twin_ids(corpus) if every else ids):
            click.echo(str(path))


if __name__ == "__main__":
    run(check, new, sync)
