"""The about page, and the error page."""

from starlette.requests import Request

from jieda.presentation.urls import fill_in
from jieda.web.pages.context import PageContext, context_anywhere
from jieda.web.pages.layout import Head, render_page
from jieda.web.pages.parts import tag_links


def about_page(context: PageContext) -> str:
    """Render the page."""
    what = context.t("about.what", count=len(context.library))
    head = Head("about", context.t("about.title"), what, context.urls.about, names_site=True)
    return render_page(
        context,
        head,
        what=what,
        frameworks=tag_links(context, "framework"),
        generation=context.generation,
        report=fill_in(context.site.settings.issue_url, title="", body=""),
    )


def error_page(request: Request, status: int, title: str, detail: str) -> str:
    """Render an error page with ways to go on, also before the content is loaded. `title` and `detail` are in the
    reader's language.

    The language switch leads home, because a failed address has no counterpart.
    """
    context = context_anywhere(request)
    hint = "error.hint_again" if status == 429 or status >= 500 else "error.hint"
    head = Head("error", title, detail or title, context.urls.home, indexed=False)
    return render_page(context, head, status=status, title=title, detail=detail, hint=context.t(hint))
