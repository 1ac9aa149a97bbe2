"""Identifies the client of a request: by the address of the socket, or the one that a trusted proxy reports."""

from collections.abc import Iterable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.types import Scope

LONGEST = 64
"""Longest text accepted as an address, in characters."""
EVERYBODY = "*"
PREFIX = 8
"""Bytes of an IPv6 address that identify a client: a household or server is assigned the other 64 bits."""

Address = IPv4Address | IPv6Address


def claimed_address(scope: Scope) -> Address | None:
    """Return the address that the client or its proxy claims, for logs only: no decision is based on it."""
    host, _ = scope.get("client") or ("", 0)
    return parse(host)


def client_address(scope: Scope) -> Address | None:
    """Return the address of a client, or None where it is unknown, because a proxy passes on whatever it received. Only
    a direct connection can be loopback: a client forwarded as 127.0.0.1 is unknown."""
    address = claimed_address(scope)
    return None if address and address.is_loopback and is_forwarded(scope) else address


def is_forwarded(scope: Scope) -> bool:
    """Return whether a proxy forwarded the request."""
    return any(name == b"x-forwarded-for" for name, _ in scope["headers"])


def parse(host: str) -> Address | None:
    """Parse an address, dropping its zone; an IPv4-mapped IPv6 address becomes IPv4."""
    try:
        address = ip_address(host[:LONGEST].partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def client_key(address: Address | None) -> bytes:
    """Return the key that the limits of a client use. All clients without a known address share one."""
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
