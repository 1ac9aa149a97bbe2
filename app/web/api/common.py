"""What the routes of the API share: reading a request, checking its tags, giving the answer its headers."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from app.entry import Language
from app.knowledge import Snapshot
from app.web.api.parameters import Listing
from app.web.api.shapes import Shaper
from app.web.dependencies import Site, api_language, site_of
from app.web.negotiation import conditional

Item = TypeVar("Item")


def shaper(request: Request, snapshot: Snapshot, lang: Language) -> Shaper:
    """What shapes answers from a snapshot in a language; kept until another generation is served."""
    kept: dict[Language, Shaper] = request.app.state.shapers
    found = kept.get(lang)
    if found is None or found.generation != snapshot.generation:
        found = kept[lang] = new_shaper(site_of(request), snapshot, lang)
    return found


def new_shaper(site: Site, snapshot: Snapshot, lang: Language) -> Shaper:
    """A shaper that nobody keeps."""
    return Shaper(snapshot.library, snapshot.generation, site.urls, lang, site.renderer.words(lang))


def asked(request: Request, lang: Language | None) -> Language:
    """The language asked for by a parameter that has been checked, or else by the headers."""
    return lang or api_language(request)


def cut(items: Sequence[Item], parameters: Listing, generation: str) -> tuple[Sequence[Item], dict[str, Any]]:
    """The part of a list that was asked for, and the fields of `schemas.Page`."""
    start, end = parameters.offset, parameters.offset + parameters.limit
    fields = {
        "total": len(items),
        "limit": parameters.limit,
        "offset": parameters.offset,
        "generation": generation,
    }
    return items[start:end], fields


def json_answer(
    request: Request, model: BaseModel, lang: Language, headers: Mapping[str, str] | None = None
) -> Response:
    """A model as JSON with its ETag, or 304.

    The model is written out here and not by FastAPI, which would check once more what is already checked.
    """
    return text_answer(request, model.model_dump_json(), "application/json", lang, headers)


def text_answer(
    request: Request, body: str, media_type: str, lang: Language, headers: Mapping[str, str] | None = None
) -> Response:
    """A text with its ETag, or 304. `lang` is the language of what is shown."""
    given = {"Content-Language": lang.tag, "Vary": "Accept-Language", **(headers or {})}
    return conditional(request, Response(body, media_type=media_type, headers=given))
