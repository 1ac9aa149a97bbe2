"""Closed lists and the state of the content: tags with counts, content problems, translations."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from app.entry import Language, Summary
from app.presentation import reports, schemas
from app.presentation.tags import tag_fields
from app.presentation.urls import Urls
from app.usecases.tags import all_tags
from app.web.api.answers import asked, json_answer, list_fields
from app.web.api.parameters import Listing
from app.web.site import site_of

ApiHandler = Callable[..., Awaitable[Response]]


def tag_list(facet: str, whole: type[schemas.Page]) -> ApiHandler:
    """A handler that lists the tags of a facet with names, descriptions and counts, as `whole`."""

    async def tags(request: Request, parameters: Annotated[Listing, Query()]) -> Response:
        site = site_of(request)
        snapshot = site.service.current()
        lang = asked(request, parameters.lang)
        found = all_tags(snapshot.library, facet)
        items = [tag_fields(facet, each, lang, site.urls) for each in parameters.window().of(found)]
        fields = list_fields(len(found), parameters, snapshot)
        return await json_answer(request, whole.model_validate({"items": items, **fields}), lang)

    return tags


async def problems(request: Request, parameters: Annotated[Listing, Query()]) -> Response:
    """List what is wrong in the content files, as `jieda check` reports it, but for what tells of drafts."""
    snapshot = site_of(request).service.current()
    found = snapshot.library.open_problems
    items = tuple(
        reports.ContentProblem(
            path=each.path, line=each.line, rule=each.rule, message=each.message, served=each.served
        )
        for each in parameters.window().of(found)
    )
    fields = list_fields(len(found), parameters, snapshot)
    whole = reports.ContentProblemList(items=items, **fields)
    return await json_answer(request, whole, asked(request, parameters.lang))


async def translations(request: Request, parameters: Annotated[Listing, Query()]) -> Response:
    """List, for every entry, which editions are present, missing or older than their twin."""
    site = site_of(request)
    snapshot = site.service.current()
    library, lang = snapshot.library, asked(request, parameters.lang)
    shown = (library.summary(entry_id) for entry_id in parameters.window().of(library.ids))
    items = tuple(translation(each, lang, site.urls) for each in shown)
    fields = list_fields(len(library), parameters, snapshot)
    return await json_answer(request, reports.TranslationList(items=items, **fields), lang)


def translation(summary: Summary, lang: Language, urls: Urls) -> reports.Translation:
    """The state of an entry's editions."""
    return reports.Translation(
        id=summary.id,
        en=edition_state(summary, Language.EN),
        zh=edition_state(summary, Language.ZH),
        url=urls.entry(lang, summary.id),
        api_url=urls.api_entry(summary.id),
    )


def edition_state(summary: Summary, lang: Language) -> Literal["present", "missing", "stale"]:
    """Whether an entry has an edition, and whether that has fallen behind its twin."""
    edition = summary.editions.get(lang)
    if edition is None:
        return "missing"
    return "stale" if edition.stale else "present"
