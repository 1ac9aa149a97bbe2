"""The context of a page request: language, theme, query parameters, form fields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from urllib.parse import unquote_to_bytes

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jieda.content.library import Library
from jieda.entry import Language
from jieda.errors import BadParameter
from jieda.locales.translations import filled, format_day, translate
from jieda.presentation.brand import short_name
from jieda.presentation.urls import Urls, rewrite
from jieda.site_texts import LocalText, SiteTexts
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import FACETS, Filters
from jieda.usecases.entries import MAX_TAGS
from jieda.web.http.body import read_bytes
from jieda.web.http.clients import is_from_our_pages
from jieda.web.http.problems import HttpProblem
from jieda.web.http.respond import (
    FRAMEWORK_COOKIE,
    UNCACHED,
    YEAR,
    Body,
    Handler,
    Theme,
    chosen_cookies,
    chosen_theme,
    cookies_of,
    framework_and_version,
    page_language,
    respond,
    safe_next,
)
from jieda.web.site import Site, site_of
from jieda.web.templating import safe

PRIVACY_TEXTS = ("about.privacy_paste", "about.privacy_search", "agents.safety_text", "diagnose.privacy")
"""Statements about privacy; where gaps are recorded, the texts whose keys end in `.gaps` replace them."""

CONTENT_TEXTS = {
    "site.name": "name",
    "site.tagline": "tagline",
    "opensearch.name": "short_or_name",
    "opensearch.description": "tagline",
    "feed.subtitle": "tagline",
    "home.lead": "lead",
    "llms.summary": "summary",
    "diagnose.placeholder": "paste",
}
"""Texts that the content may replace, with the field of `SiteTexts` that does."""


@dataclass(frozen=True, slots=True)
class PageContext:
    """One request for a page: the reader's language and theme, and the snapshot at its start.

    `snapshot` is None on a page without content, such as an error before the content is loaded.
    """

    site: Site
    lang: Language
    theme: Theme
    snapshot: Snapshot | None = None
    framework: str = ""
    """The framework that the reader has chosen, or empty."""
    version: str = ""
    """The version of that framework, or empty."""

    def for_framework(self, value: str) -> "PageContext":
        """Return the same context for a reader who has chosen a framework, such as `slime:0.3.0`."""
        framework, version = framework_and_version(value)
        if self.snapshot is None or framework not in self.library.taxonomy.framework:
            framework = version = ""
        return replace(self, framework=framework, version=version)

    @property
    def urls(self) -> Urls:
        return self.site.urls

    @property
    def served(self) -> Snapshot:
        """The snapshot. Raises RuntimeError on a page without content."""
        if self.snapshot is None:
            raise RuntimeError("this page has no content")
        return self.snapshot

    @property
    def library(self) -> Library:
        return self.served.library

    @property
    def site_texts(self) -> SiteTexts:
        """The content's texts about itself; empty if no content is loaded."""
        return self.snapshot.library.site if self.snapshot else SiteTexts()

    @property
    def generation(self) -> str:
        return self.served.generation

    def at(self, snapshot: Snapshot) -> "PageContext":
        """Return the same context with the snapshot that a use case has used."""
        return replace(self, snapshot=snapshot)

    def t(self, key: str, **args: str | int) -> str:
        """Return a text in the reader's language; the content's own version takes precedence."""
        if self.site.settings.gaps and key in PRIVACY_TEXTS:
            key += ".gaps"
        texts = self.site_texts
        own: LocalText = getattr(texts, CONTENT_TEXTS[key]) if key in CONTENT_TEXTS else {}
        if text := own.get(self.lang):
            return filled(text, args)
        values = {"site": short_name(texts, self.lang)} | args
        return translate(self.lang, key, **values)

    def day(self, value: date) -> str:
        return format_day(self.lang, value)

    def name_of(self, facet: str, value: str) -> str:
        """Return the name of a tag in the reader's language, or its id if the taxonomy lacks it."""
        return self.library.taxonomy.name_of(facet, value, self.lang)

    def prose(self, html: str) -> Markup:
        """Return rendered Markdown with its links filled in."""
        return safe(rewrite(html, self.lang, self.urls))


async def context_of(request: Request) -> PageContext:
    """Return the context of a page under `/{lang}/`. Raises 404 for an unsupported language."""
    if request.path_params["lang"] not in set(Language):
        raise HTTPException(404)
    return _for_reader(request, site_of(request).service.current())


def context_anywhere(request: Request) -> PageContext:
    """Return the context of a page whose address names no language, also before the content is loaded."""
    site = site_of(request)
    return _for_reader(request, site.service.current() if site.knowledge.ready else None)


def _for_reader(request: Request, snapshot: Snapshot | None) -> PageContext:
    cookies = cookies_of(request)
    context = PageContext(site_of(request), page_language(request), chosen_theme(cookies), snapshot)
    return context.for_framework(cookies.get(FRAMEWORK_COOKIE, ""))


