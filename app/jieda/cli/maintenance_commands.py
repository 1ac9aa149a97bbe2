"""`jieda mv`, `jieda fmt`, `jieda stats` and `jieda sync`: maintenance of many entries."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import click

from jieda.cli.running import content_option, day, note, print_json, texts, translate
from jieda.content.authoring.moving import plan_move
from jieda.content.authoring.source_text import in_canonical_order, sync_twins, twin_ids
from jieda.content.authoring.writing import Create, Rename, Rewrite, Step, carry_out
from jieda.content.read.corpus import Corpus, newest, stale_languages
from jieda.content.read.directory import list_directory
from jieda.content.read.load import Loaded
from jieda.entry import Kind, Language
from jieda.errors import AuthoringError
from jieda.han import is_east_asian
from jieda.settings import content_directories


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@content_option
def mv(old: str, new: str, dry_run: bool, directories: tuple[Path, ...]) -> None:
    """Change the id of the entry OLD to NEW, each <framework>/<slug>, in all content directories.

    Both editions, their samples and, if the framework changes, their images are renamed; links and `related` of other
    entries follow; OLD stays an old address (`formerly`) that leads to NEW. Nothing else changes in any file, and
    either everything is done or nothing. Prints every file that is changed or renamed.
    """
    chosen = content_directories(directories)
    steps, unread = plan_move(chosen, Loaded(chosen).corpus, old, new)
    for path in unread:
        note(f"{path}: cannot be read and stays as it is; see `jieda check`")
    if not dry_run:
        carry_out(steps)
    for step in steps:
        click.echo(translate(_describe(step)))
    if dry_run:
        note("nothing was changed (--dry-run)")


def _describe(step: Step) -> str:
    match step:
        case Rewrite():
            return f"change {step.path}"
        case Create():
            return f"copy to {step.path}"
        case Rename():
            return f"rename {step.source} to {step.target}"


@click.command()
@click.argument(
    "files", metavar="[FILE]...", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--check", "only_check", is_flag=True, help="Change nothing; exit with 1 if a file would change."
)
@content_option
def fmt(files: tuple[Path, ...], only_check: bool, directories: tuple[Path, ...]) -> int:
    """Put the front matter of each FILE, or of all entries, into the order of docs/content-format.md.

    Comments stay above their field, values and quotes as they are written; the text below the front matter is never
    touched. Prints the files that change. Exit code: 1 if a file cannot be put in order or, with --check, is not in
    order.
    """
    found = False
    for path in files or [
        directory / file.where
        for directory in content_directories(directories)
        for file in list_directory(directory).editions
    ]:
        content = path.read_bytes()
        try:
            ordered = in_canonical_order(content)
        except AuthoringError as error:
            note(f"{path}: {error}")
            found = True
            continue
        if ordered != content:
            found = found or only_check
            click.echo(str(path))
            if not only_check:
                carry_out([Rewrite(path.resolve(), ordered)])
    return 1 if found else 0


AGES: Mapping[str, int | None] = {
    "<= 30 days": 30,
    "<= 90 days": 90,
    "<= 180 days": 180,
    "<= 365 days": 365,
    "older": None,
}
"""Age buckets, youngest first: their most days by name; None for no limit."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--on", type=day, help="Count ages up to this day, such as 2026-01-31; by default today.")
@content_option
def stats(as_json: bool, on: date | None, directories: tuple[Path, ...]) -> None:
    """Count entries by framework and by kind: editions in each language, stale editions, drafts, samples and ages.

    The age of an entry counts from the last change of either edition (`updated`). Drafts are counted in their own
    column only. An edition is stale if its twin has changed since the two were last synced.
    """
    today = on or datetime.now(UTC).date()
    figures = _figures(Loaded(content_directories(directories)).corpus, today)
    if as_json:
        print_json({"on": today.isoformat(), **figures})
    else:
        click.echo("\n".join(_table(figures)))


def _figures(corpus: Corpus, today: date) -> dict[str, Any]:
    """Return the counts of all entries, and of those of each framework and kind that has any."""
    frameworks: dict[str, list[str]] = {name: [] for name in corpus.taxonomy.framework}
    kinds: dict[str, list[str]] = {kind.value: [] for kind in Kind}
    for entry_id, editions in corpus.by_id.items():
        frameworks[entry_id.partition("/")[0]].append(entry_id)
        kinds[newest(editions).front.kind].append(entry_id)
    return {
        "all": _group(corpus, list(corpus.by_id), today),
        "frameworks": {name: _group(corpus, ids, today) for name, ids in frameworks.items() if ids},
        "kinds": {name: _group(corpus, ids, today) for name, ids in kinds.items() if ids},
    }


def _group(corpus: Corpus, ids: Sequence[str], today: date) -> dict[str, Any]:
    shown = [corpus.published[each] for each in ids if each in corpus.published]
    stale = [lang for editions in shown for lang in stale_languages(editions)]
    days = [(today - max(file.updated for file in editions.values())).days for editions in shown]
    ages = [next(name for name, most in AGES.items() if most is None or each <= most) for each in days]
    return {
        "entries": len(shown),
        "drafts": sum(len(corpus.published.get(each, {})) < len(corpus.by_id[each]) for each in ids),
        "editions": {lang: sum(lang in editions for editions in shown) for lang in Language},
        "stale": {lang: stale.count(lang) for lang in Language},
        "samples": sum(len(corpus.samples.get(each, ())) for each in ids),
        "ages": {name: ages.count(name) for name in AGES},
    }


def _table(figures: Mapping[str, Any]) -> Iterator[str]:
    t = texts()
    stale = [t("stats.stale", edition=lang) for lang in Language]
    ages = [t("stats.days", days=most) if most else t("stats.older") for most in AGES.values()]
    rows = [("", t("stats.entries"), *Language, *stale, t("stats.drafts"), t("stats.samples"), *ages)]
    total = (t("stats.all"), figures["all"])
    for name, group in (*figures["frameworks"].items(), *figures["kinds"].items(), total):
        counts = (group["entries"], *group["editions"].values(), *group["stale"].values(), group["drafts"])
        rows.append((name, *map(str, (*counts, group["samples"], *group["ages"].values()))))
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        spaces = [" " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = map(str.__add__, spaces[1:], row[1:])
        yield "  ".join((row[0] + spaces[0], *cells)).rstrip()


def _width(text: str) -> int:
    """Return the columns of a text in a terminal, where a Chinese character takes two."""
    return len(text) + sum(map(is_east_asian, text))


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every entry that has both editions.")
@content_option
def sync(ids: tuple[str, ...], every: bool, directories: tuple[Path, ...]) -> None:
    """Mark the two editions of each ID as saying the same: write `synced_with` into both."""
    if every == bool(ids):
        raise click.UsageError("Name either the entries or --all.")
    corpus = Loaded(content_directories(directories)).corpus
    for path in sync_twins(corpus, twin_ids(corpus) if every else ids):
        click.echo(str(path))
