"""The answers of the workbench: its page with what is to be said of a draft, or a file to take away."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import Request
from starlette.responses import Response

from app.errors import ContentError
from app.usecases.diagnose import excerpt
from app.usecases.secrets import masked
from app.usecases.workbench.draft import Draft, tidied
from app.usecases.workbench.review import Review, review
from app.web.http.problems import Problem, Refusal
from app.web.http.respond import NO_STORE, respond
from app.web.pages.context import PageContext
from app.web.pages.requests import HTML
from app.web.pages.workbench import workbench_page
from app.web.pages.workbench_views import Form, Said


async def draft_of(context: PageContext, form: Form) -> Draft:
    """The entry that a form holds; what is secret in a log is masked before it is kept with one."""
    kept = form.log if form.keep else ""
    # A megabyte takes a while.
    sample = tidied(await context.site.service.offload(lambda: masked(kept))) if kept.strip() else ""
    return Draft(form.id, {lang: text for lang, text in form.texts.items() if text}, sample)


@contextmanager
def broken_content_told() -> Iterator[None]:
    """Turns a ContentError into a refusal that says what is broken."""
    try:
        yield
    except ContentError as error:
        raise Refusal(Problem(409, "problem.reload_failed", {"reason": str(error)})) from error


async def reviewed(context: PageContext, form: Form) -> Review | None:
    """What is to be said of a draft; None where it has no id or no text. Raises TooBusy, and Refusal where what all
    entries share is broken."""
    draft = await draft_of(context, form)
    if not draft.is_named or not draft.texts:
        return None
    log, _ = excerpt(context.site.service, form.log)
    with broken_content_told():
        return await review(context.site.service, context.site.desk, draft, log, context.lang)


async def shown(request: Request, context: PageContext, form: Form, said: Said | None = None) -> Response:
    """The page with what is to be said of the draft."""
    found = await reviewed(context, form)
    html = await context.site.service.offload(lambda: workbench_page(context, form, found, said))
    return await respond(request, html, HTML, lang=context.lang, cache=NO_STORE)


async def send(request: Request, text: str, media_type: str, name: str) -> Response:
    """A text as a file that the browser keeps under a name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    content = text.encode("utf-8", "surrogateescape")
    return await respond(request, content, media_type, cache=NO_STORE, headers=headers)
