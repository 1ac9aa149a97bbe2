"""`/mcp`: coding agents over HTTP, under the same limits as all other requests."""

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec

from anyio.to_thread import run_sync
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from jieda.agents.answering import Context
from jieda.agents.opening import encoded, is_call, parsed
from jieda.site_texts import SiteTexts
from jieda.web.api.body import read_json_bytes
from jieda.web.http.body import check_structure, is_json
from jieda.web.http.clients import is_our_host, is_our_origin
from jieda.web.http.problems import HttpProblem
from jieda.web.http.respond import NO_STORE
from jieda.web.site import client_of, site_of

MAX_STRINGS, MAX_OUTSIDE = 1000, 1 << 14
"""Ample for what clients send about themselves and a call."""
LARGE = 1 << 16
"""Bytes from which parsing a message takes several milliseconds and therefore runs off the event loop."""


@dataclass(slots=True)
class AgentsAnswer(Response):
    """The SDK's response to a message, whose body has been read already."""

    context: Context
    message: bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request; the first one imports the SDK, off the event loop."""
        protocol = await run_sync(import_module, "jieda.agents.protocol")

        async def uncached(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Cache-Control"] = NO_STORE
            await send(message)

        await protocol.serve_request(self.context, self.message, scope, receive, uncached)


async def mcp(request: Request) -> Response:
    """Handle an MCP message. Raises TooLarge, and HttpProblem if the sender is a page of another site, the body is not
    JSON, or the SDK is missing.

    Browsers always send a page's origin. A site that points its host name at this server still has a foreign name.
    """
    if find_spec("mcp") is None:
        raise HttpProblem(404, "problem.no_agents")
    site = site_of(request)
    settings, knowledge = site.settings, site.knowledge
    if not is_our_host(request.headers.get("host", ""), settings):
        raise HttpProblem(400, "problem.bad_host")
    if not is_our_origin(request.headers.get("origin"), settings):
        raise HttpProblem(403, "problem.bad_origin")
    if not is_json(request):
        raise HttpProblem(415, "problem.not_json_rpc", headers={"Accept-Post": "application/json"})
    body = await read_json_bytes(request, site.service.settings.max_log_bytes)
    if len(body) > LARGE:
        body = await site.service.offload(partial(checked_message, body))
    else:
        body = checked_message(body)
    texts = knowledge.snapshot.library.site if knowledge.ready else SiteTexts()
    return AgentsAnswer(Context(client_of(request), lambda: texts), body)


async def no_stream(_request: Request) -> Response:
    """Decline an event stream at `/mcp/`, which would else be taken for the address of a language."""
    raise HttpProblem(405, "problem.method_not_allowed", headers={"Allow": "POST"})


def checked_message(body: bytes) -> bytes:
    """Return a message as the SDK can read it. Raises HttpProblem for one with too many strings, and for anything but a
    JSON-RPC request or notification, which the SDK would quote back to its sender."""
    check_structure(body, strings=MAX_STRINGS, outside=MAX_OUTSIDE)
    message = parsed(body)
    if not is_call(message):
        raise HttpProblem(400, "problem.not_json_rpc")
    return encoded(message)
