"""`jieda search` and `jieda index`: the index from the command line."""

import os
import re
from collections.abc import Callable
from functools import partial
from html import unescape
from pathlib import Path

import click

from app.cli.content_commands import content_option
from app.entry import FACETS, Language
from app.knowledge import Knowledge
from app.search.answers import Filters, Hit, SearchAnswer, SearchRequest
from app.settings import Settings
from app.web.api.shapes import Shaper
from app.web.translations import Translations
from app.web.urls import Urls

MARKS = re.compile(r"<(/?)mark>")
BOLD = {"": "\033[1m", "/": "\033[0m"}


def knowledge_of(directories: tuple[Path, ...]) -> Knowledge:
    """The knowledge of these content directories, or those of the settings, open. Raises JiedaError."""
    given = {"content": os.pathsep.join(str(path) for path in directories)} if directories else {}
    knowledge = Knowledge(Settings.load(os.environ, **given))
    knowledge.open()
    return knowledge


def language_of(text: str) -> Language:
    """Chinese for a query with Han characters in it, otherwise English."""
    return Language.ZH if re.search(r"[\u3400-\u9fff]", text) else Language.EN


@click.command()
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@click.option(
    "--lang",
    type=click.Choice([lang.value for lang in Language]),
    help="Language to show; by default the query's.",
)
@click.option("--framework", multiple=True, help="Only entries of this framework; may be repeated.")
@click.option("--kind", multiple=True, help="Only entries of this kind; may be repeated.")
@click.option("--topic", multiple=True, help="Only entries on this topic; may be repeated.")
@click.option(
    "--error-type", "error_type", multiple=True, help="Only entries of this error type; may be repeated."
)
@click.option("--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="Entries to show.")
@click.option("--verbatim", is_flag=True, help="Search exactly this; correct nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as the REST API answers it.")
@content_option
@click.pass_context
def search(  # noqa: PLR0913 - one parameter for each option
    context: click.Context,
    /,
    *,
    words: tuple[str, ...],
    lang: str | None,
    limit: int,
    verbatim: bool,
    as_json: bool,
    directories: tuple[Path, ...],
    **chosen: tuple[str, ...],
) -> None:
    """Search the content; exit 1 where nothing is found."""
    # Bytes that are no text come as lone surrogates, which no JSON can hold.
    query = " ".join(words).encode("utf-8", "replace").decode()
    shown = Language(lang) if lang else language_of(query)
    snapshot = knowledge_of(directories).snapshot
    for facet in FACETS:
        known = snapshot.library.taxonomy.facet(facet)
        if unknown := set(chosen[facet]) - set(known):
            raise click.UsageError(
                f"no {facet.replace('_', ' ')} {unknown.pop()!r}; there are {', '.join(known)}"
            )
    filters = Filters(**{facet: chosen[facet] for facet in FACETS}, edition=None)
    request = SearchRequest(query, shown, filters, limit, verbatim=verbatim)
    answer = snapshot.searcher.search(request)
    say = partial(Translations.load().translate, shown)
    if as_json:
        settings = Settings.load(os.environ)
        urls = Urls(settings.root_path, settings.base_url)
        shaper = Shaper(snapshot.library, snapshot.generation, urls, shown, say)
        click.echo(shaper.search(request, answer).model_dump_json(indent=2))
    else:
        click.echo(_as_text(answer, say))
    context.exit(0 if answer.hits else 1)


def _as_text(answer: SearchAnswer, say: Callable[..., str]) -> str:
    blocks = []
    if answer.correction:
        blocks.append(f"{say('search.corrected')} “{answer.correction}”")
    if answer.phrase_dropped:
        blocks.append(say("search.phrase_dropped"))
    if answer.weak:
        blocks.append(say("search.weak"))
    for place, hit in enumerate(answer.hits, 1):
        found_by = ", ".join(_reason(hit))
        title = click.style(hit.edition.title, bold=True)
        blocks.append(f"{place}. {title}\n   {hit.entry.id} [{found_by}]\n   {_plain(hit.snippet)}")
    return "\n".join(blocks if answer.hits else [*blocks, say("search.nothing")])


def _reason(hit: Hit) -> list[str]:
    return [f"{r.type}: {r.text}" + (f" ↔ {r.via}" if r.via else "") for r in hit.reasons]


def _plain(snippet: str) -> str:
    """A snippet for the terminal: marks in bold (dropped again by `echo` where there is no terminal)."""
    return unescape(MARKS.sub(lambda match: BOLD[match.group(1)], " ".join(snippet.split())))


@click.command()
@content_option
def index(directories: tuple[Path, ...]) -> None:
    """Build the index where it is missing or out of date, so that the next start only opens it."""
    snapshot = knowledge_of(directories).snapshot
    click.echo(f"{len(snapshot.library.entries)} entries, generation {snapshot.generation}")
