"""Where this application is hosted: the path before its own, and the names it answers to."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from jieda.presentation import paths
from jieda.settings import Settings
from jieda.web.http.problems import HttpProblem, render
from jieda.web.http.respond import own_path

HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?", re.IGNORECASE)
LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1", re.IGNORECASE)
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
        host = Headers(scope=scope).get("host", "")
        match = HOST.fullmatch(host)
        name = match[1].lower() if match else ""
        return bool(name) and (not self.allowed or any(_covers(pattern, name) for pattern in self.allowed))


def names_us(host: str, settings: Settings) -> bool:
    """Whether a Host header may be meant for us. Where host names are configured, `HostNames` has seen to it; a
    server that listens on this machine only answers to names of this machine and to that of its base address."""
    return bool(settings.allowed_hosts) or not LOOPBACK.fullmatch(settings.host) or _is_ours(host, settings)


def origin_is_ours(origin: str | None, settings: Settings) -> bool:
    """Whether the page that sends a request, if any does, is one of ours or of this machine.

    To answer to every host name, as `*` says, is not to let the pages of every site in.
    """
    scheme, separator, host = (origin or "").partition("://")
    return origin is None or (bool(separator) and scheme in {"http", "https"} and _is_ours(host, settings))


def is_from_our_pages(headers: Headers, settings: Settings) -> bool:
    """Whether a form comes from a page of ours, or from no page at all.

    Browsers say so themselves over HTTPS and on the machine itself, whatever a proxy makes of the names. Elsewhere they
    only name the site of the page, which is ours if it is the one that was asked or one that is configured.
    """
    said, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if said in {"same-origin", "none"} or (said is None and origin is None):
        return True
    if origin is None:
        return False
    site = origin.partition("://")[2].lower()
    return (bool(site) and site == headers.get("host", "").lower()) or origin_is_ours(origin, settings)


def _is_ours(host: str, settings: Settings) -> bool:
    match = HOST.fullmatch(host)
    name = match[1].lower() if match else ""
    base = urlsplit(settings.base_url).hostname or ""
    named = any(_covers(pattern, name) for pattern in settings.allowed_hosts if pattern != "*")
    return bool(name) and (named or name.strip("[]") == base or bool(LOOPBACK.fullmatch(name.strip("[]"))))


def _covers(pattern: str, name: str) -> bool:
    pattern = pattern.lower()
    return name.endswith(pattern[1:]) if pattern.startswith("*.") else pattern in {name, "*"}
