"""What answers the address of each page that is read: home, search, entries, tags."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.entry import Language
from app.search.answers import SearchRequest
from app.usecases.entries import MovedTo, ReadEntry, note_read, read
from app.usecases.search import browse, clip
from app.usecases.search import search as search_for
from app.usecases.tags import list_tagged
from app.usecases.window import Window
from app.web.http.languages import page_language
from app.web.http.negotiation import preferred_media_type
from app.web.http.preferences import Theme
from app.web.http.respond import REVALIDATE, Body, Resource, respond
from app.web.http.routing import Handler
from app.web.pages.about import about_page
from app.web.pages.agents import NAMES, agents_page, file_text
from app.web.pages.browse import PAGE_SIZE as TAG_PAGE_SIZE
from app.web.pages.browse import page_count, tag_page
from app.web.pages.context import PageContext, context_of
from app.web.pages.entries import PAGE_SIZE as ENTRIES_PAGE_SIZE
from app.web.pages.entries import entries_page
from app.web.pages.entries import page_count as entries_page_count
from app.web.pages.entry import VOTED, entry_page
from app.web.pages.home import home_page
from app.web.pages.requests import (
    HTML,
    MARKDOWN,
    asked_filters,
    asked_page,
    asked_search,
    page_answer,
)
from app.web.pages.search import PAGE_SIZE, search_page
from app.web.site import asker_of, site_of

IMAGE_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}


LOOK_SIZE = 500
"""Bytes that a kept page takes beside its body, about."""


@dataclass(frozen=True, slots=True)
class Look:
    """All that the page of an entry depends on beside what is served: visitors whose browsers say other things of
    themselves share a page."""

    entry: str
    lang: Language
    theme: Theme
    voted: bool


async def root(request: Request) -> Response:
    """To the start page in the reader's language."""
    headers = {"Vary": "Accept-Language, Cookie", "Cache-Control": REVALIDATE}
    return RedirectResponse(site_of(request).urls.home(page_language(request)), 307, headers)


async def home(request: Request) -> Response:
    """The start page: made once for a generation, a language and a theme."""
    context = await context_of(request)
    resource = await context.site.resources.get(
        context.digest,
        ("home", context.lang, context.theme),
        lambda: Resource.of(home_page(context), HTML),
    )
    return await page_answer(request, context, resource)


async def home_without_slash(request: Request) -> Response:
    """To the start page of a language, for those who typed the address."""
    context = await context_of(request)
    return RedirectResponse(context.urls.home(context.lang), 308)


async def search(request: Request) -> Response:
    """Results for `q` under filters; without words, all that passes the filters."""
    context = await context_of(request)
    service = context.site.service
    wanted = asked_search(request, context.lang, PAGE_SIZE)
    if clip(service, wanted.text).strip():
        found = await search_for(service, wanted, asker_of(request))
        html = search_page(context.at(found.snapshot), found)
    else:
        found = await browse(service, wanted)
        # A full list with all its filters takes some milliseconds to write out.
        html = await service.offload(partial(search_page, context.at(found.snapshot), found))
    return await page_answer(request, context, html)


async def entries(request: Request) -> Response:
    """All entries, or those that pass some filters."""
    context = await context_of(request)
    service = context.site.service
    number = asked_page(request)
    offset = (number - 1) * ENTRIES_PAGE_SIZE
    wanted = SearchRequest("", context.lang, asked_filters(request), limit=0, offset=offset)
    found = await browse(service, wanted)
    if number > entries_page_count(found.answer.total):
        raise HTTPException(404)

    def page() -> str:
        return entries_page(context.at(found.snapshot), found)

    return await page_answer(request, context, await service.offload(page))


async def about(request: Request) -> Response:
    """What this is."""
    context = await context_of(request)
    return await page_answer(request, context, about_page(context))


async def entry(request: Request) -> Response:
    """An entry as a page or as Markdown, or an image that lies beside the entries."""
    context = await context_of(request)
    framework, name = request.path_params["framework"], request.path_params["name"]
    image = context.library.image(context.lang, f"{framework}/{name}")
    if image:
        return await send_image(request, context, image)
    as_markdown = name.endswith(".md")
    wanted = f"{framework}/{name.removesuffix('.md')}"
    accepted = preferred_media_type(request.headers.get("accept", ""), (HTML, MARKDOWN))
    is_text = as_markdown or accepted == MARKDOWN
    look = None if is_text else Look(wanted, context.lang, context.theme, voted=VOTED in request.cookies)
    service, vary = context.site.service, ("Accept", "Cookie")
    if look and (kept := service.repeated.get(context.served, look)):
        note_read(service, wanted, asker_of(request))
        return await page_answer(request, context, kept, vary)
    found = await read(service, context.served, wanted, asker_of(request))
    if isinstance(found, MovedTo):
        address = context.urls.entry_markdown if as_markdown else context.urls.entry
        return RedirectResponse(address(context.lang, found.id), 308)
    if look:
        return await page_answer(request, context, await made_page(context, look, found), vary)
    edition = found.entry.edition(context.lang)
    return await respond(request, edition.raw, MARKDOWN, lang=edition.lang, vary=() if as_markdown else vary)


async def made_page(context: PageContext, look: Look, found: ReadEntry) -> Body:
    """The page of an entry, compressed and kept for the next visitors where answers are kept."""
    service, html = context.site.service, entry_page(context, found, voted=look.voted)
    if not service.repeated.room:
        return html
    page = await service.offload(partial(Resource.of, html, HTML))
    service.repeated.put(context.served, look, page, LOOK_SIZE + len(page.gzipped))
    return page


async def send_image(request: Request, context: PageContext, image: Path) -> Response:
    """An image, read off the event loop. 404 where it has gone since the content was loaded."""
    try:
        content = await context.site.service.offload(image.read_bytes)
    except OSError:
        raise HTTPException(404) from None
    return await respond(request, content, IMAGE_TYPES[image.suffix[1:].lower()])


async def agents(request: Request) -> Response:
    """How a coding agent is set up."""
    context = await context_of(request)
    return await page_answer(request, context, agents_page(context))


async def agents_file(request: Request) -> Response:
    """A file that a team copies into its own repository."""
    context = await context_of(request)
    name = request.path_params["name"]
    if name not in NAMES:
        raise HTTPException(404)
    return await respond(request, file_text(context, name), MARKDOWN, lang=context.lang)


def tag(facet: str) -> Handler:
    """What answers the pages of the tags of a facet."""
    return partial(tagged_with, facet)


async def tagged_with(facet: str, request: Request) -> Response:
    """The entries that carry a tag."""
    context = await context_of(request)
    known = context.library.taxonomy.facet(facet).get(request.path_params["value"])
    number = asked_page(request)
    if known is None or number > page_count(context.library.counts(facet).get(known.id, 0)):
        raise HTTPException(404)
    window = Window(TAG_PAGE_SIZE, (number - 1) * TAG_PAGE_SIZE)
    listing = await list_tagged(context.site.service, context.served, facet, known.id, window)
    html = await context.site.service.offload(partial(tag_page, context, facet, known, listing, number))
    return await page_answer(request, context, html)