HTML, MARKDOWN = "text/html", "text/markdown"
MAX_PAGE = 99_999
PERCENT = 3
"""Bytes that a form may need for a byte of text: `%0A`."""
LARGE = 1 << 16
"""Bytes of a form from which parsing takes several milliseconds and therefore runs off the event loop."""
PIECE = 1 << 15
"""Bytes of a form that are decoded per call."""
MAX_FIELDS = 24
FORM_FRAME = 4096
"""Bytes of a form besides its text."""


async def page_answer(
    request: Request, context: PageContext, html: Body, vary: tuple[str, ...] = ("Cookie",)
) -> Response:
    """Respond with a page and its ETag, or 304. Pages vary by cookie."""
    return await respond(request, html, HTML, lang=context.lang, vary=vary)


def page_handler(make: Callable[[PageContext], str]) -> Handler:
    """Create a handler for a page that depends only on its context."""

    async def show(request: Request) -> Response:
        context = await context_of(request)
        return await page_answer(request, context, make(context))

    return show


def requested_filters(request: Request) -> Filters:
    """Return the requested filters. Raises BadParameter."""
    params = request.query_params
    edition = params.get("edition", "")
    if edition and edition not in set(Language):
        raise BadParameter(field="edition")
    lists = {name: tuple(filter(None, params.getlist(name)[:MAX_TAGS])) for name in (*FACETS, "version")}
    return Filters(**lists, edition=(edition,) if edition else ())


def is_switched_on(request: Request, name: str) -> bool:
    """Return whether a parameter is `1` or `true`."""
    return request.query_params.get(name, "").lower() in {"1", "true"}


def requested_page(request: Request, most: int = MAX_PAGE) -> int:
    """Return the requested page number, from 1 to `most`. Raises BadParameter."""
    text = request.query_params.get("page", "") or "1"
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and 1 <= int(text) <= most):
        raise BadParameter(field="page")
    return int(text)


async def read_form(request: Request, limit: int) -> dict[str, str]:
    """Read the fields of an `application/x-www-form-urlencoded` form, the last of each name.

    Raises TooLarge for more than `limit` bytes of text, and HttpProblem for a form from another site, which could vote
    or change the language on behalf of a visitor.
    """
    if not is_from_our_pages(request.headers, site_of(request).settings):
        raise HttpProblem(403, "problem.bad_origin")
    raw = await read_bytes(request, limit * PERCENT + FORM_FRAME, limit)
    if len(raw) > LARGE:
        return await site_of(request).service.offload(partial(form_fields, raw))
    return form_fields(raw)


def form_fields(raw: bytes) -> dict[str, str]:
    """Parse the fields of a form, the last of each name. Raises BadParameter for more than MAX_FIELDS."""
    pairs = raw.split(b"&", MAX_FIELDS) if raw else []
    if len(pairs) > MAX_FIELDS:
        raise BadParameter(field="body")
    split = (pair.partition(b"=") for pair in pairs if pair)
    return {decode(name): decode(value) for name, _, value in split}


def decode(encoded: bytes) -> str:
    """Decode a name or value in pieces: decoding a megabyte of `%0A` in one call would block all other threads several
    times, for a tenth of a second each."""
    encoded = encoded.replace(b"+", b" ")
    pieces, start = [], 0
    while start < len(encoded):
        end = start + PIECE
        # Never cut within `%0A`.
        cut = encoded.rfind(b"%", max(start + 1, end - 2), end) if end < len(encoded) else -1
        end = end if cut < 0 else cut
        pieces.append(unquote_to_bytes(encoded[start:end]))
        start = end
    return b"".join(pieces).decode("utf-8", "replace")


FORM_LIMIT = 8192
"""Bytes of a form that has no log."""


async def take_preferences(request: Request) -> Response:
    """Store language and theme, then redirect back."""
    site = site_of(request)
    fields = await read_form(request, FORM_LIMIT)
    home = site.urls.home(page_language(request))
    target = safe_next(fields.get("next", ""), site.urls.root_path, home)
    response = RedirectResponse(target, 303, UNCACHED)
    remember(response, chosen_cookies(fields), site)
    return response


def remember(response: Response, chosen: Mapping[str, str], site: Site) -> None:
    """Set a cookie for each choice, for a session, a year, or to delete it."""
    for name, value in chosen.items():
        age = None if name == FRAMEWORK_COOKIE and value else YEAR if value else 0
        set_cookie(response, name, value, site, path=site.urls.root(), max_age=age)


def set_cookie(  # noqa: PLR0913 - one parameter for each difference between cookies
    response: Response, name: str, value: str, site: Site, *, path: str, max_age: int | None = None
) -> None:
    """Set an HttpOnly cookie; without `max_age` it is a session cookie."""
    response.set_cookie(
        name,
        value,
        max_age=max_age,
        path=path,
        secure=site.settings.base_url.startswith("https:"),
        httponly=True,
        samesite="lax",
    )
