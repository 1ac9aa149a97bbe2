"""`jieda new`: drafts of a new entry, empty or based on a log."""

import os
from collections.abc import Mapping
from pathlib import Path

import click

from jieda.cli.asking import ask, local_client
from jieda.cli.diagnose import end_of, read_chunks
from jieda.cli.running import content_option, note, texts, translate
from jieda.content.authoring.edition_text import check_id, skeletons
from jieda.content.authoring.writing import Create, carry_out
from jieda.content.read.forms import FrontMatter
from jieda.content.read.load import Loaded
from jieda.diagnosis.answers import Verdict
from jieda.entry import Kind, Language
from jieda.feedback import today
from jieda.settings import Settings, content_directories
from jieda.usecases.diagnose import diagnose
from jieda.usecases.from_log import draft_from_log


@click.command("new")
@click.argument("entry_id", metavar="[ID]", default="")
@click.option(
    "--kind", type=click.Choice([kind.value for kind in Kind]), help="What kind of question it answers."
)
@click.option(
    "--from-log",
    "log",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="Draft an error from this log (-: standard input): error line, signature, tags and sample are filled in.",
)
@click.option(
    "--framework", default="", help="With --from-log and without ID: the framework that it is about."
)
@click.option(
    "--force", is_flag=True, help="With --from-log: draft it even if an entry already explains the log."
)
@content_option
def command(  # noqa: PLR0913 - one parameter for each option
    *,
    entry_id: str,
    kind: str | None,
    log: Path | None,
    framework: str,
    force: bool,
    directories: tuple[Path, ...],
) -> int:
    """Write the skeleton of ID, <framework>/<slug>, into the (last) content directory, in each language that the
    content has.

    With --from-log, ID can be left out. Every guess is named under `doubts`, and secrets in the log are masked. If an
    entry already explains the log, it is named and nothing is written: exit code 1.
    """
    chosen = content_directories(directories)
    if log is not None:
        if kind not in {None, Kind.ERROR.value}:
            raise click.UsageError("--from-log drafts an error: leave --kind out")
        return _from_log(log, chosen, entry_id, framework, force=force)
    if not entry_id or kind is None:
        raise click.UsageError("Name the ID and its --kind, or use --from-log.")
    corpus, framework = Loaded(chosen).corpus, entry_id.partition("/")[0]
    check_id(corpus.taxonomy, entry_id)
    texts = skeletons(corpus, framework, FrontMatter(kind=Kind(kind), updated=today()))
    _write(chosen[-1], {f"{lang}/{entry_id}.md": text for lang, text in texts.items()})
    return 0


def _write(directory: Path, files: Mapping[str, str]) -> None:
    """Write new files, by path below a content directory, and name them."""
    steps = [Create(directory / where, text.encode()) for where, text in files.items()]
    carry_out(steps)
    for step in steps:
        click.echo(str(step.path))


def _from_log(
    file: Path, directories: tuple[Path, ...], entry_id: str, framework: str, *, force: bool
) -> int:
    log = end_of(read_chunks(file), Settings.load(os.environ).max_log_bytes).decode("utf-8", "replace")
    if not log:
        raise click.UsageError("the log is empty")
    client = local_client(directories)
    found = ask(diagnose(client.service, log, Language.EN, framework)).diagnosis
    if found.verdict is Verdict.KNOWN and not force:
        match = found.matches[0]
        known = translate(f"{match.entry.id} already explains this log ({match.confidence})")
        click.echo(f"{known}{texts()('list.colon')}{match.edition.title}")
        note("nothing was written; --force drafts an entry anyway")
        return 1
    files, has_secrets = draft_from_log(log, found, Loaded(directories), entry_id, framework)
    _write(directories[-1], files)
    if has_secrets:
        note("tokens, keys and passwords in the sample were masked (***)")
    note("look through the sample for names, hosts and paths before you share it")
    return 0
