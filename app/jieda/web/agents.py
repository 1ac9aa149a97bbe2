"""The MCP endpoint for coding agents, started by the first request: importing the SDK takes a second and 30 MiB."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module

import anyio
from anyio.abc import TaskGroup, TaskStatus
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from jieda.agents.answering import Context


class AgentsEndpoint:
    """Creates the endpoint off the event loop on the first request; other requests wait for it."""

    def __init__(self, context_of: Callable[[Request], Context], most_bytes: int) -> None:
        """`context_of` returns the context of a request, whose body has at most `most_bytes`."""
        self._make = lambda: import_module("jieda.agents.protocol").HttpEndpoint(context_of, most_bytes)
        self._lock = anyio.Lock()
        self._tasks: TaskGroup | None = None
        self._endpoint: ASGIApp | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request. Raises RuntimeError outside `running`."""
        if self._tasks is None:
            raise RuntimeError("agents are answered while the application runs")
        async with self._lock:
            endpoint = self._endpoint or await self._tasks.start(self._run)
        await endpoint(scope, receive, send)

    async def _run(self, *, task_status: TaskStatus[ASGIApp]) -> None:
        endpoint = await run_sync(self._make)
        async with endpoint.running():
            self._endpoint = endpoint
            task_status.started(endpoint)
            await anyio.sleep_forever()
