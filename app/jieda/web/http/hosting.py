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
class Hosting:
    """Restores the path prefix where a proxy has stripped it, and refuses requests whose Host is malformed or not in
    `allowed`; `*.example.com` allows all below it.

    With the prefix both in `path` and in `root_path`, as ASGI requires, routes match behind either kind of proxy.
    """

    app: ASGIApp
    root_path: str
    allowed: tuple[str, ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["root_path"] = self.root_path
            if scope["path"] != self.root_path and not scope["path"].startswith(f"{self.root_path}/"):
                scope["path"] = self.root_path + scope["path"]
            if not self.accepts(scope):
                answer = await render(Request(scope), HttpProblem(400, "problem.bad_host"))
                await answer(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def accepts(self, scope: Scope) -> bool:
        """Return whether the host of a request is accepted."""
        if own_path(scope) in PROBES:
            return True
        name = parse_host(Headers(scope=scope).get("host", ""))
        return bool(name) and (not self.allowed or any(covers(pattern, name) for pattern in self.allowed))
