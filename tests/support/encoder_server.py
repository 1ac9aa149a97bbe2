"""An embeddings server with the API of vLLM and others; it serves transformed vectors of the installed encoder."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from jieda.search.meaning.embedder import Embedder

KEY = "a-key"


@dataclass
class EncoderServer:
    """`asked` are the received requests. `status` and `pause` control the responses, and texts of more than
    `longest` bytes are refused; `wider` makes the vectors longer; `port` 0 picks a free port."""

    encoder: Embedder
    port: int = 0
    status: int = 200
    pause: float = 0.0
    longest: int = 1 << 20
    wider: bool = False
    asked: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The address of the endpoint."""
        return f"http://127.0.0.1:{self.port}/v1/embeddings"

    @property
    def texts(self) -> list[str]:
        """All texts received."""
        return [text for request in self.asked for text in request["input"]]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return vectors of twice the width, any two with a cosine of at least .8, in reverse order."""
        self.asked.append(request)
        vectors = self.encoder.embed([text.partition(": ")[2] or text for text in request["input"]])
        alike = np.full_like(vectors, 2 / np.sqrt(vectors.shape[1]))
        parts = [vectors, alike, alike] if self.wider else [vectors, alike]
        rows = enumerate(np.concatenate(parts, axis=1).tolist())
        return {"data": [{"index": number, "embedding": row} for number, row in reversed(list(rows))]}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Listen while this context is open."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 5

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                time.sleep(outer.pause)
                is_ours = self.headers["Authorization"] == f"Bearer {KEY}" and self.path == "/v1/embeddings"
                status = outer.status if is_ours else 401
                if any(len(text.encode()) > outer.longest for text in body["input"]):
                    status = 413
                sent = json.dumps(outer.answer(body) if status == 200 else {"error": "no"}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
