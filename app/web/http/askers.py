"""Tells clients apart for some minutes: whether somebody who found nothing asked again and found something."""

import secrets
from dataclasses import dataclass, field
from hashlib import blake2b

from starlette.requests import Request

from app.web.http.clients import address_of, client_key

BYTES = 12
LONGEST = 300
"""Bytes of a header that are looked at."""


@dataclass(frozen=True, slots=True)
class Askers:
    """A hash for each client, by a key that is made at start and written nowhere: it can be compared within one process
    while that lives, and means nothing to anybody else."""

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def of(self, request: Request) -> bytes:
        """The hash of a client: of its address, or its network for IPv6, its program and its languages."""
        total = blake2b(client_key(address_of(request.scope)), key=self.key, digest_size=BYTES)
        for name in ("user-agent", "accept-language"):
            total.update(b"\0" + request.headers.get(name, "")[:LONGEST].encode())
        return total.digest()
