"""`/mcp`: coding agents over HTTP, under the same limits as all other requests."""

import json
from functools import partial

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from jieda.web.agents import AgentsEndpoint
from jieda.web.api.body import read_json_bytes
from jieda.web.http.body import check_structure, is_json
from jieda.web.http.clients import is_our_host, is_our_origin
from jieda.web.http.problems import HttpProblem
from jieda.web.http.respond import NO_STORE
from jieda.web.site import Site, site_of

MAX_STRINGS, MAX_OUTSIDE = 1000, 1 << 14
"""Ample for what clients send about themselves and a call."""
LARGE = 1 << 16
"""Bytes from which parsing a message takes several milliseconds and therefore runs off the event loop."""


class ReplayedBody(Response):
    """The endpoint's response to a request whose body has been read already."""

    def __init__(self, endpoint: AgentsEndpoint, body: bytes) -> None:
        super().__init__()
        self._endpoint = endpoint
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = iter([{"type": "http.request", "body": self._body, "more_body": False}])

        async def received() -> Message:
            return next(body, None) or await receive()

        async def uncached(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Cache-Control"] = NO_STORE
            await send(message)

        await self._endpoint(scope, received, uncached)


async def mcp(request: Request) -> Response:
    """Handle an MCP message. Raises TooLarge, and HttpProblem if the sender is a page of another site, the body is not
    JSON, or the SDK is missing.

    Browsers always send a page's origin. A site that points its host name at this server still has a foreign name.
    """
    site = site_of(request)
    endpoint = require_endpoint(site)
    settings = site.settings
    if not is_our_host(request.headers.get("host", ""), settings):
        raise HttpProblem(400, "problem.bad_host")
    if not is_our_origin(request.headers.get("origin"), settings):
        raise HttpProblem(403, "problem.bad_origin")
    if not is_json(request):
        raise HttpProblem(415, "problem.not_json_rpc", headers={"Accept-Post": "application/json"})
    body = await read_json_bytes(request, site.service.settings.max_log_bytes)
    if len(body) > LARGE:
        await site.service.offload(partial(check_message, body))
    else:
        check_message(body)
    return ReplayedBody(endpoint, body)


def check_message(body: bytes) -> None:
    """Raise HttpProblem for a message with too many strings, and for anything but a JSON-RPC request or notification,
    which the SDK would quote back to its sender."""
    check_structure(body, strings=MAX_STRINGS, outside=MAX_OUTSIDE)
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    is_message = (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and type(message.get("id", "")) in {str, int}  # true is an int, too
        and isinstance(message.get("params", {}), dict)
    )
    if not is_message:
        raise HttpProblem(400, "problem.not_json_rpc")


async def no_stream(request: Request) -> Response:
    """Decline an event stream, as the protocol allows: this server sends no events."""
    require_endpoint(site_of(request))
    raise HttpProblem(405, "problem.method_not_allowed", headers={"Allow": "POST"})


def require_endpoint(site: Site) -> AgentsEndpoint:
    """Return the endpoint. Raises HttpProblem if the SDK is not installed."""
    if site.agents is None:
        raise HttpProblem(404, "problem.no_agents")
    return site.agents
