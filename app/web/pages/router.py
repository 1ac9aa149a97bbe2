"""The addresses of all pages for browsers, and what answers each."""

from functools import partial

from anyio.to_thread import run_sync
from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from app.content.library import Library
from app.errors import TooLarge, UnknownEntry
from app.search.answers import SearchRequest
from app.web.dependencies import CurrentSite, CurrentSnapshot, Site, clip, page_language
from app.web.negotiation import conditional, preferred_media_type
from app.web.pages.browse import page_count, tag_page
from app.web.pages.diagnose import Paste, diagnose_page
from app.web.pages.entry import entry_page
from app.web.pages.home import home_page
from app.web.pages.listing import list_entries
from app.web.pages.requests import CurrentVisit, asked_filters, asked_page, page_answer, read_form
from app.web.pages.search import PAGE_SIZE, search_page
from app.web.pages.visit import Visit
from app.web.preferences import YEAR, choices, chosen_theme, safe_next
from app.web.urls import TAG_PAGES

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

HTML, MARKDOWN = "text/html", "text/markdown"
FACET_OF_PATH = {path: facet for facet, path in TAG_PAGES.items()}
FORM_LIMIT = 8192
"""Bytes of a form that holds no log."""
IMAGE_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}


@router.get("/")
async def root(request: Request, site: CurrentSite) -> Response:
    """To the start page in the reader's language."""
    headers = {"Vary": "Accept-Language, Cookie", "Cache-Control": "no-cache"}
    return RedirectResponse(site.urls.home(page_language(request)), 307, headers)


@router.get("/{lang}/")
async def home(request: Request, visit: CurrentVisit, snapshot: CurrentSnapshot) -> Response:
    """The start page."""
    return page_answer(request, visit, home_page(visit, snapshot.library))


@router.get("/{lang}")
async def home_without_slash(visit: CurrentVisit) -> Response:
    """To the start page of a language, for those who typed the address."""
    return RedirectResponse(visit.urls.home(visit.lang), 308)


@router.get("/{lang}/search")
async def search(request: Request, visit: CurrentVisit, snapshot: CurrentSnapshot) -> Response:
    """Results for `q` under filters."""
    wanted = SearchRequest(
        text=clip(request.query_params.get("q", ""), visit.site.settings),
        lang=visit.lang,
        filters=asked_filters(request, snapshot.library),
        limit=PAGE_SIZE,
        offset=(asked_page(request) - 1) * PAGE_SIZE,
        verbatim=request.query_params.get("verbatim", "") in {"1", "true"},
    )
    if not wanted.text.strip():
        answer = list_entries(snapshot.library, wanted)
        return page_answer(request, visit, search_page(visit, snapshot.library, wanted, answer))
    answer = snapshot.searcher.search(wanted)
    outcome = "weak" if answer.weak else "found" if answer.total else "nothing"
    visit.site.metrics.searches.labels(outcome).inc()
    return page_answer(request, visit, search_page(visit, snapshot.library, wanted, answer))


@router.get("/{lang}/entries/{framework}/{name}")
async def entry(
    request: Request, visit: CurrentVisit, snapshot: CurrentSnapshot, framework: str, name: str
) -> Response:
    """An entry as a page or as Markdown, or an image that lies beside the entries."""
    library = snapshot.library
    image = library.image(visit.lang, f"{framework}/{name}")
    if image:
        kind = IMAGE_TYPES[image.suffix[1:].lower()]
        return FileResponse(image, media_type=kind, headers={"Cache-Control": "no-cache"})
    wanted, as_markdown = f"{framework}/{name.removesuffix('.md')}", name.endswith(".md")
    found = library.entries.get(wanted)
    if found is None:
        return _moved(visit, library, wanted, as_markdown=as_markdown)
    accepted = preferred_media_type(request.headers.get("accept", ""), (HTML, MARKDOWN))
    if not as_markdown and accepted != MARKDOWN:
        return page_answer(request, visit, entry_page(visit, library, found), vary="Accept, Cookie")
    edition = found.edition(visit.lang)
    headers = {"Content-Language": edition.lang.tag} | ({} if as_markdown else {"Vary": "Accept, Cookie"})
    return conditional(request, Response(edition.raw, media_type=MARKDOWN, headers=headers))


def _moved(visit: Visit, library: Library, wanted: str, *, as_markdown: bool) -> Response:
    today = library.formerly.get(wanted, "")
    if today not in library.entries:
        raise UnknownEntry(id=wanted[:200])
    address = visit.urls.entry_markdown if as_markdown else visit.urls.entry
    return RedirectResponse(address(visit.lang, today), 308)


@router.get("/{lang}/frameworks/{value}")
@router.get("/{lang}/topics/{value}")
@router.get("/{lang}/error-types/{value}")
async def tag(request: Request, visit: CurrentVisit, snapshot: CurrentSnapshot, value: str) -> Response:
    """The entries that carry a tag."""
    facet = FACET_OF_PATH[request.scope["route"].path.split("/")[2]]
    known = snapshot.library.taxonomy.facet(facet).get(value)
    number = asked_page(request)
    if known is None or number > page_count(snapshot.library, facet, value):
        raise HTTPException(404)
    return page_answer(request, visit, tag_page(visit, snapshot.library, facet, known, number))


@router.get("/{lang}/diagnose")
async def ask_for_log(request: Request, visit: CurrentVisit) -> Response:
    """The page that takes a log."""
    return page_answer(request, visit, diagnose_page(visit))


@router.post("/{lang}/diagnose")
async def diagnose(request: Request, visit: CurrentVisit, snapshot: CurrentSnapshot) -> Response:
    """The entries that explain a log. Nothing of it is kept; the answer says so to caches, too."""
    limit = visit.site.settings.max_log_bytes
    fields = await read_form(request, limit)
    text = fields.get("text", "").replace("\r\n", "\n")
    if len(text.encode()) > limit:
        raise TooLarge(limit=limit)
    framework = fields.get("framework", "")
    paste = Paste(text, framework if framework in snapshot.library.taxonomy.framework else "")
    chosen = choices(fields)
    if "theme" in fields:
        visit = Visit(visit.site, visit.lang, chosen_theme(chosen), snapshot.library)
    diagnosis = None
    if text.strip():
        work = partial(snapshot.diagnoser.diagnose, text, visit.lang, paste.framework)
        diagnosis = await run_sync(work, limiter=request.app.state.diagnoses)
        best = diagnosis.matches[0].confidence.value if diagnosis.matches else "none"
        visit.site.metrics.diagnoses.labels(best).inc()
    headers = {"Cache-Control": "no-store", "Content-Language": visit.lang.tag}
    response = HTMLResponse(diagnose_page(visit, paste, diagnosis), headers=headers)
    _remember(response, chosen, visit.site)
    return response


@router.post("/preferences")
async def preferences(request: Request, site: CurrentSite) -> Response:
    """Remembers language and theme, then leads back."""
    fields = await read_form(request, FORM_LIMIT)
    home = site.urls.home(page_language(request))
    response = RedirectResponse(safe_next(fields.get("next", ""), site.urls.root_path, home), 303)
    response.headers["Cache-Control"] = "no-store"
    _remember(response, choices(fields), site)
    return response


def _remember(response: Response, chosen: dict[str, str], site: Site) -> None:
    for name, value in chosen.items():
        response.set_cookie(
            name,
            value,
            max_age=YEAR,
            path=site.urls.root(),
            secure=site.settings.base_url.startswith("https:"),
            httponly=True,
            samesite="lax",
        )
