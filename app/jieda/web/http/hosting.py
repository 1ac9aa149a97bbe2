"""Where this application is hosted: the path before its own, and the names it answers to."""

from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from jieda.presentation import paths
from jieda.web.http.names import covers, name_in
from jieda.web.http.problems import HttpProblem, render
from jieda.web.http.respond import own_path

PROBES = {paths.HEALTHZ, paths.READYZ}
"""Asked by address rather than by name, so that no list of host names can make a server look dead."""


@dataclass(frozen=True, slots=True)
class HostingPath:
    """Puts the hosting prefix back before the path where a proxy has stripped it.

    With the prefix in `path` and in `root_path` alike, as ASGI wants it, routes match in both proxy styles.
    """

    app: ASGIApp
    root_path: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say what the prefix is and complete the path where it is missing."""
        if scope["type"] == "http":
            scope["root_path"] = self.root_path
            if not self.covers(scope["path"]):
                scope["path"] = self.root_path + scope["path"]
        await self.app(scope, receive, send)

    def covers(self, path: str) -> bool:
        """Whether the prefix, if there is one, stands at the start of a path."""
        return not self.root_path or path == self.root_path or path.startswith(f"{self.root_path}/")


@dataclass(frozen=True, slots=True)
class HostNames:
    """Refuses requests whose Host is malformed or not in `allowed`; `*.example.com` allows all below it."""

    app: ASGIApp
    allowed: tuple[str, ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass what is addressed to us through."""
        if scope["type"] != "http" or self.accepts(scope):
            await self.app(scope, receive, send)
        else:
            answer = await render(Request(scope), HttpProblem(400, "problem.bad_host"))
            await answer(scope, receive, send)

    def accepts(self, scope: Scope) -> bool:
        """Whether the host that a request names is one of ours."""
        if own_path(scope) in PROBES:
            return True
        name = name_in(Headers(scope=scope).get("host", ""))
        return bool(name) and (not self.allowed or any(covers(pattern, name) for pattern in self.allowed))
