"""`jieda gaps` and `jieda votes`: unanswered questions, readers' votes and other work for maintainers."""

import os
from datetime import datetime

import click

from jieda.cli.running import print_json, run
from jieda.errors import JiedaError
from jieda.feedback import FeedbackStore, FeedbackUnusable
from jieda.presentation.maintenance import as_data, as_text
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.gaps.maintenance import maintenance
from jieda.usecases.service import Service

OFF = "Gaps are not kept (JIEDA_GAPS is 0)."


@click.command("gaps")
@click.option(
    "--days", type=click.IntRange(1, 3650), default=90, show_default=True, help="How far to look back."
)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Lines per list.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--forget", is_flag=True, help="Delete all unanswered questions and reads. Votes stay.")
def gaps(days: int, limit: int, as_json: bool, forget: bool) -> int:
    """Show unanswered questions, most frequent first, and what else needs attention; exit with 1 if there are none.

    Reads the data directory that the server writes to (JIEDA_DATA), and prints its path.
    """
    settings = Settings.load(os.environ)
    store = FeedbackStore(settings.data)
    if forget:
        try:
            store.clear_gaps()
        except FeedbackUnusable as error:
            raise JiedaError(f"{store.gaps}: cannot be emptied: {error}") from error
        click.echo(f"{store.gaps}: emptied", err=True)
        return 0
    knowledge = Knowledge(settings)
    knowledge.open()
    found = maintenance(Service.of(settings, knowledge), knowledge.snapshot, days)
    if found.unreadable:
        raise JiedaError(f"{settings.data}: what was counted there cannot be read: {found.unreadable}")
    if as_json:
        print_json(as_data(found, str(settings.data), limit))
    else:
        click.echo(as_text(found, limit))
    # The server may be configured differently, so this only states the local setting.
    click.echo(f"{settings.data}: {OFF if not settings.gaps else 'gaps are kept.'}", err=True)
    return 0 if found.gaps else 1


@click.command("votes")
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DAY",
    help="Only votes since this day, such as 2026-01-31.",
)
def votes(since: datetime | None) -> None:
    """Show how often readers said that an entry solved their problem, the least helpful entry first."""
    try:
        counts = FeedbackStore(Settings.load(os.environ).data).votes(
            since.date().isoformat() if since else ""
        )
    except FeedbackUnusable as error:
        raise JiedaError(f"votes cannot be read: {error}") from error
    for each in sorted(counts, key=lambda count: (-count.unsolved, count.solved, count.entry, count.lang)):
        click.echo(f"{each.unsolved:6} no {each.solved:6} yes  {each.lang}  {each.entry}")
    if not counts:
        click.echo("No votes yet.")


if __name__ == "__main__":
    run(gaps, votes)
