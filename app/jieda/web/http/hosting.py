"""Where the application is hosted: its path prefix and its host names."""

from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from jieda.presentation import paths
from jieda.web.http.names import covers, parse_host
from jieda.web.http.problems import HttpProblem, render
from jieda.web.http.respond import own_path

PROBES = {paths.HEALTHZ, paths.READYZ}
"""Paths requested by IP address, so exempt: no list of host names can make a server look dead."""


@dataclass(frozen=True, slots=True)
class HostingPath:
    """Restores the path prefix where a proxy has stripped it.

    With the prefix both in `path` and in `root_path`, as ASGI requires, routes match behind either kind of proxy.
    """

    app: ASGIApp
    root_path: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["root_path"] = self.root_path
            if not self.covers(scope["path"]):
                scope["path"] = self.root_path + scope["path"]
        await self.app(scope, receive, send)

    def covers(self, path: str) -> bool:
        """Return whether a path begins with the prefix, if there is one."""
        return not self.root_path or path == self.root_path or path.startswith(f"{self.root_path}/")


@dataclass(frozen=True, slots=True)
class HostNames:
    """Refuses requests whose Host is malformed or not in `allowed`; `*.example.com` allows all below it."""

    app: ASGIApp
    allowed: tuple[str, ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self.accepts(scope):
            await self.app(scope, receive, send)
        else:
            answer = await render(Request(scope), HttpProblem(400, "problem.bad_host"))
            await answer(scope, receive, send)

    def accepts(self, scope: Scope) -> bool:
        """Return whether the host of a request is accepted."""
        if own_path(scope) in PROBES:
            return True
        name = parse_host(Headers(scope=scope).get("host", ""))
        return bool(name) and (not self.allowed or any(covers(pattern, name) for pattern in self.allowed))
