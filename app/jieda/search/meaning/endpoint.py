"""The client of a team's own embedding server.

It uses OpenAI's `/v1/embeddings`, which vLLM, SGLang, Text Embeddings Inference and Ollama serve. It sends only queries
and texts of entries, and only to the address that the operator has set.
"""

import json
import ssl
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from jieda.search.meaning.embedder import NotEmbedded, Vectors

LARGEST = 64 << 20
"""Most bytes read of an answer."""
LONGEST = 1000
"""Most characters sent of a text: most models read 512 tokens, and many servers refuse more."""
FOR_PASSAGES = 10
"""Factor of the timeout for a batch of passages; for a query somebody is waiting."""


@dataclass(frozen=True, slots=True, repr=False)
class ModelEndpoint:
    """Address and parameters of a model: `query` and `passage` are the prefixes that it wants before such texts,
    `batch` the most texts per request, `timeout` the seconds for each step of a request for a query."""

    url: str
    model: str = ""
    key: str = ""
    query: str = ""
    passage: str = ""
    batch: int = 32
    timeout: float = 2.0

    def __repr__(self) -> str:
        return f"Endpoint of {self.model or 'a model'}"


class EndpointEmbedder:
    """Implements `embedder.Embedder`. Redirects are not followed."""

    waits = True
    measured = False

    def __init__(self, endpoint: ModelEndpoint) -> None:
        self._endpoint = endpoint
        self._parts = urlsplit(endpoint.url)
        self._tls = ssl.create_default_context() if self._parts.scheme == "https" else None
        # Without a model name only the address identifies the model.
        self.name = f"{endpoint.model or endpoint.url} {endpoint.passage}"

    def embed(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
        """Return a vector of length 1 for each text. Raises NotEmbedded."""
        prefix = self._endpoint.query if asked else self._endpoint.passage
        timeout = self._endpoint.timeout * (1 if asked else FOR_PASSAGES)
        sent = [f"{prefix} {text[:LONGEST]}" if prefix else text[:LONGEST] for text in texts]
        starts = range(0, len(sent), self._endpoint.batch)
        return np.concatenate([self._batch(sent[at : at + self._endpoint.batch], timeout) for at in starts])

    def _batch(self, texts: Sequence[str], timeout: float) -> Vectors:
        answer = self._ask({"model": self._endpoint.model, "input": texts}, timeout)
        try:
            rows = sorted(answer["data"], key=lambda row: int(row["index"]))
            vectors: Vectors = np.array([row["embedding"] for row in rows], np.float32)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        except (KeyError, TypeError, ValueError) as error:
            raise NotEmbedded("its server returned no vectors") from error
        if len(vectors) != len(texts) or not (lengths > 0).all():
            raise NotEmbedded("its server returned other vectors than were requested")
        vectors /= lengths
        return vectors

    def _ask(self, body: dict[str, object], timeout: float) -> Any:
        """Return the decoded answer to a POST. Raises NotEmbedded."""
        target = urlunsplit(("", "", self._parts.path, self._parts.query, ""))
        key = {"Authorization": f"Bearer {self._endpoint.key}"} if self._endpoint.key else {}
        try:
            with closing(self._connect(timeout)) as connection:
                connection.request(
                    "POST", target, json.dumps(body), {"Content-Type": "application/json", **key}
                )
                response = connection.getresponse()
                content = response.read(LARGEST)
        except (OSError, HTTPException) as error:
            raise NotEmbedded(f"its server does not answer ({type(error).__name__})") from error
        if response.status != HTTPStatus.OK:
            raise NotEmbedded(f"its server returned status {response.status}")
        try:
            return json.loads(content)
        except ValueError as error:
            raise NotEmbedded("its server returned something other than JSON") from error

    def _connect(self, timeout: float) -> HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._tls:
            return HTTPSConnection(host, port, timeout=timeout, context=self._tls)
        return HTTPConnection(host, port, timeout=timeout)
