"""The parts of one application, made by `create_app` and shared by all its requests."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from jieda.client.local import Local
from jieda.locales.translations import Translations
from jieda.metrics import Metrics
from jieda.presentation.shaper import Shapers
from jieda.presentation.urls import Urls
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.gaps.recorder import NOBODY
from jieda.usecases.service import OncePerGeneration, Service
from jieda.usecases.workbench.desk import Desk
from jieda.web.agents import AgentsEndpoint
from jieda.web.http.clients import Askers
from jieda.web.http.respond import AnswerCache, Resource
from jieda.web.templating import Renderer

ErrorPage = Callable[[Request, int, str, str], str]
"""Makes the page for a browser from the request, the status, a title and a sentence of detail."""


@dataclass(frozen=True, slots=True)
class Site:
    """Complete when made. `resources` are the answers that depend on nothing but the generation; `agents` is None
    where the SDK for them is not installed; `desk` holds nothing before somebody writes."""

    settings: Settings
    urls: Urls
    renderer: Renderer
    service: Service
    client: Local
    resources: OncePerGeneration[Resource]
    cache: AnswerCache
    error_page: ErrorPage
    agents: AgentsEndpoint | None
    desk: Desk
    askers: Askers

    @property
    def shapers(self) -> Shapers:
        """What shapes answers of the API."""
        return self.client.shapers

    @property
    def knowledge(self) -> Knowledge:
        """What is served, and its swap."""
        return self.service.knowledge

    @property
    def metrics(self) -> Metrics:
        """What this process counts."""
        return self.service.metrics

    @property
    def translations(self) -> Translations:
        """The words of both languages."""
        return self.renderer.translations


def asker_of(request: Request) -> bytes:
    """Return a key for the client of a request, which only this process can compare; NOBODY where gaps are not kept."""
    site = site_of(request)
    return site.askers.of(request) if site.service.recorder else NOBODY


def site_of(request: Request) -> Site:
    """The application that answers `request`."""
    site: Site = request.app.state.site
    return site
