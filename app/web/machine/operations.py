"""What operators and their machines ask: does it live, can it answer, what has it done."""

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.metrics import CONTENT_TYPE
from app.usecases.votes import vote_counts
from app.web.site import site_of

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
    degraded = health.degraded or ("" if len(snapshot.library) else "there are no entries")
    return JSONResponse(
        {
            "status": "degraded" if degraded else "ready",
            "generation": snapshot.generation,
            "entries": len(snapshot.library),
            "problems": len(snapshot.library.open_problems),
            "builder": health.builder,
            "degraded": degraded,
        },
        headers=FRESH,
    )


async def metrics(request: Request) -> Response:
    """The figures for Prometheus, over all workers."""
    site = site_of(request)
    site.metrics.entries.set(len(site.knowledge.snapshot.library))
    site.metrics.degraded.set(bool(site.knowledge.health().degraded))
    # With several workers this reads a file of each.
    text = await run_sync(lambda: site.metrics.expose(vote_counts(site.service)))
    return Response(text, media_type=CONTENT_TYPE, headers=FRESH)
