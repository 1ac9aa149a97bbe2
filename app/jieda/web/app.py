"""The composition root: creates every component once and registers every route."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress

from anyio.to_thread import run_sync
from fastapi import FastAPI

from jieda.client import Local
from jieda.entry import Language
from jieda.errors import ClusterUnavailable
from jieda.helpers import GC_THRESHOLDS, collect_and_freeze
from jieda.locales.translations import translator
from jieda.places import STATIC
from jieda.presentation.shaper import Shapers
from jieda.presentation.urls import Urls, own_digests
from jieda.search.answers import SearchRequest
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.service import OncePerGeneration, Service
from jieda.usecases.workbench.desk import Desk
from jieda.web.api.routes import add_api_routes
from jieda.web.http import middleware
from jieda.web.http.problems import HANDLED, on_failure
from jieda.web.http.respond import AnswerCache
from jieda.web.machine.routes import machine_routes
from jieda.web.pages.about import error_page
from jieda.web.pages.routes import MAINTAINER_ROUTES
from jieda.web.pages.routes import ROUTES as PAGE_ROUTES
from jieda.web.site import Askers, Site

SECONDS_BETWEEN_CHECKS = 60.0
"""Seconds between checks whether another generation is being served."""
SWITCH_INTERVAL = 0.0005
"""Seconds that a thread reading a log may hold the interpreter lock. A response takes the lock some ten times, and with
Python's default would wait 5 ms each time."""


def create_app(settings: Settings, knowledge: Knowledge | None = None, *, alone: bool = False) -> FastAPI:
    """Create the application, which opens its content at startup unless `knowledge` is open. `alone`: this process does
    nothing else.

    `app.state` has only `site`, for code without a request.
    """
    site = create_site(settings, knowledge or Knowledge(settings), alone=alone)
    app = FastAPI(
        lifespan=lifespan(site, alone=alone),
        middleware=middleware.stack(site.service, settings),
        exception_handlers=dict.fromkeys(HANDLED, on_failure),
        openapi_url=None,
        # The framework's redirect from /path/ to /path takes the host from the request.
        redirect_slashes=False,
        # It would send requests, query strings included, to any collector that the environment names.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.site = site
    # Routes are tried in order, and most requests go to the API.
    add_api_routes(app, translator(Language.EN))
    app.router.routes += machine_routes(settings)
    app.router.routes += (*PAGE_ROUTES, *(MAINTAINER_ROUTES if settings.workbench else ()))
    return app


def create_site(settings: Settings, knowledge: Knowledge, *, alone: bool = False) -> Site:
    """Create the components of an application."""
    urls = Urls(settings.root_path, settings.base_url, own_digests(STATIC))
    service = Service.of(settings, knowledge, run_sync, alone=alone)
    return Site(
        settings=settings,
        urls=urls,
        service=service,
        client=Local(service, Shapers(urls)),
        resources=OncePerGeneration(run_sync, lambda outcome: service.metrics.cache.labels(outcome).inc()),
        cache=AnswerCache(settings.cache << 20),
        error_page=error_page,
        desk=Desk(settings.content),
        askers=Askers(),
    )


def lifespan(site: Site, *, alone: bool) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Open the content before the first request and, if configured, watch it until shutdown."""

    @asynccontextmanager
    async def running(_app: FastAPI) -> AsyncIterator[None]:
        await run_sync(open_and_warm, site.knowledge)
        site.knowledge.start()
        if site.service.recorder:
            site.service.recorder.start()
        async with short_pauses(site.knowledge) if alone else nullcontext():
            yield
        if site.service.log_process:
            await run_sync(site.service.log_process.end)
        if site.service.recorder:
            await run_sync(site.service.recorder.stop)
        await run_sync(site.knowledge.stop)

    return running


def open_and_warm(knowledge: Knowledge) -> None:
    """Open the content unless it is open, and search once in each language to spare readers a cold start."""
    if not knowledge.ready:
        knowledge.open()
    for lang, text in ((Language.EN, "out of memory"), (Language.ZH, "显存不足")):
        with suppress(ClusterUnavailable):
            knowledge.snapshot.searcher.search(SearchRequest(text=text, lang=lang))


@asynccontextmanager
async def short_pauses(knowledge: Knowledge) -> AsyncIterator[None]:
    """Keep the garbage collector from scanning the served content over and over, in a process that only serves."""
    gc.set_threshold(*GC_THRESHOLDS)
    sys.setswitchinterval(SWITCH_INTERVAL)
    await run_sync(collect_and_freeze)
    task = asyncio.create_task(freeze_after_swaps(knowledge))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def freeze_after_swaps(knowledge: Knowledge) -> None:
    """Freeze live objects again after each swap: the collector skips the new content and frees the old."""
    frozen = knowledge.snapshot.generation
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_CHECKS)
        generation = knowledge.snapshot.generation
        if generation != frozen:
            await run_sync(collect_and_freeze)
            frozen = generation
