"""Turn the answers of a `Client` into those of the tools: as much as an agent needs, and a way to the rest."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any

from jieda.agents import answers, questions
from jieda.client.client import Client
from jieda.diagnosis.answers import Verdict
from jieda.entry import Language
from jieda.errors import BadParameter
from jieda.presentation import schemas
from jieda.presentation.diagnosis_text import printable
from jieda.search.answers import SearchRequest
from jieda.site_texts import SiteTexts
from jieda.taxonomy import FACETS, Window

MAX_FIX = 6000
"""Characters of a fix. The longest shipped one has a third of that."""
MORE_FIXES = 1200
"""Characters that all fixes together may have for a second one to be told as well."""
MAX_LINES = 3
"""Lines of the log told for a match, and failures told where nothing matches."""
MOST_WEAK = 2
"""Hits told where nothing fits well."""
MAX_PART = 8000
"""Characters of an entry told at a time: some 2,000 tokens of English."""
GOOD_SCORE = 0.37
"""Below it, the first hit is called weak for agents: they answer for others and cannot see that it is about something
else. Measured by `python -m bench.agents`; the website's own threshold is lower."""

_MARK = re.compile(r"</?mark>")


@dataclass(frozen=True, slots=True)
class Context:
    """What every answer is made with. `words` gives what translates into a language, `site` what the content says of
    itself; a distant server does not tell."""

    client: Client
    words: Callable[[Language], Callable[..., str]]
    site: Callable[[], SiteTexts] = SiteTexts


async def diagnose(context: Context, asked: questions.DiagnoseQuestion) -> answers.AgentDiagnosis:
    """The entries that explain a log; the fix of the first, and of others while they are short."""
    client, lang = context.client, asked.spoken
    found = await client.diagnose(asked.text, lang, asked.framework)
    unexplained = () if found.outcome is Verdict.KNOWN else found.errors[:MAX_LINES]
    t = context.words(lang)
    return answers.AgentDiagnosis(
        verdict=found.outcome,
        framework=found.framework if found.asks or any(near.foreign for near in found.near) else "",
        asks=found.asks,
        matches=tuple(_matches(client, found)),
        near=tuple(
            answers.AgentNear(**_name(client, near), words=near.words, foreign=near.foreign)
            for near in found.near
        ),
        errors=tuple(
            answers.AgentLogError(
                type=each.type, message=printable(each.message), line=each.line, count=each.count
            )
            for each in unexplained
        ),
        read=", ".join(f"{part.first}–{part.last}" for part in found.read),
        advice=t(f"agents.advice.{key}", names=", ".join(found.asks)) if (key := _advice(found)) else "",
    )


def _matches(client: Client, found: schemas.ApiDiagnosis) -> Iterator[answers.AgentMatch]:
    told = 0
    for place, match in enumerate(found.matches):
        fix = _cut(match.fix.strip(), MAX_FIX)
        shown = place == 0 or told + len(fix) <= MORE_FIXES
        told += len(fix) if shown else 0
        cut = not found.asks and (not shown or len(fix) < len(match.fix.strip()))
        yield answers.AgentMatch(
            **_name(client, match),
            confidence=match.confidence,
            matched=tuple(
                answers.Line(line=each.line, text=printable(each.text)) for each in match.matched[:MAX_LINES]
            ),
            fix=fix if shown else "",
            cut=cut,
        )


def _advice(found: schemas.ApiDiagnosis) -> str:
    keys = {Verdict.KNOWN: "", Verdict.POSSIBLE: "possible", Verdict.NO_ERROR: "no_error"}
    return "ask" if found.asks else keys.get(found.outcome, "unknown")


