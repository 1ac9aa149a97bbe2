"""What answers the pages with forms: a question or a log, language and theme."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.usecases.diagnose import diagnose as diagnose_for
from app.usecases.diagnose import excerpt
from app.usecases.share import telling_lines
from app.usecases.votes import vote as vote_for
from app.web.http.languages import page_language
from app.web.http.preferences import YEAR, choices, chosen_theme, safe_next
from app.web.http.respond import NO_STORE, respond
from app.web.pages.context import PageContext, context_of
from app.web.pages.diagnose import Answered, Paste, diagnose_page
from app.web.pages.entry import VOTE, VOTED
from app.web.pages.requests import HTML, page_answer, read_form
from app.web.site import Site, asker_of, site_of

FORM_LIMIT = 8192
"""Bytes of a form that holds no log."""


async def ask_for_log(request: Request) -> Response:
    """The page that takes a log."""
    context = await context_of(request)
    return await page_answer(request, context, diagnose_page(context))


async def ask(request: Request) -> Response:
    """What the field of the start page takes: one line is searched, several are a log."""
    context = await context_of(request)
    fields = await read_form(request, context.site.service.limits.log_bytes)
    text = fields.get("q", "").strip()
    if "\n" in text or len(text) > context.site.service.limits.query_chars:
        return await answer(request, context, {"text": text})
    target = context.urls.search(context.lang, q=text)
    return RedirectResponse(target, 303, {"Cache-Control": NO_STORE})


async def diagnose(request: Request) -> Response:
    """The entries that explain a log. The field of the start page calls it `q`."""
    context = await context_of(request)
    fields = await read_form(request, context.site.service.limits.log_bytes)
    return await answer(request, context, {"text": fields.get("q", "")} | fields)


async def answer(request: Request, context: PageContext, fields: Mapping[str, str]) -> Response:
    """The page with the diagnosis of `text`. Nothing of it is kept; the answer says so to caches, too."""
    service = context.site.service
    text, left_out = excerpt(service, fields["text"].replace("\r\n", "\n"))
    framework = fields.get("framework", "")
    # A form may be older than the taxonomy.
    paste = Paste(text, framework if framework in context.library.taxonomy.framework else "", left_out)
    chosen = choices(fields)
    if "theme" in fields:
        context = replace(context, theme=chosen_theme(chosen))
    answered = None
    if text.strip():
        found = await diagnose_for(service, text, context.lang, paste.framework, asker_of(request))
        context = context.at(found.snapshot)
        diagnoser, diagnosis = found.snapshot.diagnoser, found.diagnosis
        shared = await service.offload(lambda: telling_lines(diagnoser, text, diagnosis, paste.framework))
        answered = Answered(diagnosis, shared)
    # The text is in it, escaped: a megabyte can become five.
    html = await service.offload(partial(diagnose_page, context, paste, answered))
    response = await respond(request, html, HTML, lang=context.lang, cache=NO_STORE)
    remember(response, chosen, context.site)
    return response


async def vote(request: Request) -> Response:
    """Counts whether an entry solved the reader's problem, once for each visit, then leads back to it."""
    context = await context_of(request)
    entry_id = "{framework}/{name}".format_map(request.path_params)
    if entry_id not in context.library:
        raise HTTPException(404)
    fields = await read_form(request, FORM_LIMIT)
    address = context.urls.entry(context.lang, entry_id)
    response = RedirectResponse(f"{address}#{VOTE}", 303, {"Cache-Control": NO_STORE})
    said = fields.get("solved", "")
    if said not in {"yes", "no"} or VOTED in request.cookies:
        return response
    shown = context.library.summary(entry_id).shown(context.lang)
    if await vote_for(context.site.service, entry_id, shown, solved=said == "yes"):
        set_cookie(response, VOTED, said, context.site, path=address)
    return response


async def preferences(request: Request) -> Response:
    """Remembers language and theme, then leads back."""
    site = site_of(request)
    fields = await read_form(request, FORM_LIMIT)
    home = site.urls.home(page_language(request))
    target = safe_next(fields.get("next", ""), site.urls.root_path, home)
    response = RedirectResponse(target, 303, {"Cache-Control": NO_STORE})
    remember(response, choices(fields), site)
    return response


def remember(response: Response, chosen: Mapping[str, str], site: Site) -> None:
    """Set a cookie for each choice."""
    for name, value in chosen.items():
        set_cookie(response, name, value, site, path=site.urls.root(), max_age=YEAR)


def set_cookie(  # noqa: PLR0913 - one parameter for each thing that cookies differ in
    response: Response, name: str, value: str, site: Site, *, path: str, max_age: int | None = None
) -> None:
    """Set a cookie that no script reads; without `max_age` it goes when the browser is closed."""
    response.set_cookie(
        name,
        value,
        max_age=max_age,
        path=path,
        secure=site.settings.base_url.startswith("https:"),
        httponly=True,
        samesite="lax",
    )
