"""What operators and their machines ask: does it live, can it answer, what has it done."""

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.metrics import CONTENT_TYPE
from app.web.dependencies import site_of

FRESH = {"Cache-Control": "no-store"}


async def healthz(_request: Request) -> Response:
    """200 as long as the process answers at all."""
    return JSONResponse({"status": "ok"}, headers=FRESH)


async def readyz(request: Request) -> Response:
    """200 with the generation that is served, 503 with a reason before there is one.

    `degraded` holds why the last reload failed while the generation before it is still served.
    """
    knowledge = site_of(request).knowledge
    if not knowledge.ready:
        return JSONResponse({"status": "starting", "reason": "content is not loaded yet"}, 503, headers=FRESH)
    snapshot = knowledge.snapshot
    return JSONResponse(
        {
            "status": "degraded" if knowledge.failure else "ready",
            "generation": snapshot.generation,
            "entries": len(snapshot.library.entries),
            "problems": len(snapshot.library.problems),
            "degraded": knowledge.failure,
        },
        headers=FRESH,
    )


async def metrics(request: Request) -> Response:
    """The figures for Prometheus, over all workers."""
    site = site_of(request)
    site.metrics.entries.set(len(site.knowledge.snapshot.library.entries))
    site.metrics.degraded.set(bool(site.knowledge.failure))
    # With several workers this reads a file of each.
    return Response(await run_sync(site.metrics.expose), media_type=CONTENT_TYPE, headers=FRESH)
