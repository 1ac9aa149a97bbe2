"""The protocol where its SDK is installed, which is an optional extra, and a sentence where it is not.

The SDK is imported when the first agent comes, not before: that takes a second of CPU and 30 MiB, and most processes,
each short command among them, never see an agent.
"""

from contextlib import AbstractAsyncContextManager
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

from starlette.types import Receive, Scope, Send

from jieda.agents.answering import Context
from jieda.errors import ExtraMissing

PROTOCOL = "jieda.agents.protocol"
EXTRA_MISSING = (
    "jieda mcp needs the SDK of the Model Context Protocol, which is an optional extra; install it beside Jieda:"
    " pip install 'jieda[mcp]', in a checkout: make install"
)


class Endpoint(Protocol):
    """What answers agents over HTTP, while `running` is open."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Entered once, before the first request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request whose host, origin and size have been looked at."""


def is_installed() -> bool:
    """Whether the SDK is."""
    return find_spec("mcp") is not None


def require() -> None:
    """Raises ExtraMissing where the SDK is not installed."""
    if not is_installed():
        raise ExtraMissing(EXTRA_MISSING)


def http_endpoint(context: Context, most_bytes: int) -> Endpoint:
    """What answers bodies of up to `most_bytes`. Takes a second the first time. Raises ExtraMissing."""
    require()
    endpoint: Endpoint = import_module(PROTOCOL).HttpEndpoint(context, most_bytes)
    return endpoint


async def serve_stdio(context: Context) -> None:
    """Answers on standard input and output until the input ends. Raises ExtraMissing."""
    require()
    await import_module(PROTOCOL).serve_stdio(context)
