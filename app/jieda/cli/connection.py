"""A connection of HTTP/1.1 with deadlines and plain limits, on uvicorn's protocol and httptools' parser.

`curl 'localhost:8000/api/v1/search?q=显存不足'` sends the address as it stands, which no parser of HTTP takes: bytes
from 0x80 on in a request line are percent-escaped before the parser sees them. What ends an address, a line or a
request is ASCII, so that no escape can make or hide a boundary; and only the first line of a packet is touched, where
no request is under way.
"""

import asyncio
import re
import resource
from dataclasses import dataclass
from typing import Any, Self

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from jieda.settings import Settings
from jieda.web.http.clients import client_key, is_among, parse

SECONDS_FOR_HEADERS = 10.0
"""From the start of a connection, or the end of the last answer, to the end of a request's headers; also what a body
may take before LEAST_RATE counts."""
LEAST_RATE = 1024.0
"""Bytes of a body that arrive in a second."""
SECONDS_WITHOUT_READING = 20.0
LEAST_READ = 1 << 16
"""Bytes: a client that takes fewer of what waits for it in SECONDS_WITHOUT_READING is given up."""
SECONDS_BETWEEN_LOOKS = 2.0
MOST_CONNECTIONS = 4000
"""In each worker, or half of the file descriptors where those are fewer."""
MOST_OF_ONE_CLIENT = 200
MOST_HEAD = 1 << 16
"""Bytes of a request line with headers."""
TOO_LONG = "The head of this request is too long."
BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
HOSTS = {"1.0": (0, 1), "1.1": (1,)}
"""How often a request names its host, by the versions that are spoken."""


class Malformed(Exception):
    """A request that two readers could read in two ways."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be. `trusted` proxies bring more than one client and count as nobody."""

    most: int
    of_one_client: int
    trusted: tuple[str, ...]

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Half of the files that this process may open are for connections."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = min(MOST_CONNECTIONS, files // 2)
        one = min(MOST_OF_ONE_CLIENT, most // 2) if settings.limits else most
        return cls(most, one, settings.trusted_proxies)


class LimitedConnection(HttpToolsProtocol):
    """A connection that is looked after every two seconds, for as long as it is open."""

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._timer: asyncio.TimerHandle | None = None
        self._unsent, self._taken_at = 0, 0.0
        self._asking_since = 0.0
        self._line = b""
        """The beginning of a request line, whose end has not arrived yet."""
        self._head = 0
        """Bytes of the request whose headers are incomplete."""
        self._body = 0
        """Bytes of the body so far."""
        self._in_request = self._has_headers = False
        self.who = b""
        """The client, or empty where it may have as many connections as it likes."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in the base class
        """Begin to look after it; refuse it where there are enough."""
        super().connection_made(transport)
        self._asking_since = self._taken_at = self.loop.time()
        address = parse(self.client[0]) if self.client else None
        if address and not is_among(address, self._limits.trusted):
            self.who = client_key(address)
        same = sum(getattr(each, "who", b"") == self.who for each in self.connections) if self.who else 0
        if len(self.connections) > self._limits.most or same > self._limits.of_one_client:
            transport.abort()
        else:
            self._timer = self.loop.call_later(SECONDS_BETWEEN_LOOKS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what has arrived; of a request line not before all of it has."""
        if not self._in_request:
            self._line = (self._line + data).lstrip(b"\r\n")
            if b"\n" not in self._line and len(self._line) <= MOST_HEAD:
                return
            line, end, rest = self._line.partition(b"\n")
            data, self._line = escaped(line) + end + rest, b""
        self._head += len(data)
        super().data_received(data)
        if self._in_request and not self._has_headers and self._head > MOST_HEAD:
            self.send_400_response(TOO_LONG)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_request, self._has_headers = True, False
        self._head = self._body = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header. What comes behind a body is none: nothing that headers decided may change any more."""
        if not self._has_headers:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """A body may follow. Raises Malformed, which the parser makes a refusal, for what it is more lenient about than
        anybody between us and the client may be."""
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts not in HOSTS.get(self.parser.get_http_version(), ()):
            raise Malformed
        self._has_headers = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The next request may follow."""
        self._in_request = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The client may ask again."""
        self._asking_since, self._body = self.loop.time(), 0
        super().on_response_complete()

    @property
    def asks(self) -> bool:
        """Whether some of the request has yet to come."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _look(self) -> None:
        if self._has_stopped_reading() or self._takes_too_long_to_ask():
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(SECONDS_BETWEEN_LOOKS, self._look)

    def _has_stopped_reading(self) -> bool:
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if not unsent or abs(unsent - self._unsent) >= LEAST_READ:
            self._unsent, self._taken_at = unsent, now
        return now - self._taken_at > SECONDS_WITHOUT_READING

    def _takes_too_long_to_ask(self) -> bool:
        if not self.asks or self.flow.read_paused or self.transport.get_write_buffer_size():
            return False
        return self.loop.time() - self._asking_since > SECONDS_FOR_HEADERS + self._body / LEAST_RATE


def escaped(line: bytes) -> bytes:
    """A request line in ASCII."""
    return line if line.isascii() else BEYOND_ASCII.sub(lambda found: b"%%%02X" % ord(found[0]), line)
