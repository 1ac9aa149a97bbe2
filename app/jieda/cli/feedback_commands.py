"""`jieda gaps` and `jieda votes`: unanswered questions, readers' votes and other work for maintainers."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path

import click

from jieda.cli.asking import local_client
from jieda.cli.running import content_option, day, note, print_json, texts
from jieda.entry import Language, Summary
from jieda.errors import JiedaError
from jieda.feedback import FeedbackStore, FeedbackUnusable, VoteCount
from jieda.locales.translations import Translate
from jieda.settings import Settings
from jieda.snapshot.store.generation import read_generation, read_pointer
from jieda.usecases.gaps.maintenance import Maintenance, maintenance

WIDTH = 100
"""Characters printed of a gap."""
LISTS = "gaps voted_down reports never_read stale missing problems drafts unverified".split()
"""Fields of `Maintenance` that list work."""


@click.command("gaps")
@click.option(
    "--days", type=click.IntRange(1, 3650), default=90, show_default=True, help="How far to look back."
)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Lines per list.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--forget", is_flag=True, help="Delete all unanswered questions and reads. Votes stay.")
@content_option
def gaps(days: int, limit: int, as_json: bool, forget: bool, directories: tuple[Path, ...]) -> int:
    """Show unanswered questions, most frequent first, and what else needs attention; exit with 1 if there are none.

    Reads the data directory of a server with this content (JIEDA_DATA), and prints its path.
    """
    settings = Settings.load(os.environ, content=directories)
    store = FeedbackStore(settings.data)
    if forget:
        try:
            store.clear_gaps()
        except FeedbackUnusable as error:
            raise JiedaError(f"{store.gaps}: cannot be emptied: {error}") from error
        note(f"{store.gaps}: emptied")
        return 0
    service = local_client(directories).service
    found = maintenance(service, service.current(), days)
    if found.unreadable:
        raise JiedaError(f"{settings.data}: the counts in it cannot be read: {found.unreadable}")
    if as_json:
        print_json(_as_data(found, str(settings.data), limit))
    else:
        click.echo(_as_text(found, limit))
    # A server may be configured differently: this states only the local setting.
    kept = "gaps are kept." if settings.gaps else "gaps are not kept (JIEDA_GAPS is 0)."
    note(f"{settings.data}: {kept}")
    return 0 if found.gaps else 1


def _as_data(found: Maintenance, data: str, limit: int) -> dict[str, object]:
    """Return JSON data; each list has at most `limit` items, `totals` counts all."""
    return {
        "data": data,
        "days": found.days,
        "totals": {
            "asked": sum(each.count for each in found.gaps),
            **{name: len(getattr(found, name) or ()) for name in LISTS},
        },
        "gaps": [asdict(each) | {"last": each.last} for each in found.gaps[:limit]],
        "voted_down": [
            {"id": each.entry, "lang": each.lang, "solved": each.solved, "unsolved": each.unsolved}
            for each in found.voted_down[:limit]
        ],
        "reports": [each._asdict() for each in found.reports[:limit]],
        "never_read": None if found.never_read is None else [each.id for each in found.never_read[:limit]],
        "stale": _editions(found.stale[:limit]),
        "missing": _editions(found.missing[:limit]),
        "problems": [
            {"path": each.path, "line": each.line, "rule": each.rule, "message": each.message}
            for each in found.problems[:limit]
        ],
        "drafts": list(found.drafts[:limit]),
        "unverified": [each.id for each in found.unverified[:limit]],
    }


def _editions(editions: Sequence[tuple[Summary, Language]]) -> list[dict[str, str]]:
    return [{"id": summary.id, "lang": lang} for summary, lang in editions]


def _as_text(found: Maintenance, limit: int) -> str:
    """Return a table of the gaps, then one block per kind of work, with what to do about it."""
    t = texts()
    blocks = ["\n".join(_table(found, limit, t))]
    for name, lines in _blocks(found, t).items():
        if lines:
            count = t("list.parenthesis", text=str(len(lines)))
            head = f"{t(f'maintain.{name}')}{count}{t('list.colon')}{t(f'maintain.{name}_what')}"
            blocks.append("\n".join([head, *_first(lines, limit, t)]))
    return "\n\n".join(blocks)


def _table(found: Maintenance, limit: int, t: Translate) -> Iterator[str]:
    if not found.gaps:
        yield t("maintain.gaps_none")
        return
    total = sum(each.count for each in found.gaps)
    yield t("gaps.head", count=found.days, questions=len(found.gaps), total=total)
    yield t("gaps.columns")
    rows = []
    for each in found.gaps:
        # The type of the root error, and the words.
        question = ": ".join(filter(None, (each.failure.partition(" ")[0], each.text)))
        langs = " ".join(f"{each.langs.get(lang, 0):5}" for lang in Language)
        rows.append(f"{each.count:7}  {each.last}  {langs}  {each.source:8}  {question[:WIDTH]}")
    yield from _first(rows, limit, t)


def _first(lines: Sequence[str], limit: int, t: Translate) -> Iterator[str]:
    yield from lines[:limit]
    if len(lines) > limit:
        yield f"  … {t('filter.more', count=len(lines) - limit)}"


def _blocks(found: Maintenance, t: Translate) -> dict[str, list[str]]:
    """Return the lines of each kind of work, by the name that its texts have."""
    return {
        "voted": [_votes(each, t) for each in found.voted_down],
        "reported": [
            f"  {each.day}  {each.outcome:13}  {each.lang}  {each.entry}  {each.text}"
            for each in found.reports
        ],
        "unread": [f"  {each.id}" for each in found.never_read or ()],
        "stale": [f"  {lang}  {summary.id}" for summary, lang in found.stale],
        "missing": [f"  {lang}  {summary.id}" for summary, lang in found.missing],
        "problems": [f"  {each}" for each in found.problems],
        "unverified": [f"  {each.id}" for each in found.unverified],
        "drafts": [f"  {each}" for each in found.drafts],
    }


def _votes(counted: VoteCount, t: Translate) -> str:
    counts = t("maintain.voted_counts", no=f"{counted.unsolved:6}", yes=f"{counted.solved:6}")
    return f"{counts}  {counted.lang}  {counted.entry}"


@click.command("votes")
@click.option("--since", type=day, help="Only votes since this day, such as 2026-01-31.")
@content_option
def votes(since: date | None, directories: tuple[Path, ...]) -> None:
    """Show how often readers said that an entry solved their problem, the least helpful entry first.

    Reads the data directory of a server with this content (JIEDA_DATA), and prints its path.
    """
    data = Settings.load(os.environ, content=directories).data
    note(f"{data}: votes")
    served = read_generation(data, read_pointer(data).generation)
    current_ids = served.header.old_ids if served else {}
    try:
        counts = FeedbackStore(data).votes(current_ids, since.isoformat() if since else "")
    except FeedbackUnusable as error:
        raise JiedaError(f"votes cannot be read: {error}") from error
    t = texts()
    for each in sorted(counts, key=lambda count: (-count.unsolved, count.solved, count.entry, count.lang)):
        click.echo(_votes(each, t))
    if not counts:
        click.echo(t("votes.none"))
