"""Turns responses of a `Client` into tool results: as much as an agent needs, and how to get the rest."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from jieda.agents import answers, questions
from jieda.agents.answers import Json, pick
from jieda.client import Client
from jieda.diagnosis.answers import Verdict
from jieda.entry import Language
from jieda.errors import BadParameter
from jieda.presentation import schemas
from jieda.presentation.diagnosis_text import cut, printable, read_ranges
from jieda.search.answers import MOST_WEAK, SearchRequest
from jieda.site_texts import SiteTexts
from jieda.taxonomy import FACETS, Window

MAX_FIX = 6000
"""Characters of a fix. The longest shipped one has a third of that."""
MORE_FIXES = 1200
"""Total characters of fixes up to which further fixes are included."""
MAX_LINES = 3
"""Log lines quoted per match."""
MAX_TITLE = 80
"""Characters of the title of an entry that is not an answer."""
MOST_SNIPPETS = 2
"""Hits with a snippet; the others are distinguished by title."""
MAX_PART = 8000
"""Characters of an entry per call: some 2,000 tokens of English."""


@dataclass(frozen=True, slots=True)
class Context:
    """Dependencies of every tool. `translator` returns the translator into a language, `site` the content's texts about
    itself, which a remote server does not provide."""

    client: Client
    translator: Callable[[Language], Callable[..., str]]
    site: Callable[[], SiteTexts] = SiteTexts


async def diagnose(context: Context, asked: questions.DiagnoseQuestion) -> Json:
    """Return the entries that explain a log, with the fix of the first, and further fixes while they are short."""
    found = await context.client.diagnose(asked.text, asked.reply_lang, asked.framework)
    shown = found.model_dump(mode="json")
    shown["matches"] = list(_matches(context.client, found))
    shown["near"] = [
        near | {"title": cut(near["title"], MAX_TITLE)}
        for near in shown["near"][: MOST_WEAK if found.outcome is Verdict.NEAR else 0]
    ]
    key = _advice(found)
    shown["framework"] = found.framework if found.asks or key == "foreign" else ""
    # The error that no entry explains with certainty; the agent has its text in the log.
    shown["errors"] = shown["errors"][:1] if found.outcome is not Verdict.KNOWN else []
    shown["read"] = read_ranges(found.read, context.translator(asked.reply_lang))
    told_of = {"names": ", ".join(found.asks), "log": found.framework}
    shown["advice"] = context.translator(asked.reply_lang)(f"agents.advice.{key}", **told_of) if key else ""
    return pick(shown, answers.DIAGNOSIS)


def _matches(client: Client, found: schemas.ApiDiagnosis) -> Iterator[Json]:
    length = 0
    for place, match in enumerate(found.matches):
        fix = cut(match.fix.strip(), MAX_FIX)
        shown = place == 0 or length + len(fix) <= MORE_FIXES
        length += len(fix) if shown else 0
        yield match.model_dump(mode="json") | {
            "url": client.absolute(match.url),
            "matched": [
                {"line": each.line, "text": printable(each.text)} for each in match.matched[:MAX_LINES]
            ],
            "fix": fix if shown else "",
            "cut": not found.asks and (not shown or len(fix) < len(match.fix.strip())),
        }


def _advice(found: schemas.ApiDiagnosis) -> str:
    if found.outcome is Verdict.KNOWN:
        return ""
    foreign = found.outcome is Verdict.NEAR and all(near.foreign for near in found.near[:MOST_WEAK])
    return "ask" if found.asks else "foreign" if foreign else found.outcome.value


async def search(context: Context, asked: questions.SearchQuestion) -> Json:
    """Return the entries that a query finds, without their answers, which `read` returns. An entry that explains the
    query as an error is listed above the hits and not repeated among them. Raises BadParameter past the end."""
    lang = asked.reply_lang
    request = SearchRequest(asked.query, lang, asked.filters(), asked.limit, asked.offset)
    found = await context.client.search(request)
    _check_end(asked.offset, found.total)
    said = found.judgement if found.judgement and found.judgement.is_program_output else None
    explained = [match.id for match in said.matches] if said else []
    taken = found.hits[:MOST_WEAK] if found.weak and not asked.offset else found.hits
    shown = found.model_dump(mode="json")
    shown["judgement"] = said.model_dump(mode="json") if said else None
    for match in shown["judgement"]["matches"] if said else ():
        match["url"] = context.client.absolute(match["url"])
    with_snippet = 0 if found.weak else MOST_SNIPPETS
    shown["hits"] = [
        hit.model_dump(mode="json") | ({} if place < with_snippet else {"snippet_text": ""})
        for place, hit in enumerate(taken)
        if hit.id not in explained
    ]
    if not found.weak:
        shown["next_offset"] = _next(asked.offset, len(taken), found.total)
    key = "explained" if explained else "weak" if found.weak else "" if taken else "nothing"
    shown["advice"] = context.translator(lang)(f"agents.advice.{key}") if key else ""
    return pick(shown, answers.SEARCH)


async def read(context: Context, asked: questions.ReadQuestion) -> Json:
    """Return an entry or a section, as much as fits. Raises BadParameter for an unknown section or past the end."""
    entry = await context.client.read(asked.id, asked.reply_lang)
    sections = entry.sections()
    if asked.section and asked.section not in sections:
        raise BadParameter(field="section", expected=", ".join(sections))
    whole = sections[asked.section] if asked.section else entry.markdown.strip()
    _check_end(asked.offset, len(whole))
    part = whole[asked.offset : asked.offset + MAX_PART]
    if asked.offset + len(part) < len(whole) and "\n" in part:
        part = part[: part.rindex("\n") + 1]
    shown = entry.model_dump(mode="json") | {
        "url": context.client.absolute(entry.url),
        "markdown": part,
        "sections": list(sections),
        "next_offset": _next(asked.offset, len(part), len(whole)),
    }
    return pick(shown, answers.READ)


async def list_entries(context: Context, asked: questions.ListQuestion) -> Json:
    """Return the tags with their counts or, under filters, the entries. Raises BadParameter past the end."""
    client, lang, filters = context.client, asked.reply_lang, asked.filters()
    overview = not filters and not asked.offset
    found = await client.entries(filters, lang, Window(1 if overview else asked.limit, asked.offset))
    _check_end(asked.offset, found.total)
    shown = found.model_dump(mode="json") | {
        "next_offset": _next(asked.offset, len(found.items), found.total)
    }
    if overview:
        tags = {facet: _count_tags(await client.tags(facet, lang)) for facet in FACETS}
        shown |= {"items": [], "next_offset": None, "tags": tags}
    return pick(shown, answers.LISTING)


async def report(context: Context, asked: questions.OutcomeQuestion) -> Json:
    """Report the outcome of an entry, counted for its maintainers."""
    found = await context.client.report(asked.id, asked.reply_lang, asked.outcome, asked.text)
    return pick(found.model_dump(mode="json"), answers.REPORTED)


def _count_tags(tags: Iterable[schemas.ApiTag]) -> list[Json]:
    return [{"id": tag.id, "name": tag.name, "count": tag.count} for tag in tags if tag.count]


def _next(offset: int, count: int, total: int) -> int | None:
    return offset + count if count and offset + count < total else None


def _check_end(offset: int, total: int) -> None:
    """Raise BadParameter for an offset past the end of something that is not empty."""
    if offset >= total > 0:
        raise BadParameter(field="offset", expected=str(total))
