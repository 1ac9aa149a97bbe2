"""Endpoints for operators: liveness, readiness, metrics."""

import time
from contextlib import suppress

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from jieda.metrics import CONTENT_TYPE, ServedState
from jieda.snapshot.store.generation import CURRENT
from jieda.usecases.entries import vote_counts
from jieda.version import VERSION
from jieda.web.http.clients import client_address, is_among
from jieda.web.http.problems import HttpProblem
from jieda.web.http.respond import UNCACHED
from jieda.web.site import Site, site_of


async def healthz(_request: Request) -> Response:
    """Respond 200 as long as the process responds at all."""
    return JSONResponse({"status": "ok"}, headers=UNCACHED)


async def readyz(request: Request) -> Response:
    """Respond 200 with the served generation, 503 with a reason before there is one.

    `degraded` says why an outdated generation is served; it names no path, because the endpoint is public. `builder` is
    `idle`, `building` or `failed`.
    """
    knowledge = site_of(request).knowledge
    if not knowledge.ready:
        return JSONResponse(
            {"status": "starting", "reason": "content is not loaded yet"}, 503, headers=UNCACHED
        )
    snapshot, health = knowledge.snapshot, knowledge.health()
    return JSONResponse(
        {
            "status": "degraded" if health.degraded else "ready",
            "generation": snapshot.generation,
            "entries": len(snapshot.library),
            "problems": len(snapshot.library.open_problems),
            "builder": health.builder.state,
            "degraded": health.degraded,
            "version": VERSION,
        },
        headers=UNCACHED,
    )


async def metrics(request: Request) -> Response:
    """Send Prometheus metrics of all workers, which reveal the traffic and which entries fail, to permitted clients."""
    site = site_of(request)
    if not is_among(client_address(request.scope), site.settings.metrics):
        raise HttpProblem(403, "problem.metrics_closed")
    # With several workers this reads a file per worker.
    text = await run_sync(lambda: site.service.metrics.expose(served_state(site)))
    return Response(text, media_type=CONTENT_TYPE, headers=UNCACHED)


def served_state(site: Site) -> ServedState:
    """Return the current state for `metrics`; the age is 0 if the generation cannot be looked at."""
    health, age = site.knowledge.health(), 0.0
    with suppress(OSError):
        age = max(0.0, time.time() - (site.knowledge.data / CURRENT).stat().st_mtime)
    return ServedState(
        entries=len(site.knowledge.snapshot.library),
        degraded=bool(health.degraded),
        cluster=health.cluster,
        age=age,
        builds=health.builder.builds,
        build_seconds=health.builder.seconds,
        votes=vote_counts(site.service),
    )
