"""Stand-ins for the network and nodes of a cluster: a scripted node, and a connection that can be cut."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from tests.support.serving import answering

ActionResult = tuple[int, object]
"""Status and JSON of a response."""


@contextmanager
def node(answer: Callable[[str, str, bytes, dict[str, str]], ActionResult]) -> Iterator[str]:
    """Run a cluster node; `answer` gets method, path, body and headers. Yields its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, content = answer(self.command, self.path, body, dict(self.headers))
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = reply  # noqa: N815 - the names that the base class looks for

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with answering(Handler) as address:
        yield address


class Line:
    """A forwarding connection with an address of its own that can be cut and restored: while `hanging`, it accepts
    connections without forwarding anything; while `cut`, it closes them at once."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = parts.hostname or "", parts.port or 80
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self.cut = self.hanging = False
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        """Cut it now, including open connections."""
        self.cut = True
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open.clear()

    def close(self) -> None:
        """Close it for good."""
        self.stop()
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            if self.cut:
                near.close()
                continue
            self._open.append(near)
            if self.hanging:
                continue
            far = socket.create_connection(self._target)
            self._open.append(far)
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if self.hanging:
                    return
                sink.sendall(data)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
