"""Tells clients apart for some minutes: whether somebody who found nothing asked again and found something."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import blake2b

from starlette.requests import Request

from app.web.http.clients import address_of, client_key

BYTES = 12
MOST_VOTES = 3
"""Votes on an entry that one address may give, as long as a process lives."""
MOST_VOTERS = 10_000
"""Addresses and entries that are remembered; those are forgotten first who voted longest ago."""
LONGEST = 300
"""Bytes of a header that are looked at."""


@dataclass(frozen=True, slots=True)
class Askers:
    """A hash for each client, by a key that is made at start and written nowhere: it can be compared within one process
    while that lives, and means nothing to anybody else."""

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    votes: OrderedDict[bytes, int] = field(default_factory=OrderedDict)

    def may_vote(self, request: Request, entry: str) -> bool:
        """Whether an address has not voted too often on an entry; the vote is counted then. This machine always may:
        it may be a proxy that does not say for whom it asks."""
        address = address_of(request.scope)
        if address and address.is_loopback:
            return True
        who = blake2b(client_key(address) + entry.encode(), key=self.key, digest_size=BYTES).digest()
        given = self.votes.pop(who, 0)
        self.votes[who] = min(given + 1, MOST_VOTES)
        if len(self.votes) > MOST_VOTERS:
            self.votes.popitem(last=False)
        return given < MOST_VOTES

    def of(self, request: Request) -> bytes:
        """The hash of a client: of its address, or its network for IPv6, its program and its languages."""
        total = blake2b(client_key(address_of(request.scope)), key=self.key, digest_size=BYTES)
        for name in ("user-agent", "accept-language"):
            total.update(b"\0" + request.headers.get(name, "")[:LONGEST].encode())
        return total.digest()
