"""The MCP endpoint for coding agents, started by the first request."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup, TaskStatus
from anyio.to_thread import run_sync
from starlette.types import Receive, Scope, Send

from jieda.agents.extra import Endpoint


class AgentsEndpoint:
    """Creates the endpoint off the event loop on the first request; concurrent requests wait for it."""

    def __init__(self, make: Callable[[], Endpoint]) -> None:
        self._make = make
        self._lock = anyio.Lock()
        self._tasks: TaskGroup | None = None
        self._endpoint: Endpoint | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Handle requests while this context is open."""
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

    async def _run(self, *, task_status: TaskStatus[Endpoint]) -> None:
        self._endpoint = await run_sync(self._make)
        async with self._endpoint.running():
            task_status.started(self._endpoint)
            await anyio.sleep_forever()
