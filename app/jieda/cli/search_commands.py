"""`jieda search`, `jieda read` and `jieda index`: search, read an entry, build the index."""

import os
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import click

from jieda.agents.questions import parse_address
from jieda.cli.asking import ask, client_of, lang_option
from jieda.cli.running import chosen_language, content_option, note, translate, url_option, uses_color
from jieda.entry import Language
from jieda.errors import RemoteError, UnknownEntry
from jieda.locales.translations import Translate, translator
from jieda.presentation import schemas
from jieda.presentation.entry_text import entry_form
from jieda.search.answers import MOST_WEAK, SearchRequest
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.snapshot import SHORT_NAME
from jieda.taxonomy import Filters

MARKS = re.compile(r"<(/?)mark>")
BOLD = {"": "\033[1m", "/": "\033[0m"}

json_option = click.option("--json", "as_json", is_flag=True, help="Print the JSON of the REST API.")


@click.command()
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@lang_option("query")
@click.option("--framework", multiple=True, help="Only entries of this framework; may be repeated.")
@click.option("--kind", multiple=True, help="Only entries of this kind; may be repeated.")
@click.option("--topic", multiple=True, help="Only entries on this topic; may be repeated.")
@click.option(
    "--error-type", "error_type", multiple=True, help="Only entries of this error type; may be repeated."
)
@click.option(
    "--for-version",
    "version",
    multiple=True,
    metavar="'PROGRAM X.Y.Z'",
    help="Leave out entries that do not apply to this version, such as '<framework> 0.2.4'; may be repeated.",
)
@click.option("--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="Entries to show.")
@click.option("--verbatim", is_flag=True, help="Search for exactly this, without corrections.")
@json_option
@url_option
@content_option
def search(  # noqa: PLR0913 - one parameter for each option
    *,
    words: tuple[str, ...],
    lang: Language | None,
    limit: int,
    verbatim: bool,
    as_json: bool,
    url: str,
    directories: tuple[Path, ...],
    **chosen: Any,
) -> int:
    """Search the content; exit with 1 if nothing is found."""
    query = " ".join(words)
    shown = lang or Language.of(query)
    filters = Filters(**chosen)
    client = client_of(url, directories)
    found = ask(client.search(SearchRequest(query, shown, filters, limit, verbatim=verbatim)))
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        click.echo(_as_text(found, translator(shown)), color=uses_color())
    return 0 if found.hits else 1


def _as_text(found: schemas.SearchResult, t: Translate) -> str:
    blocks = []
    if found.correction:
        blocks.append(f"{t('search.corrected')} “{found.correction}”")
    if found.operators:
        blocks.append(t("search.operators", list=" ".join(each.text for each in found.operators)))
    if found.phrase_dropped:
        blocks.append(t("search.phrase_dropped"))
    if found.judgement and found.judgement.is_program_output:
        blocks += _judgement(found.judgement, {hit.id for hit in found.hits}, t)
    elif found.weak:
        blocks.append(t("search.weak"))
    if found.hits and found.absent_words:
        blocks.append(t("search.absent_words", words=t("list.join").join(found.absent_words)))
    for place, hit in enumerate(found.hits[: MOST_WEAK if found.weak else None], 1):
        title = click.style(hit.title, bold=True)
        applies_to = f"  {hit.applies_to}" if hit.applies_to else ""
        if hit.may_not_apply_to:
            applies_to += f"  ({t('diagnosis.may_not_apply', version=hit.may_not_apply_to)})"
        # `echo` drops the codes if they would not be shown.
        bold = MARKS.sub(lambda mark: BOLD[mark[1]], " ".join(hit.snippet.split()))
        snippet = "" if found.weak else f"\n   {unescape(bold)}"
        blocks.append(f"{place}. {title}\n   {hit.id}{applies_to} [{_reasons(hit, t)}]{snippet}")
    return "\n".join(blocks if found.hits else [*blocks, t("search.nothing")])


def _judgement(judgement: schemas.ApiDiagnosis, hits: set[str], t: Translate) -> Iterator[str]:
    """Yield the diagnosis of an error message, without the matches whose ids are among `hits`."""
    yield t("diagnosis.ask") if judgement.asks else t(f"diagnosis.verdict.{judgement.outcome}")
    for match in judgement.matches:
        if match.id not in hits:
            yield f"   {match.title}  {match.id} [{t(f'diagnosis.confidence.{match.confidence}')}]"
    if judgement.elsewhere:
        yield judgement.elsewhere
    for near in judgement.near:
        if near.foreign:
            yield f"   {near.title}  {t('diagnosis.foreign', entry=near.framework, log=judgement.framework)}"


def _reasons(hit: schemas.ApiHit, t: Translate) -> str:
    """Return where and by which words a hit was found, such as `In the title: hang, GPU memory ↔ VRAM`."""
    words: dict[str, list[str]] = {}
    for reason in hit.reasons:
        word = f"{reason.text} ↔ {reason.via}" if reason.via else reason.text
        words.setdefault(t(f"reason.{reason.type}"), []).extend([word] if word else [])
    return "; ".join(
        f"{label}{t('list.colon')}{t('list.join').join(found)}" if found else label
        for label, found in words.items()
    )


@click.command()
@click.argument("entry_id", metavar="ID")
@lang_option("address's or the terminal")
@click.option("--section", default="", help="Only this section, such as fix, cause or answer.")
@json_option
@url_option
@content_option
def read(  # noqa: PLR0913 - one parameter for each option
    *,
    entry_id: str,
    lang: Language | None,
    section: str,
    as_json: bool,
    url: str,
    directories: tuple[Path, ...],
) -> int:
    """Print the entry ID, <framework>/<slug> or the address of its page, as Markdown; exit with 1 if there is none."""
    if section and as_json:
        raise click.UsageError("--section cannot be combined with --json")
    entry_id, its_lang = parse_address(entry_id) or (entry_id, chosen_language())
    client = client_of(url, directories)
    try:
        entry = ask(client.read(entry_id, lang or its_lang))
    except UnknownEntry:
        note(f"jieda: no entry {entry_id!r}; find one with jieda search")
        return 1
    except RemoteError as error:
        if error.status != 404:
            raise
        note(f"jieda: {error}")
        return 1
    t = translator(entry.lang)
    click.echo(entry.model_dump_json(indent=2) if as_json else _markdown(entry, section, t))
    return 0


def _markdown(entry: schemas.ApiEntry, section: str, t: Translate) -> str:
    """Return the whole entry with its title, or one section. Raises click.UsageError for an unknown section."""
    if not section:
        return entry_form(entry, t).rstrip()
    sections = entry.sections()
    if section not in sections:
        raise click.UsageError(f"{entry.id} has no section {section!r}; it has {', '.join(sections)}")
    return sections[section]


@click.command()
@content_option
def index(directories: tuple[Path, ...]) -> None:
    """Build the index if it is missing or out of date, so that the next start only opens it."""
    built = Knowledge(Settings.load(os.environ, content=directories)).build()
    click.echo(translate(f"entries: {built.entries}, generation {built.generation[:SHORT_NAME]}"))
