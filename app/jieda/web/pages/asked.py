"""Submits an unexplained error to the authors, and shows the sender its status and the answer."""

from datetime import date, timedelta
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jieda.diagnosis.answers import Confidence, Match
from jieda.feedback import Awaited
from jieda.usecases.diagnose import excerpt, explain, turn
from jieda.usecases.gaps.maintenance import answer_to, line_of, withdraw
from jieda.usecases.gaps.maintenance import ask as store_question
from jieda.web.http.respond import NO_STORE, UNCACHED, respond
from jieda.web.pages.context import HTML, PageContext, context_of, read_form
from jieda.web.pages.layout import Head, render_page
from jieda.web.pages.parts import redacted
from jieda.web.pages.verdict import match_view


async def ask(request: Request) -> Response:
    """Store the root error of an unexplained log and redirect to its status page, or to the form if an entry explains
    the log or it has no error. With a key, withdraw the question. Raises TooLarge, TooBusy, FeedbackUnusable."""
    context = await context_of(request)
    site = context.site
    if not site.settings.gaps:
        raise HTTPException(404)
    fields = await read_form(request, site.service.settings.max_log_bytes)
    if key := fields.get("key", ""):
        await site.service.offload(partial(withdraw, site.service, key))
        return RedirectResponse(context.urls.asked(context.lang, key=key), 303, UNCACHED)
    text, _ = excerpt(site.service, fields.get("text", "").replace("\r\n", "\n"))
    framework = fields.get("framework", "")
    framework = framework if framework in context.library.taxonomy.framework else ""
    async with turn(site.service, len(text)):
        diagnosis = await site.service.offload(
            partial(explain, site.service, context.served, text, context.lang, framework)
        )
    key = await site.service.offload(
        partial(store_question, site.service, context.served, diagnosis, context.lang)
    )
    target = context.urls.asked(context.lang, key=key) if key else context.urls.diagnose(context.lang)
    return RedirectResponse(target, 303, UNCACHED)


async def show_asked(request: Request) -> Response:
    """Show a question, with its answer once there is one; 404 if nothing is stored under its key."""
    context, key = await context_of(request), request.query_params.get("key", "")
    service = context.site.service
    found = await service.offload(partial(answer_to, service, context.served, key, context.lang))
    html = asked_page(context, key, found)
    return await respond(request, html, HTML, status=200 if found else 404, lang=context.lang, cache=NO_STORE)


def asked_page(context: PageContext, key: str, found: tuple[Awaited, Match | None] | None) -> str:
    """Render the page, or one that says why nothing is stored under `key`."""
    t, days = context.t, context.site.settings.gaps_days
    if found is None:
        status, note = t("asked.gone"), t("asked.gone_text", count=days)
        return _page(context, status, note, key=key, words="")
    asked, match = found
    since = date.fromisoformat(asked.day)
    is_sure = match is not None and match.confidence is not Confidence.POSSIBLE
    return _page(
        context,
        status=t("asked.answered" if is_sure else "asked.maybe" if match else "asked.waiting"),
        note=t("asked.kept", day=context.day(since), end=context.day(since + timedelta(days=days))),
        key=key,
        words=redacted(context, line_of(context.served, asked.kind, asked.text)),
        best=match_view(context, match) if match else None,
        sure=is_sure,
    )


def _page(context: PageContext, status: str, note: str, *, key: str, **view: object) -> str:
    head = Head("asked", status, note, partial(context.urls.asked, key=key), indexed=False)
    return render_page(context, head, status=status, note=note, key=key, **view)
