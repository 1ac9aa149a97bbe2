"""What handlers take: the parts that the whole application shares, and what a request says about its reader.

These are coroutines because FastAPI sends plain functions to its thread pool, which would cost a request
more than the search that follows.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request
from starlette.types import Scope

from app.entry import Language
from app.knowledge import Knowledge, Snapshot
from app.metrics import Metrics
from app.settings import Settings
from app.web.negotiation import parse_language, preferred_language
from app.web.preferences import chosen_language
from app.web.templating import Renderer
from app.web.translations import Translations
from app.web.urls import Urls


@dataclass(frozen=True, slots=True)
class Site:
    """The parts of one application, made by `create_app` and shared by all its requests."""

    settings: Settings
    urls: Urls
    renderer: Renderer
    knowledge: Knowledge
    metrics: Metrics

    @property
    def translations(self) -> Translations:
        """The words of both languages."""
        return self.renderer.translations


async def get_site(request: Request) -> Site:
    """The application that answers `request`."""
    return site_of(request)


async def get_snapshot(request: Request) -> Snapshot:
    """What is served now. A handler takes it once, so that no answer mixes two generations."""
    return site_of(request).knowledge.snapshot


def site_of(request: Request) -> Site:
    """`get_site` for those who are not handlers."""
    site: Site = request.app.state.site
    return site


def own_path(scope: Scope) -> str:
    """The path of a request without the hosting prefix."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def remember_language(request: Request, lang: Language) -> None:
    """Note what a body asks for, so that a failure later on is told in that language, too."""
    request.scope["jieda.lang"] = lang


def api_language(request: Request) -> Language:
    """The language an API answer is shown in: of the body, `lang`, Accept-Language, then English."""
    in_body: Language | None = request.scope.get("jieda.lang")
    asked = in_body or parse_language(request.query_params.get("lang", ""))
    return asked or preferred_language(request.headers.get("accept-language", "")) or Language.EN


def page_language(request: Request) -> Language:
    """The language of a page: of its address, the reader's choice, Accept-Language, then English."""
    segment = own_path(request.scope).split("/")[1:2]
    if segment and segment[0] in set(Language):
        return Language(segment[0])
    chosen = chosen_language(request.cookies)
    return chosen or preferred_language(request.headers.get("accept-language", "")) or Language.EN


def clip(text: str, settings: Settings) -> str:
    """As much of a query as is read."""
    return text[: settings.max_query_chars]


CurrentSite = Annotated[Site, Depends(get_site)]
CurrentSnapshot = Annotated[Snapshot, Depends(get_snapshot)]
