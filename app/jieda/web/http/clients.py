"""Who sends a request, as far as can be known: the address of the socket, or the one that a trusted proxy names."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.types import Scope

LONGEST = 64
"""Characters of an address; whoever writes more writes something else."""
EVERYBODY = "*"
PREFIX = 8
"""Bytes of an IPv6 address that one client has: a household or a server gets 64 bits to choose from."""

Address = IPv4Address | IPv6Address


def named_address(scope: Scope) -> Address | None:
    """Return the address that a client says it has or its proxy says, for logs: nothing is decided by it."""
    host, _ = scope.get("client") or ("", 0)
    return parse(host)


def address_of(scope: Scope) -> Address | None:
    """Return the address of a client, or None where something else stands in its place: a proxy hands on what it was
    told. Only a socket is from this machine: whoever is forwarded as 127.0.0.1 is nobody in particular."""
    address = named_address(scope)
    return None if address and address.is_loopback and is_forwarded(scope) else address


def is_forwarded(scope: Scope) -> bool:
    """Whether a proxy says that it asks for somebody else."""
    return any(name == b"x-forwarded-for" for name, _ in scope["headers"])


def parse(host: str) -> Address | None:
    """An address without the zone that it may name; an IPv4 address written as IPv6 is one of IPv4."""
    try:
        address = ip_address(host[:LONGEST].partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def client_key(address: Address | None) -> bytes:
    """What the limits of a client go by. Those whose address nobody knows are one client."""
    if address is None:
        return b""
    return address.packed if address.version == 4 else address.packed[:PREFIX]


def is_among(address: Address | None, proxies: Iterable[str]) -> bool:
    """Whether an address is that of one of some proxies, each an address, a network or `*`."""
    for proxy in proxies:
        if proxy == EVERYBODY:
            return True
        try:
            if address is not None and address in ip_network(proxy):
                return True
        except ValueError:
            continue
    return False