async def search(context: Context, asked: questions.SearchQuestion) -> answers.AgentSearchResult:
    """The entries that a query finds, without their answers: `read` tells those."""
    client, lang = context.client, asked.spoken
    request = SearchRequest(asked.query, lang, asked.filters(), asked.limit, asked.offset)
    found = await client.search(request)
    said = found.judgement if found.judgement and found.judgement.printed else None
    explained = said is not None and bool(said.matches)
    first = found.hits[0].score if found.hits and not asked.offset else GOOD_SCORE
    weak = found.weak or (first < GOOD_SCORE and not explained)
    shown = found.hits[:MOST_WEAK] if weak and not asked.offset else found.hits
    hits = tuple(_hit(client, hit) for hit in shown)
    key = "explained" if explained else "weak" if weak and hits else "" if hits else "nothing"
    return answers.AgentSearchResult(
        verdict=said.outcome if said else Verdict.NO_ERROR,
        matches=tuple(answers.EntryName(**_name(client, match)) for match in said.matches) if said else (),
        total=found.total,
        hits=hits,
        weak=weak,
        correction=found.correction,
        operators=tuple(each.text for each in found.operators),
        next_offset=_next(asked.offset, len(hits), found.total),
        advice=context.words(lang)(f"agents.advice.{key}") if key else "",
    )


def _hit(client: Client, hit: schemas.ApiHit) -> answers.AgentHit:
    why = (
        f"{each.type}: {each.text}".removesuffix(": ") + (f" = {each.via}" if each.via else "")
        for each in hit.reasons
    )
    return answers.AgentHit(
        **_name(client, hit),
        snippet=_one_line(unescape(_MARK.sub("", hit.snippet))),
        why=tuple(why)[:MAX_LINES],
    )


async def read(context: Context, asked: questions.ReadQuestion) -> answers.AgentEntry:
    """An entry or a section of it, as much as fits. Raises BadParameter for none such and past its end."""
    entry = await context.client.read(asked.id, asked.spoken)
    sections = entry.sections()
    if asked.section and asked.section not in sections:
        raise BadParameter(field="section", expected=", ".join(sections))
    whole = sections[asked.section] if asked.section else entry.markdown.strip()
    if asked.offset and asked.offset >= len(whole):
        raise BadParameter(field="offset", expected=str(len(whole)))
    part = whole[asked.offset : asked.offset + MAX_PART]
    if asked.offset + len(part) < len(whole) and "\n" in part:
        part = part[: part.rindex("\n") + 1]
    return answers.AgentEntry(
        **_name(context.client, entry),
        markdown=part,
        sections=tuple(sections),
        next_offset=_next(asked.offset, len(part), len(whole)),
        stale=entry.stale,
        versions=entry.versions,
        fixed_in=entry.fixed_in,
        verified=entry.verified,
    )


async def list_entries(context: Context, asked: questions.ListQuestion) -> answers.AgentListing:
    """The tags with their counts or, where filters say which, the entries."""
    client, lang, filters = context.client, asked.spoken, asked.filters()
    overview = not filters and not asked.offset
    found = await client.entries(filters, lang, Window(1 if overview else asked.limit, asked.offset))
    if overview:
        framework, kind, topic, error_type = [_tags(await client.tags(facet, lang)) for facet in FACETS]
        return answers.AgentListing(
            total=found.total, frameworks=framework, kinds=kind, topics=topic, error_types=error_type
        )
    return answers.AgentListing(
        total=found.total,
        entries=tuple(
            answers.Item(
                id=each.id,
                title=_one_line(each.title),
                kind=each.kind,
                applies_to=_one_line(each.applies_to),
            )
            for each in found.items
        ),
        next_offset=_next(asked.offset, len(found.items), found.total),
    )


def _tags(tags: tuple[schemas.ApiTag, ...]) -> tuple[answers.AgentTag, ...]:
    return tuple(
        answers.AgentTag(id=tag.id, name=_one_line(tag.name), count=tag.count) for tag in tags if tag.count
    )


Named = schemas.ApiMatch | schemas.ApiNear | schemas.ApiHit | schemas.ApiEntry


def _name(client: Client, entry: Named) -> dict[str, Any]:
    return {
        "id": entry.id,
        "title": _one_line(entry.title),
        "lang": entry.lang,
        "applies_to": _one_line(entry.applies_to),
        "may_not_apply_to": getattr(entry, "may_not_apply_to", ""),
        "url": client.absolute(entry.url),
    }


def _one_line(text: str) -> str:
    """`text` without breaks of lines, with which it could pass for what stands around it."""
    return " ".join(text.split())


def _next(offset: int, count: int, total: int) -> int:
    """Where a list or a text goes on; 0 where it is over."""
    return offset + count if count and offset + count < total else 0


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
