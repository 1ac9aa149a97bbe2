"""Lazy import of the MCP SDK.

The SDK is imported for the first agent and not before: that takes a second of CPU and 30 MiB, and most processes, among
them all short commands, never serve an agent.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Protocol

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from jieda.agents.answering import Context


class Endpoint(Protocol):
    """Handles MCP over HTTP while `running` is open."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """To be entered once, before the first request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request whose host, origin and size have been checked."""


def http_endpoint(context_of: Callable[[Request], Context], most_bytes: int) -> Endpoint:
    """Create the endpoint for bodies of up to `most_bytes`; `context_of` gives each request's context. Takes a second
    the first time."""
    endpoint: Endpoint = import_module("jieda.agents.protocol").HttpEndpoint(context_of, most_bytes)
    return endpoint
