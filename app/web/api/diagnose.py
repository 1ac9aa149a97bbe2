"""Diagnosis of a pasted log. The text is read, matched and forgotten: it reaches no file, log or metric."""

from functools import partial
from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from app.entry import Language
from app.presentation.diagnosis_text import CONFIDENCE_HEADER, as_text
from app.usecases.diagnose import Diagnosed
from app.usecases.diagnose import diagnose as diagnose_for
from app.usecases.tags import check_tag
from app.web.api.answers import JSON, TEXT, asked, shaper
from app.web.api.body import Paste, read_paste
from app.web.api.parameters import DiagnoseParameters
from app.web.http.negotiation import preferred_media_type
from app.web.http.problems import Problem, Refusal, told_in
from app.web.http.respond import NO_STORE, respond
from app.web.site import Site, asker_of, site_of


async def diagnose(request: Request, parameters: Annotated[DiagnoseParameters, Query()]) -> Response:
    """Find the entries that explain a log: a line, a traceback or all of it, up to 1 MiB of text.

    Send `application/json` with `text`, `lang` and `framework`, or the raw text as any other type, with
    `lang` and `framework` as query parameters: `curl --data-binary @job.log …/api/v1/diagnose`. A JSON body
    gets JSON back and a raw one readable text, unless Accept asks for one of them.
    """
    site = site_of(request)
    paste = await read_paste(request, parameters, site.service)
    lang = asked(request, paste.lang)
    with told_in(lang):
        accepted = accepted_type(request, paste)
        if parameters.framework:  # the body may name another, which is the one that counts
            check_tag("framework", parameters.framework, site.service.current().library)
        found = await diagnose_for(site.service, paste.text, lang, paste.framework, asker_of(request))
    return await respond(
        request,
        plain(site, found, lang) if accepted == TEXT else shaped(request, found, lang),
        accepted,
        lang=lang,
        vary=("Accept", "Accept-Language", "Content-Type"),
        cache=NO_STORE,
        headers={CONFIDENCE_HEADER: found.confidence},
    )


def accepted_type(request: Request, paste: Paste) -> str:
    """How the answer goes back. Raises Refusal where the client accepts neither way."""
    offers = (JSON, TEXT) if paste.as_json else (TEXT, JSON)
    accepted = preferred_media_type(request.headers.get("accept", ""), offers)
    if accepted is None:
        raise Refusal(Problem(406, "problem.not_acceptable", {"offers": f"{JSON}, {TEXT}"}))
    return accepted


def plain(site: Site, found: Diagnosed, lang: Language) -> str:
    """A diagnosis as text for a terminal."""
    address = partial(site.urls.entry, lang)
    t = site.translations.words(lang)
    return as_text(found.diagnosis, t, lambda entry_id: site.urls.absolute(address(entry_id)))


def shaped(request: Request, found: Diagnosed, lang: Language) -> str:
    """A diagnosis as JSON."""
    return shaper(request, found.snapshot, lang).diagnosis(found).model_dump_json()
