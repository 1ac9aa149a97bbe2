"""Closed lists and the state of the content: tags with counts, content problems, translations."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from app.content.library import count_tags
from app.entry import Entry, Language, Tag
from app.web.api import reports, schemas
from app.web.api.common import asked, cut, json_answer
from app.web.api.parameters import Listing
from app.web.dependencies import site_of
from app.web.urls import Urls

Handler = Callable[..., Awaitable[Response]]


def tag_list(facet: str, whole: type[schemas.Page]) -> Handler:
    """A handler that lists the tags of a facet with names, descriptions and counts, as `whole`."""

    async def tags(request: Request, parameters: Annotated[Listing, Query()]) -> Response:
        site = site_of(request)
        snapshot = site.knowledge.snapshot
        lang = asked(request, parameters.lang)
        counts = count_tags(snapshot.library.entries.values(), facet)
        found = list(snapshot.library.taxonomy.facet(facet).values())
        shown, fields = cut(found, parameters, snapshot.generation)
        items = [tag_fields(facet, tag, counts.get(tag.id, 0), lang, site.urls) for tag in shown]
        return json_answer(request, whole.model_validate({"items": items, **fields}), lang)

    return tags


def tag_fields(facet: str, tag: Tag, count: int, lang: Language, urls: Urls) -> dict[str, Any]:
    """The fields of a tag; those that only frameworks have are left out for others."""
    fields: dict[str, Any] = {
        "id": tag.id,
        "name": tag.name[lang],
        "description": tag.description[lang],
        "count": count,
        "url": urls.tag(lang, facet, tag.id),
    }
    home = {"homepage": tag.homepage, "repository": tag.repository} if facet == "framework" else {}
    return fields | home


async def problems(request: Request, parameters: Annotated[Listing, Query()]) -> Response:
    """List what is wrong in the content files, as `jieda check` reports it."""
    snapshot = site_of(request).knowledge.snapshot
    shown, fields = cut(snapshot.library.problems, parameters, snapshot.generation)
    items = tuple(
        reports.ContentProblem(
            path=each.path, line=each.line, rule=each.rule, message=each.message, served=each.served
        )
        for each in shown
    )
    return json_answer(
        request, reports.ContentProblemList(items=items, **fields), asked(request, parameters.lang)
    )


async def translations(request: Request, parameters: Annotated[Listing, Query()]) -> Response:
    """List, for every entry, which editions are present, missing or older than their twin."""
    site = site_of(request)
    snapshot = site.knowledge.snapshot
    lang = asked(request, parameters.lang)
    shown, fields = cut(sorted(snapshot.library.entries), parameters, snapshot.generation)
    items = tuple(translation(snapshot.library.entries[entry_id], lang, site.urls) for entry_id in shown)
    return json_answer(request, reports.TranslationList(items=items, **fields), lang)


def translation(entry: Entry, lang: Language, urls: Urls) -> reports.Translation:
    """The state of an entry's editions."""
    return reports.Translation(
        id=entry.id,
        en=edition_state(entry, Language.EN),
        zh=edition_state(entry, Language.ZH),
        url=urls.entry(lang, entry.id),
        api_url=urls.api_entry(entry.id),
    )


def edition_state(entry: Entry, lang: Language) -> Literal["present", "missing", "stale"]:
    """Whether an entry has an edition, and whether that has fallen behind its twin."""
    if lang not in entry.editions:
        return "missing"
    return "stale" if lang in entry.stale else "present"
