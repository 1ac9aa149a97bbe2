"""Diagnosis of a pasted log. The text is read, matched and forgotten: it reaches no file, log or metric."""

from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Query
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from app.entry import Language
from app.search.answers import Diagnosis, Match
from app.web.api import reports
from app.web.api.body import read_paste
from app.web.api.common import asked
from app.web.api.parameters import DiagnoseParameters
from app.web.api.shapes import fix_of
from app.web.dependencies import remember_language, site_of
from app.web.diagnosis_text import as_text
from app.web.negotiation import preferred_media_type
from app.web.problems import Problem, Refusal
from app.web.tags import check_tag
from app.web.urls import Urls

JSON, TEXT = "application/json", "text/plain"
CONFIDENCE_HEADER = "Jieda-Confidence"
"""How sure the best match is, or `none`: for scripts that print the text, without parsing it."""


async def diagnose(request: Request, parameters: Annotated[DiagnoseParameters, Query()]) -> Response:
    """Find the entries that explain a log: a line, a traceback or all of it, up to 1 MiB of text.

    Send `application/json` with `text`, `lang` and `framework`, or the raw text as any other type, with
    `lang` and `framework` as query parameters: `curl --data-binary @train.log …/api/v1/diagnose`. A JSON body
    gets JSON back and a raw one readable text, unless Accept asks for one of them.
    """
    site = site_of(request)
    snapshot = site.knowledge.snapshot
    paste = await read_paste(request, parameters, site.settings.max_log_bytes)
    lang = asked(request, paste.lang)
    remember_language(request, lang)
    if paste.framework:
        check_tag("framework", paste.framework, snapshot.library)
    offers = (JSON, TEXT) if paste.as_json else (TEXT, JSON)
    accepted = preferred_media_type(request.headers.get("accept", ""), offers)
    if accepted is None:
        raise Refusal(Problem(406, "problem.not_acceptable", {"offers": f"{JSON}, {TEXT}"}))
    # A megabyte takes a good part of a second: off the event loop, and few at once, so that searches go on.
    work = partial(snapshot.diagnoser.diagnose, paste.text, lang, paste.framework)
    diagnosis = await run_sync(work, limiter=request.app.state.diagnoses)
    best = diagnosis.matches[0].confidence.value if diagnosis.matches else "none"
    site.metrics.diagnoses.labels(best).inc()
    headers = {
        "Cache-Control": "no-store",
        "Vary": "Accept, Accept-Language, Content-Type",
        "Content-Language": lang.tag,
        CONFIDENCE_HEADER: best,
    }
    if accepted == TEXT:
        address = partial(site.urls.entry, lang)
        text = as_text(diagnosis, site.renderer.words(lang), lambda each: site.urls.absolute(address(each)))
        return PlainTextResponse(text, headers=headers)
    shape = diagnosis_shape(diagnosis, lang, site.urls, snapshot.generation)
    return Response(shape.model_dump_json(), media_type=JSON, headers=headers)


def diagnosis_shape(diagnosis: Diagnosis, lang: Language, urls: Urls, generation: str) -> reports.Diagnosis:
    """A diagnosis as the API says it."""
    return reports.Diagnosis(
        matches=tuple(match_shape(match, lang, urls) for match in diagnosis.matches),
        errors=tuple(
            reports.LogError(type=each.type, message=each.message, line=each.line, count=each.count)
            for each in diagnosis.errors
        ),
        framework=diagnosis.framework,
        generation=generation,
    )


def match_shape(match: Match, lang: Language, urls: Urls) -> reports.Match:
    """An entry that explains the text."""
    return reports.Match(
        id=match.entry.id,
        title=match.edition.title,
        lang=match.edition.lang,
        confidence=match.confidence,
        matched=tuple(
            reports.MatchedLine(line=each.line, text=each.text, reason=each.reason) for each in match.matched
        ),
        fix=fix_of(match.edition),
        url=urls.entry(lang, match.entry.id),
        api_url=urls.api_entry(match.entry.id),
    )
