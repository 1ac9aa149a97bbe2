"""What a browser gets when there is no such page, or when something went wrong."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.web.dependencies import page_language, site_of
from app.web.pages.shell import Head, render_page
from app.web.pages.visit import Visit
from app.web.preferences import chosen_theme


@dataclass(frozen=True, slots=True)
class ErrorView:
    """What `error.html` shows."""

    status: int
    title: str
    detail: str
    hint: str


def error_page(visit: Visit, status: int, title: str, detail: str = "") -> str:
    """A page that says what is wrong and offers ways on. `title` and `detail` are in the reader's language.

    The language switch leads home: the address at hand has no counterpart.
    """
    hint = visit.say("error.hint_missing" if status == 404 else "error.hint")
    head = Head(
        name="error",
        title=f"{title} · {visit.say('site.name')}",
        description=detail or title,
        here=visit.urls.home,
        indexed=False,
    )
    return render_page(visit, "error.html", head, ErrorView(status, title, detail, hint))


def error_response(request: Request, status: int, title: str, detail: str) -> Response:
    """`error_page` for a request, with its status."""
    visit = Visit(site_of(request), page_language(request), chosen_theme(request.cookies))
    return HTMLResponse(error_page(visit, status, title, detail), status, headers={"Vary": "Cookie"})
