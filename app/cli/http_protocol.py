"""HTTP/1.1 as uvicorn and httptools read it, and addresses as people type them.

`curl 'localhost:8000/api/v1/search?q=显存不足'` sends the address as it stands, which no parser of HTTP takes. So every
byte from 0x80 on in a request line is percent-escaped before the parser sees it, and nothing else is touched: what ends
an address, a line or a request is ASCII, so that no escape can make or hide a boundary. Where a request line begins is
never guessed: the parser gets no more than one message at a time, and says itself how far it has come.
"""

import re
from enum import Enum, auto
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 1 << 16
"""Bytes of a request line with headers, of trailers, or of anything else that is no body."""
END_OF_HEAD = b"\r\n\r\n"
MAY_END_CHUNKS = re.compile(rb"\n\r\n|\A\r?\n")
"""Wherever a body in chunks ends, this does; it may have begun in the packet before."""
BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
TOO_LONG = "The head of this request is too long."


HOSTS = {"1.0": (0, 1), "1.1": (1,)}
"""How often a request names its host, by the versions that are spoken."""


class Malformed(Exception):
    """A request that two readers could read in two ways."""


class Phase(Enum):
    """What the parser expects next: a request line or the rest of one, the rest of a head, or a body."""

    LINE = auto()
    HEAD = auto()
    BODY = auto()


class TypedAddresses(HttpToolsProtocol):
    """A connection on which request lines may have raw bytes, and heads have a bound."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._phase = Phase.LINE
        self._is_addressed = False
        """Whether the parser has seen the address of this request, or a part of it."""
        self._left: int | None = None
        """Bytes of the body that are still to come; None where it comes in chunks."""
        self._bodiless = 0
        """Bytes since the request began, or since the last piece of its body."""
        self._begun = 0
        """Messages that began in the piece that is being read."""

    def data_received(self, data: bytes) -> None:
        """Reads what has arrived, piece by piece."""
        while data and not self.transport.is_closing():
            end = self._end_of_piece(data)
            piece, data = data[:end], data[end:]
            self._read(piece)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._begun += 1
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """An address, or a part of one."""
        self._is_addressed = True
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header. What comes behind a body is none: nothing that was decided by headers may change any more."""
        if self._phase is not Phase.BODY:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """A body may follow. Raises Malformed, which the parser makes a refusal, for what it is more lenient about than
        anybody between us and the client may be."""
        version = self.parser.get_http_version()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts not in HOSTS.get(version, ()):
            raise Malformed
        lengths = [int(value) for name, value in self.headers if name == b"content-length"]
        self._phase, self._left = Phase.BODY, lengths[0] if lengths else None
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        self._bodiless = 0
        if self._left is not None:
            self._left -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The next request may follow."""
        self._phase, self._is_addressed, self._bodiless = Phase.LINE, False, 0
        super().on_message_complete()

    def _end_of_piece(self, data: bytes) -> int:
        """How much of `data` is no more than one request, and no more than a line of it where that matters."""
        if self._phase is Phase.BODY:
            if self._left is not None:
                return self._left
            found = MAY_END_CHUNKS.search(data)
            return found.end() if found else len(data)
        # Nearly every request is one packet of plain ASCII, of which nothing needs to be known.
        is_plain = self._phase is Phase.LINE and data.isascii() and data.endswith(END_OF_HEAD)
        if is_plain and data.find(END_OF_HEAD) == len(data) - len(END_OF_HEAD):
            return len(data)
        return data.find(b"\n") + 1 or len(data)

    def _read(self, piece: bytes) -> None:
        phase, self._begun = self._phase, 0
        self._bodiless += len(piece)
        if phase is not Phase.BODY and self._bodiless > MOST_HEAD:
            self.send_400_response(TOO_LONG)
            return
        super().data_received(escaped(piece) if phase is Phase.LINE else piece)
        if self._phase is Phase.LINE and self._is_addressed and piece.endswith(b"\n"):
            self._phase = Phase.HEAD
        # What the parser takes for a boundary where we see none would be two opinions of where a request begins.
        if self._begun > (phase is Phase.LINE) or self._bodiless > MOST_HEAD or not piece:
            self.transport.abort()


def escaped(line: bytes) -> bytes:
    """A piece of a request line in ASCII."""
    return line if line.isascii() else BEYOND_ASCII.sub(lambda found: b"%%%02X" % ord(found[0]), line)
