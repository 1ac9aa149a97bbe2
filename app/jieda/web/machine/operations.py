"""What operators and their machines ask: does it live, can it answer, what has it done."""

import time
from pathlib import Path

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from jieda.metrics import CONTENT_TYPE, ServedState
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.store.generation import CURRENT
from jieda.snapshot.store.processes import read_status
from jieda.usecases.entries import vote_counts
from jieda.version import VERSION
from jieda.web.http.clients import address_of, is_among
from jieda.web.http.problems import HttpProblem, Refusal
from jieda.web.site import Site, site_of

FRESH = {"Cache-Control": "no-store"}


async def healthz(_request: Request) -> Response:
    """200 as long as the process answers at all."""
    return JSONResponse({"status": "ok"}, headers=FRESH)


async def readyz(request: Request) -> Response:
    """200 with the generation that is served, 503 with a reason before there is one.

    `degraded` holds why an older generation is served than could be, without naming a path: anybody may ask.
    `builder` is `idle`, `building` or `failed`.
    """
    knowledge = site_of(request).knowledge
    if not knowledge.ready:
        return JSONResponse({"status": "starting", "reason": "content is not loaded yet"}, 503, headers=FRESH)
    snapshot, health = knowledge.snapshot, knowledge.health()
    degraded = degraded_of(knowledge)
    return JSONResponse(
        {
            "status": "degraded" if degraded else "ready",
            "generation": snapshot.generation,
            "entries": len(snapshot.library),
            "problems": len(snapshot.library.open_problems),
            "builder": health.builder,
            "degraded": degraded,
            "version": VERSION,
        },
        headers=FRESH,
    )


async def metrics(request: Request) -> Response:
    """The figures for Prometheus, over all workers, for those who may have them: nothing in them is secret, but they
    tell how much is asked, and which entries fail."""
    site = site_of(request)
    if not is_among(address_of(request.scope), site.settings.metrics):
        raise Refusal(HttpProblem(403, "problem.metrics_closed"))
    # With several workers this reads a file of each.
    text = await run_sync(lambda: site.metrics.expose(state_of(site)))
    return Response(text, media_type=CONTENT_TYPE, headers=FRESH)


def state_of(site: Site) -> ServedState:
    """What is so now, for `metrics`."""
    builder = read_status(site.knowledge.data)
    return ServedState(
        entries=len(site.knowledge.snapshot.library),
        degraded=bool(degraded_of(site.knowledge)),
        cluster=site.knowledge.health().cluster,
        age=age_of(site.knowledge.data),
        builds=builder.builds,
        build_seconds=builder.seconds,
        votes=vote_counts(site.service),
    )


def age_of(data: Path) -> float:
    """Seconds since the current generation was put in its place; 0 where nobody can tell."""
    try:
        return max(0.0, time.time() - (data / CURRENT).stat().st_mtime)
    except OSError:
        return 0.0


def degraded_of(knowledge: Knowledge) -> str:
    """Say why the newest content is not served, or why there is none; empty where all is well."""
    health = knowledge.health()
    if health.cluster:
        return f"the search cluster: {health.cluster}"
    return health.degraded or ("" if len(knowledge.snapshot.library) else "there are no entries")
