"""What a browser gets when there is no such page, or when something went wrong."""

from dataclasses import dataclass

from starlette.requests import Request

from app.web.http.languages import page_language
from app.web.http.preferences import chosen_theme
from app.web.pages.context import PageContext
from app.web.pages.layout import Head, render_page
from app.web.site import site_of


@dataclass(frozen=True, slots=True)
class ErrorView:
    """What `error.html` shows."""

    status: int
    title: str
    detail: str
    hint: str


def error_html(context: PageContext, status: int, title: str, detail: str = "") -> str:
    """A page that says what is wrong and offers ways on. `title` and `detail` are in the reader's language.

    The language switch leads home: the address at hand has no counterpart.
    """
    hint = context.t("error.hint_missing" if status == 404 else "error.hint")
    head = Head(
        name="error",
        title=f"{title} · {context.t('site.name')}",
        description=detail or title,
        here=context.urls.home,
        indexed=False,
    )
    return render_page(context, "error.html", head, ErrorView(status, title, detail, hint))


def error_page(request: Request, status: int, title: str, detail: str) -> str:
    """`error_html` for a request."""
    context = PageContext(site_of(request), page_language(request), chosen_theme(request.cookies))
    return error_html(context, status, title, detail)
