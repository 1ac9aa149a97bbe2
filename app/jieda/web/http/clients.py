"""Who sends a request, by the address of the socket or that from a trusted proxy; whether the requested host name is
ours, and which pages may send forms here."""

import re
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from jieda.settings import Settings

MAX_ADDRESS = 64
"""Characters of the longest text that is parsed as an address."""
EVERYBODY = "*"
PREFIX = 8
"""Bytes of an IPv6 address that identify a client: each household or server is assigned the other 64 bits."""

Address = IPv4Address | IPv6Address


def claimed_address(scope: Scope) -> Address | None:
    """Return the address that the client or its proxy claims. Only for logs: no decision is based on it."""
    host, _ = scope.get("client") or ("", 0)
    return parse_address(host)


def client_address(scope: Scope) -> Address | None:
    """Return the address of a client; None if it is unknown because a proxy passes on whatever it received. Only a
    direct connection can be loopback: a client forwarded as 127.0.0.1 is unknown."""
    address = claimed_address(scope)
    return None if address and address.is_loopback and is_forwarded(scope) else address


def is_forwarded(scope: Scope) -> bool:
    """Return whether a proxy forwarded the request."""
    return any(name == b"x-forwarded-for" for name, _ in scope["headers"])


def parse_address(host: str) -> Address | None:
    """Parse an address without its zone; an IPv4-mapped IPv6 address becomes IPv4."""
    try:
        address = ip_address(host[:MAX_ADDRESS].partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def client_key(address: Address | None) -> bytes:
    """Return the key by which a client is limited. All clients without a known address share one."""
    if address is None:
        return b""
    return address.packed if address.version == 4 else address.packed[:PREFIX]


def is_among(address: Address | None, proxies: Iterable[str]) -> bool:
    """Return whether an address belongs to one of the proxies, each an address, a network or `*`."""
    for proxy in proxies:
        with suppress(ValueError):
            if proxy == EVERYBODY or (address is not None and address in ip_network(proxy)):
                return True
    return False


HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?", re.IGNORECASE)
LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|\[?::1\]?", re.IGNORECASE)


def parse_host(host: str) -> str:
    """Return the name from a Host header in lower case; empty if the header is malformed."""
    match = HOST.fullmatch(host)
    return match[1].lower() if match else ""


def matches(pattern: str, name: str) -> bool:
    """Return whether a pattern of JIEDA_ALLOWED_HOSTS matches: `*.example.com` any subdomain, `*` anything."""
    pattern = pattern.lower()
    return name.endswith(pattern[1:]) if pattern.startswith("*.") else pattern in {name, "*"}


def is_loopback(name: str) -> bool:
    """Return whether a name refers to the local machine."""
    return bool(LOOPBACK.fullmatch(name))


def is_allowed(name: str, settings: Settings) -> bool:
    """Return whether a name is configured explicitly; `*` does not count."""
    return bool(name) and any(matches(pattern, name) for pattern in settings.allowed_hosts if pattern != "*")


def is_our_host(host: str, settings: Settings) -> bool:
    """Return whether a Host header may refer to this site. If names are configured, `Hosting` has checked it. A server
    on a loopback address answers only to local names and to that of its base address."""
    return bool(settings.allowed_hosts) or not is_loopback(settings.host) or _is_own_name(host, settings)


def is_our_origin(origin: str | None, settings: Settings) -> bool:
    """Return whether the page that sends a request, if any, is ours or local; `*` does not admit other sites' pages."""
    scheme, separator, host = (origin or "").partition("://")
    return origin is None or (
        bool(separator) and scheme in {"http", "https"} and _is_own_name(host, settings)
    )


def is_from_our_pages(headers: Headers, settings: Settings) -> bool:
    """Return whether a form comes from a page of this site, or from no page at all.

    Over HTTPS and on localhost, browsers say so themselves, even if a proxy changes names. Elsewhere they only send the
    origin of the page, which is ours if it is the requested host or configured. Other local pages (a notebook, a server
    in development) are not ours: the browser would add the reader's password for us to their forms.
    """
    fetch_site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if fetch_site in {"same-origin", "none"} or (fetch_site is None and origin is None):
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
