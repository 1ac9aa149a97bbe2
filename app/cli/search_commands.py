"""`jieda search` and `jieda index`: the index from the command line."""

import json
import os
import re
from html import unescape
from pathlib import Path

import click

from app.cli.content_commands import content_option
from app.entry import FACETS, Language
from app.knowledge import Knowledge
from app.search.answers import Filters, Hit, SearchAnswer, SearchRequest
from app.settings import Settings

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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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
    query = " ".join(words)
    shown = Language(lang) if lang else language_of(query)
    snapshot = knowledge_of(directories).snapshot
    for facet in FACETS:
        known = snapshot.library.taxonomy.facet(facet)
        if unknown := set(chosen[facet]) - set(known):
            raise click.UsageError(
                f"no {facet.replace('_', ' ')} {unknown.pop()!r}; there are {', '.join(known)}"
            )
    filters = Filters(**{facet: chosen[facet] for facet in FACETS}, edition=None)
    answer = snapshot.searcher.search(SearchRequest(query, shown, filters, limit, verbatim=verbatim))
    click.echo(_as_json(answer) if as_json else _as_text(answer))
    context.exit(0 if answer.hits else 1)


def _as_text(answer: SearchAnswer) -> str:
    blocks = []
    if answer.correction:
        blocks.append(f"showing results for: {answer.correction}")
    if answer.weak:
        blocks.append("nothing fits well; the nearest:")
    for place, hit in enumerate(answer.hits, 1):
        found_by = ", ".join(_reason(hit))
        title = click.style(hit.edition.title, bold=True)
        blocks.append(f"{place}. {title}\n   {hit.entry.id} [{found_by}]\n   {_plain(hit.snippet)}")
    return "\n".join(blocks) or "nothing found"


def _reason(hit: Hit) -> list[str]:
    return [f"{r.type}: {r.text}" + (f" ↔ {r.via}" if r.via else "") for r in hit.reasons]


def _plain(snippet: str) -> str:
    """A snippet for the terminal: marks in bold (dropped again by `echo` where there is no terminal)."""
    return unescape(MARKS.sub(lambda match: BOLD[match.group(1)], " ".join(snippet.split())))


def _as_json(answer: SearchAnswer) -> str:
    hits = [
        {
            "id": hit.entry.id,
            "lang": hit.edition.lang,
            "title": hit.edition.title,
            "score": hit.score,
            "snippet": hit.snippet,
            "reasons": [{"type": r.type, "text": r.text, "via": r.via} for r in hit.reasons],
        }
        for hit in answer.hits
    ]
    found = {
        "query": answer.query,
        "total": answer.total,
        "correction": answer.correction,
        "weak": answer.weak,
    }
    return json.dumps(found | {"hits": hits}, ensure_ascii=False, indent=2)


@click.command()
@content_option
def index(directories: tuple[Path, ...]) -> None:
    """Build the index where it is missing or out of date, so that the next start only opens it."""
    snapshot = knowledge_of(directories).snapshot
    click.echo(f"{len(snapshot.library.entries)} entries, generation {snapshot.generation}")
