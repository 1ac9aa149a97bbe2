"""The names of hosts that are ours: which requests are meant for us, and which pages may send them."""

import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from jieda.settings import Settings

HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?", re.IGNORECASE)
LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|\[?::1\]?", re.IGNORECASE)


def name_in(host: str) -> str:
    """The name in a Host header, in lower case; empty where the header is malformed."""
    match = HOST.fullmatch(host)
    return match[1].lower() if match else ""


def covers(pattern: str, name: str) -> bool:
    """Whether a name is one of JIEDA_ALLOWED_HOSTS; `*.example.com` covers all below it, `*` everything."""
    pattern = pattern.lower()
    return name.endswith(pattern[1:]) if pattern.startswith("*.") else pattern in {name, "*"}


def is_loopback(name: str) -> bool:
    """Whether a name is one that every machine has for itself."""
    return bool(LOOPBACK.fullmatch(name))


def is_allowed(name: str, settings: Settings) -> bool:
    """Whether a name is one that is configured: `*` names nobody."""
    return bool(name) and any(covers(pattern, name) for pattern in settings.allowed_hosts if pattern != "*")


def names_us(host: str, settings: Settings) -> bool:
    """Whether a Host header may be meant for us. Where host names are configured, `HostNames` has seen to it; a
    server that listens on this machine only answers to names of this machine and to that of its base address."""
    return bool(settings.allowed_hosts) or not is_loopback(settings.host) or _is_ours(host, settings)


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
    name, base = name_in(host), urlsplit(settings.base_url).hostname or ""
    at_base = bool(name) and name.strip("[]") == base
    return at_base or is_loopback(name) or is_allowed(name, settings)
