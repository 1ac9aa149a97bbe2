"""The about page, and the error page."""

from starlette.requests import Request
from starlette.responses import Response

from jieda.presentation.urls import fill_in
from jieda.web.pages.context import PageContext, context_anywhere, context_of, page_answer
from jieda.web.pages.layout import Head, render_page
from jieda.web.pages.parts import tag_links


def about_page(context: PageContext) -> str:
    """Render the page."""
    what = context.t("about.what", count=len(context.library))
    head = Head(
        name="about",
        title=f"{context.t('about.title')} · {context.t('site.name')}",
        description=what,
        here=context.urls.about,
    )
    return render_page(
        context,
        "about.html",
        head,
        what=what,
        frameworks=tag_links(context, "framework"),
        generation=context.generation,
        report=fill_in(context.site.settings.issue_url, title="", body=""),
    )


def error_page(request: Request, status: int, title: str, detail: str) -> str:
    """Render an error page with ways to go on, also before any content is loaded. `title` and `detail` are in the
    reader's language.

    The language switch leads home, because the failed address has no counterpart.
    """
    context = context_anywhere(request)
    hint = "error.hint"
    if status == 404:
        hint = "error.hint_missing"
    elif status == 429 or status >= 500:
        hint = "error.hint_again"
    head = Head(
        name="error",
        title=f"{title} · {context.t('site.name')}",
        description=detail or title,
        here=context.urls.home,
        indexed=False,
    )
    return render_page(
        context, "error.html", head, status=status, title=title, detail=detail, hint=context.t(hint)
    )


async def show_about(request: Request) -> Response:
    """Show the about page."""
    context = await context_of(request)
    return await page_answer(request, context, about_page(context))
