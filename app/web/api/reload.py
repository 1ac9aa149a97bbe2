"""Taking up changed content on request, for those who hold the token."""

import asyncio
import hmac

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from app.errors import ContentError
from app.presentation import reports
from app.snapshot.build.builder import BuildAbandoned
from app.snapshot.store.facts import FactsUnreadable
from app.snapshot.store.processes import BuildRefused
from app.web.http.problems import Problem, Refusal
from app.web.site import site_of


async def reload_content(request: Request) -> Response:
    """Read the content again and serve what changed, in every worker. Needs the token; closed where none is
    configured.

    Answers when all workers serve the new generation, or after ten seconds with those in `behind` that do not yet.
    """
    site = site_of(request)
    check_token(request.headers.get("authorization", ""), site.settings.reload_token)
    try:
        # Not on a thread of the pool: requests that wait for one build would fill it.
        built = await asyncio.wrap_future(site.knowledge.rebuild())
    except (ContentError, OSError, FactsUnreadable, BuildAbandoned, BuildRefused) as error:
        site.metrics.reloads.labels("failed").inc()
        # Whoever holds the token looks after the content, so the reason may name files.
        raise Refusal(Problem(409, "problem.reload_failed", {"reason": str(error)})) from error
    outcome = await run_sync(site.knowledge.spread, built)
    site.metrics.reloads.labels("changed" if outcome.changed else "unchanged").inc()
    shape = reports.Reloaded(
        changed=outcome.changed,
        generation=outcome.generation,
        workers=outcome.workers,
        behind=outcome.behind,
    )
    headers = {"Cache-Control": "no-store"}
    return Response(shape.model_dump_json(), media_type="application/json", headers=headers)


def check_token(authorization: str, token: str) -> None:
    """Raises Refusal unless the header brings the token, and always where there is none to bring."""
    if not token:
        raise Refusal(Problem(403, "problem.reload_closed"))
    scheme, _, given = authorization.partition(" ")
    matches = hmac.compare_digest(given.strip().encode(), token.encode())
    if scheme.lower() != "bearer" or not matches:
        raise Refusal(Problem(401, "problem.unauthorized", headers={"WWW-Authenticate": "Bearer"}))
