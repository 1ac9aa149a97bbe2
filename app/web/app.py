"""The composition root: every part made once, every address in one place."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import FastAPI

from app.entry import Language
from app.knowledge import Knowledge
from app.metrics import Metrics
from app.search.answers import SearchRequest
from app.settings import Settings
from app.watch import Watcher
from app.web import middleware, ops
from app.web.api.routes import add_routes
from app.web.dependencies import Site
from app.web.docs_page import docs, openapi
from app.web.files import own_files, serve, swagger_files
from app.web.machine_pages import machine_router
from app.web.pages.errors import error_response
from app.web.pages.router import router as pages
from app.web.problems import HANDLED, on_failure
from app.web.templating import Renderer
from app.web.translations import Translations
from app.web.urls import Urls

DIAGNOSES_AT_ONCE = 2
"""Logs worked on at a time. They share one interpreter lock with the searches, so more would only be slower."""

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_app(settings: Settings, knowledge: Knowledge | None = None) -> FastAPI:
    """A whole application. Its content is opened when it starts, unless `knowledge` has been opened already.

    `app.state` holds `site` and `knowledge` for whoever has the application in hand.
    """
    site = Site(
        settings=settings,
        urls=Urls.of(settings),
        renderer=Renderer.load(Translations.load()),
        knowledge=knowledge or Knowledge(settings),
        metrics=Metrics.create(),
    )
    app = FastAPI(
        lifespan=lifespan(site),
        middleware=middleware.stack(site.metrics, settings.root_path, settings.allowed_hosts),
        exception_handlers=dict.fromkeys(HANDLED, on_failure),
        openapi_url=None,
        # The framework's way from /path/ to /path takes the host from the request.
        redirect_slashes=False,
        # It would send what is asked for, query and all, to whatever collector the environment names.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.site = site
    app.state.knowledge = site.knowledge
    app.state.error_page = error_response
    app.state.openapi = {}
    app.state.shapers = {}
    app.state.diagnoses = CapacityLimiter(DIAGNOSES_AT_ONCE)
    add_all_routes(app, settings)
    return app


def add_all_routes(app: FastAPI, settings: Settings) -> None:
    """Every address. The API comes first: routes are tried in order, and it is asked most."""
    add_routes(app)
    for path, handler in (
        ("/healthz", ops.healthz),
        ("/readyz", ops.readyz),
        ("/metrics", ops.metrics),
        ("/openapi.json", openapi),
        ("/docs", docs),
        ("/docs/{name}", serve(swagger_files())),
        ("/static/{name:path}", serve(own_files(settings.static))),
    ):
        app.add_api_route(path, handler, include_in_schema=False)
    app.include_router(machine_router)
    app.include_router(pages)


def lifespan(site: Site) -> Lifespan:
    """Opens the content before the first request and, if asked to, watches it until the last."""

    @asynccontextmanager
    async def running(_app: FastAPI) -> AsyncIterator[None]:
        await run_sync(open_and_warm, site.knowledge)
        watcher = Watcher(site.settings.content, site.knowledge.reload)
        if site.settings.reload_content:
            watcher.start()
        yield
        await run_sync(watcher.stop)

    return running


def open_and_warm(knowledge: Knowledge) -> None:
    """Open what is not open yet and search once in each language, so that no reader waits for first uses."""
    if not knowledge.ready:
        knowledge.open()
    for lang, text in ((Language.EN, "out of memory"), (Language.ZH, "显存不足")):
        knowledge.snapshot.searcher.search(SearchRequest(text=text, lang=lang))


def create_app_from_environ() -> FastAPI:
    """The application of a worker process, whose settings stand in its environment."""
    return create_app(Settings.load(os.environ))
