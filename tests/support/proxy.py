"""A reverse proxy that serves an application below a path prefix, in either of the two usual styles."""

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from tests.support.serving import answering

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "host"}


@contextmanager
def proxied(upstream: str, prefix: str, *, strips: bool) -> Iterator[str]:
    """Serve `upstream` below `prefix` on a free port and yield the base address.

    `strips`: the proxy removes the prefix. Paths outside the prefix get 502: nothing may link there.
    """
    target = urlsplit(upstream).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are written separately: with Nagle's algorithm, each response would wait 40 ms for an
        # acknowledgement.
        disable_nagle_algorithm = True

        def pass_on(self) -> None:
            if not self.path.startswith(prefix + "/"):
                self.send_error(502, "outside of the prefix")
                return
            path = self.path.removeprefix(prefix) if strips else self.path
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            connection = http.client.HTTPConnection(target, timeout=30)
            try:
                connection.request(self.command, path, body, headers | {"Host": self.headers["Host"]})
                answer = connection.getresponse()
                content = answer.read()
            finally:
                connection.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP | {"content-length", "date", "server"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_HEAD = do_POST = pass_on  # noqa: N815 - the names that the base class looks for

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with answering(Handler) as address:
        yield address
