"""Host names of this site: which requests are addressed to it, and which pages may send forms to it."""

import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from jieda.settings import Settings

HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?", re.IGNORECASE)
LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|\[?::1\]?", re.IGNORECASE)


def parse_host(host: str) -> str:
    """Return the name from a Host header in lower case; empty where the header is malformed."""
    match = HOST.fullmatch(host)
    return match[1].lower() if match else ""


def covers(pattern: str, name: str) -> bool:
    """Return whether a pattern of JIEDA_ALLOWED_HOSTS matches: `*.example.com` any subdomain, `*` everything."""
    pattern = pattern.lower()
    return name.endswith(pattern[1:]) if pattern.startswith("*.") else pattern in {name, "*"}


def is_loopback(name: str) -> bool:
    """Return whether a name means the local machine."""
    return bool(LOOPBACK.fullmatch(name))


def is_allowed(name: str, settings: Settings) -> bool:
    """Return whether a name is configured explicitly; `*` does not count."""
    return bool(name) and any(covers(pattern, name) for pattern in settings.allowed_hosts if pattern != "*")


def is_our_host(host: str, settings: Settings) -> bool:
    """Return whether a Host header may mean this site. `Hosting` has checked it where names are configured; a server
    on a loopback address answers only to local names and to that of its base address."""
    return bool(settings.allowed_hosts) or not is_loopback(settings.host) or _is_own_name(host, settings)


def is_our_origin(origin: str | None, settings: Settings) -> bool:
    """Return whether the page that sends a request, if any, is ours or local; `*` does not admit every site's pages."""
    scheme, separator, host = (origin or "").partition("://")
    return origin is None or (
        bool(separator) and scheme in {"http", "https"} and _is_own_name(host, settings)
    )


def is_from_our_pages(headers: Headers, settings: Settings) -> bool:
    """Return whether a form comes from a page of this site, or from no page at all.

    Over HTTPS and on localhost browsers say so themselves, even if a proxy changes names. Elsewhere they only send the
    origin of the page, which is ours if it equals the requested host or is configured. Other local pages (a notebook, a
    server in development) are not: the browser adds the reader's password for us to their forms.
    """
    said, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if said in {"same-origin", "none"} or (said is None and origin is None):
        return True
    if origin is None:
        return False
    site = origin.partition("://")[2].lower()
    is_requested = bool(site) and site == headers.get("host", "").lower()
    return is_requested or (is_our_origin(origin, settings) and not is_loopback(parse_host(site)))


def _is_own_name(host: str, settings: Settings) -> bool:
    name, base = parse_host(host), urlsplit(settings.base_url).hostname or ""
    at_base = bool(name) and name.strip("[]") == base
    return at_base or is_loopback(name) or is_allowed(name, settings)
