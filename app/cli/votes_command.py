"""`jieda votes`: what readers said under the entries, for those who maintain them; the next to improve comes first."""

from datetime import datetime

import click

from app.cli.asking import settings_of
from app.cli.running import run
from app.errors import JiedaError
from app.feedback import FeedbackStore, FeedbackUnusable


@click.command("votes")
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DAY",
    help="Only votes from this day on, such as 2026-01-31.",
)
def command(since: datetime | None) -> None:
    """Print how often readers said that an entry solved their problem, the least helpful first."""
    try:
        counts = FeedbackStore(settings_of(()).data).votes(since.date().isoformat() if since else "")
    except FeedbackUnusable as error:
        raise JiedaError(f"votes cannot be read: {error}") from error
    for each in sorted(counts, key=lambda count: (-count.unsolved, count.solved, count.entry, count.lang)):
        click.echo(f"{each.unsolved:6} no {each.solved:6} yes  {each.lang}  {each.entry}")
    if not counts:
        click.echo("No votes yet.")


if __name__ == "__main__":
    run(command)
