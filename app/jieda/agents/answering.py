"""Turn the answers of a `Client` into those of the tools: as much as an agent needs, and a way to the rest."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from jieda.agents import answers, questions
from jieda.agents.answers import Json, told
from jieda.client.client import Client
from jieda.diagnosis.answers import Verdict
from jieda.entry import Language
from jieda.errors import BadParameter
from jieda.presentation import schemas
from jieda.presentation.diagnosis_text import printable
from jieda.search.answers import MOST_WEAK, SearchRequest
from jieda.site_texts import SiteTexts
from jieda.taxonomy import FACETS, Window

MAX_FIX = 6000
"""Characters of a fix. The longest shipped one has a third of that."""
MORE_FIXES = 1200
"""Characters that all fixes together may have for a second one to be told as well."""
MAX_LINES = 3
"""Lines of the log told for a match."""
MAX_TITLE = 80
"""Characters of the title of an entry that is no answer."""
MOST_SNIPPETS = 2
"""Hits of which a passage is told: titles tell the others apart."""
MAX_PART = 8000
"""Characters of an entry told at a time: some 2,000 tokens of English."""


@dataclass(frozen=True, slots=True)
class Context:
    """What every answer is made with. `words` gives what translates into a language, `site` what the content says of
    itself; a distant server does not tell."""

    client: Client
    words: Callable[[Language], Callable[..., str]]
    site: Callable[[], SiteTexts] = SiteTexts


async def diagnose(context: Context, asked: questions.DiagnoseQuestion) -> Json:
    """The entries that explain a log; the fix of the first, and of others while they are short."""
    found = await context.client.diagnose(asked.text, asked.spoken, asked.framework)
    shown = found.model_dump(mode="json")
    shown["matches"] = list(_matches(context.client, found))
    shown["near"] = [
        near | {"title": _cut(near["title"], MAX_TITLE)}
        for near in shown["near"][: MOST_WEAK if found.outcome is Verdict.NEAR else 0]
    ]
    key = _advice(found)
    shown["framework"] = found.framework if found.asks or key == "foreign" else ""
    # Which failure no entry surely explains: the agent has what it says in the log.
    shown["errors"] = shown["errors"][:1] if found.outcome is not Verdict.KNOWN else []
    shown["read"] = ", ".join(f"{part.first}–{part.last}" for part in found.read)
    told_of = {"names": ", ".join(found.asks), "log": found.framework}
    shown["advice"] = context.words(asked.spoken)(f"agents.advice.{key}", **told_of) if key else ""
    return told(shown, answers.DIAGNOSIS)


def _matches(client: Client, found: schemas.ApiDiagnosis) -> Iterator[Json]:
    length = 0
    for place, match in enumerate(found.matches):
        fix = _cut(match.fix.strip(), MAX_FIX)
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
    """The entries that a query finds, without their answers: `read` tells those. One that explains the query as a
    failure stands above them, and not among them once more. Raises BadParameter past the end."""
    lang = asked.spoken
    request = SearchRequest(asked.query, lang, asked.filters(), asked.limit, asked.offset)
    found = await context.client.search(request)
    _check_end(asked.offset, found.total)
    said = found.judgement if found.judgement and found.judgement.printed else None
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
    shown["advice"] = context.words(lang)(f"agents.advice.{key}") if key else ""
    return told(shown, answers.SEARCH)


async def read(context: Context, asked: questions.ReadQuestion) -> Json:
    """An entry or a section of it, as much as fits. Raises BadParameter for none such and past its end."""
    entry = await context.client.read(asked.id, asked.spoken)
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
    return told(shown, answers.READ)


async def list_entries(context: Context, asked: questions.ListQuestion) -> Json:
    """The tags with their counts or, where filters say which, the entries. Raises BadParameter past their end."""
    client, lang, filters = context.client, asked.spoken, asked.filters()
    overview = not filters and not asked.offset
    found = await client.entries(filters, lang, Window(1 if overview else asked.limit, asked.offset))
    _check_end(asked.offset, found.total)
    shown = found.model_dump(mode="json") | {
        "next_offset": _next(asked.offset, len(found.items), found.total)
    }
    if overview:
        tags = {facet: await client.tags(facet, lang) for facet in FACETS}
        shown |= {"items": [], "next_offset": None, "tags": {facet: _counted(tags[facet]) for facet in tags}}
    return told(shown, answers.LISTING)


async def report(context: Context, asked: questions.OutcomeQuestion) -> Json:
    """What came of an entry, counted for those who maintain it."""
    found = await context.client.report(asked.id, asked.spoken, asked.outcome, asked.text)
    return told(found.model_dump(mode="json"), answers.REPORTED)


def _counted(tags: Iterable[schemas.ApiTag]) -> list[Json]:
    return [told(tag.model_dump(mode="json"), answers.fields("id name count")) for tag in tags if tag.count]


def _next(offset: int, count: int, total: int) -> int | None:
    """Where a list or a text goes on; None where it is over."""
    return offset + count if count and offset + count < total else None


def _check_end(offset: int, total: int) -> None:
    """Raises BadParameter where there is something, but nothing that far."""
    if offset >= total > 0:
        raise BadParameter(field="offset", expected=str(total))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
