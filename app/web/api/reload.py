"""Taking up changed content on request, for those who hold the token."""

import hmac

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from app.web.api import reports
from app.web.dependencies import site_of
from app.web.problems import Problem, Refusal


async def reload_content(request: Request) -> Response:
    """Read the content again and serve what changed. Needs the token; closed where none is configured."""
    site = site_of(request)
    check_token(request.headers.get("authorization", ""), site.settings.reload_token)
    changed = await run_sync(site.knowledge.reload)
    if site.knowledge.failure:
        site.metrics.reloads.labels("failed").inc()
        # Whoever holds the token looks after the content, so the reason may name files.
        raise Refusal(Problem(409, "problem.reload_failed", {"reason": site.knowledge.failure}))
    site.metrics.reloads.labels("changed" if changed else "unchanged").inc()
    shape = reports.Reloaded(changed=changed, generation=site.knowledge.snapshot.generation)
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
