"""Turns responses of a `Client` into tool results: what an agent needs, and how to get the rest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from jieda.agents import answers, questions
from jieda.agents.answers import Json, pick
from jieda.client import Client
from jieda.diagnosis.answers import Verdict
from jieda.errors import BadParameter
from jieda.locales.translations import translate, translator
from jieda.presentation import schemas
from jieda.presentation.diagnosis_text import cut, one_line, read_ranges
from jieda.search.answers import MOST_WEAK, SearchRequest
from jieda.site_texts import SiteTexts
from jieda.taxonomy import FACETS, Window

MAX_FIX = 6000
"""Characters of a fix, three times those of the longest shipped one."""
MORE_FIXES = 1200
"""Total characters up to which further fixes are included."""
MAX_LINES = 3
"""Log lines quoted per match."""
MAX_TITLE = 80
"""Characters of the title of an entry that is not an answer."""
MOST_SNIPPETS = 2
"""Hits with a snippet; titles distinguish the others."""
MAX_PART = 8000
"""Characters of an entry per call: some 2,000 tokens of English."""


@dataclass(frozen=True, slots=True)
class Context:
    """What every tool needs. `site` returns the content's texts about itself, which a remote server does not
    provide."""

    client: Client
    site: Callable[[], SiteTexts] = SiteTexts


async def diagnose(context: Context, question: questions.DiagnoseQuestion) -> Json:
    """Return the entries that explain a log, with the fix of the first, and further fixes if they are short."""
    found = await context.client.diagnose(question.text, question.reply_lang, question.framework)
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
    shown["read"] = read_ranges(found.read, translator(question.reply_lang))
    names = {"names": ", ".join(found.asks), "log": found.framework}
    shown["advice"] = translate(question.reply_lang, f"agents.advice.{key}", **names) if key else ""
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
                {"line": each.line, "text": one_line(each.text)} for each in match.matched[:MAX_LINES]
            ],
            "fix": fix if shown else "",
            "cut": not found.asks and (not shown or len(fix) < len(match.fix.strip())),
        }


def _advice(found: schemas.ApiDiagnosis) -> str:
    """Return the key of the advice on a diagnosis; empty if there is none."""
    if found.outcome is Verdict.KNOWN:
        return ""
    if found.asks:
        return "ask"
    is_foreign = found.outcome is Verdict.NEAR and all(near.foreign for near in found.near[:MOST_WEAK])
    return "foreign" if is_foreign else found.outcome.value


async def search(context: Context, question: questions.SearchQuestion) -> Json:
    """Return the entries that a query finds, without their answers, which `read` returns. An entry that explains the
    query as an error is listed above the hits and not repeated among them. Raises BadParameter past the end."""
    lang = question.reply_lang
    request = SearchRequest(question.query, lang, question.filters(), question.limit, question.offset)
    found = await context.client.search(request)
    _check_end(question.offset, found.total)
    judgement = found.judgement if found.judgement and found.judgement.is_program_output else None
    explained = [match.id for match in judgement.matches] if judgement else []
    hits = found.hits[:MOST_WEAK] if found.weak and not question.offset else found.hits
    shown = found.model_dump(mode="json") | {"judgement": None}
    if judgement:
        shown["judgement"] = judgement.model_dump(mode="json")
        for match in shown["judgement"]["matches"]:
            match["url"] = context.client.absolute(match["url"])
    with_snippet = 0 if found.weak else MOST_SNIPPETS
    shown["hits"] = [
        hit.model_dump(mode="json") | ({} if place < with_snippet else {"snippet_text": ""})
        for place, hit in enumerate(hits)
        if hit.id not in explained
    ]
    if not found.weak:
        shown["next_offset"] = _next(question.offset, len(hits), found.total)
    key = "explained" if explained else "weak" if found.weak else "" if hits else "nothing"
    shown["advice"] = translate(lang, f"agents.advice.{key}") if key else ""
    return pick(shown, answers.SEARCH)


async def read(context: Context, question: questions.ReadQuestion) -> Json:
    """Return an entry or a section, as much as fits. Raises BadParameter for an unknown section or past the end."""
    entry = await context.client.read(question.id, question.reply_lang)
    sections = entry.sections()
    if question.section and question.section not in sections:
        raise BadParameter(field="section", expected=", ".join(sections))
    whole = sections[question.section] if question.section else entry.markdown.strip()
    _check_end(question.offset, len(whole))
    part = whole[question.offset : question.offset + MAX_PART]
    if question.offset + len(part) < len(whole) and "\n" in part:
        part = part[: part.rindex("\n") + 1]
    shown = entry.model_dump(mode="json") | {
        "url": context.client.absolute(entry.url),
        "markdown": part,
        "sections": list(sections),
        "next_offset": _next(question.offset, len(part), len(whole)),
    }
    return pick(shown, answers.READ)


async def list_entries(context: Context, question: questions.ListQuestion) -> Json:
    """Return the tags with their counts or, under filters, the entries. Raises BadParameter past the end."""
    client, lang, filters = context.client, question.reply_lang, question.filters()
    overview = not filters and not question.offset
    found = await client.entries(filters, lang, Window(1 if overview else question.limit, question.offset))
    _check_end(question.offset, found.total)
    shown = found.model_dump(mode="json") | {
        "next_offset": _next(question.offset, len(found.items), found.total)
    }
    if overview:
        known = {facet: await client.tags(facet, lang) for facet in FACETS}
        tags = {
            facet: [{"id": tag.id, "name": tag.name, "count": tag.count} for tag in facet_tags if tag.count]
            for facet, facet_tags in known.items()
        }
        shown |= {"items": [], "next_offset": None, "tags": tags}
    return pick(shown, answers.LISTING)


async def report(context: Context, question: questions.OutcomeQuestion) -> Json:
    """Report the outcome of an entry, counted for its maintainers."""
    found = await context.client.report(question.id, question.reply_lang, question.outcome, question.text)
    return pick(found.model_dump(mode="json"), answers.REPORTED)


def _next(offset: int, count: int, total: int) -> int | None:
    return offset + count if count and offset + count < total else None


def _check_end(offset: int, total: int) -> None:
    """Raise BadParameter for an offset past the end of something that is not empty."""
    if offset >= total > 0:
        raise BadParameter(field="offset", expected=str(total))
