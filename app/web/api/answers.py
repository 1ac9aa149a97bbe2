"""What the routes of the API share: the language asked for, parts of lists, and the answer as JSON or text."""

from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from app.entry import Language
from app.presentation.shaper import Shaper
from app.snapshot.snapshot import Snapshot
from app.web.api.parameters import Listing
from app.web.http.languages import api_language
from app.web.http.respond import respond
from app.web.site import site_of

JSON, MARKDOWN, TEXT = "application/json", "text/markdown", "text/plain"


def asked(request: Request, lang: Language | None) -> Language:
    """The language asked for by a parameter that has been checked, or else by the headers."""
    return lang or api_language(request)


def shaper(request: Request, snapshot: Snapshot, lang: Language) -> Shaper:
    """What shapes answers from a snapshot in a language."""
    return site_of(request).shapers.of(snapshot, lang)


def list_fields(total: int, parameters: Listing, snapshot: Snapshot) -> dict[str, Any]:
    """The fields of `schemas.Page`."""
    return {
        "total": total,
        "limit": parameters.limit,
        "offset": parameters.offset,
        "generation": snapshot.generation,
    }


async def json_answer(
    request: Request, model: BaseModel, lang: Language, vary: tuple[str, ...] = ("Accept-Language",)
) -> Response:
    """A model as JSON with its ETag, or 304.

    The model is written out here and not by FastAPI, which would check once more what is already checked.
    """
    return await respond(request, model.model_dump_json(), JSON, lang=lang, vary=vary)
