"""The client of a team's own embedding server.

It uses OpenAI's `/v1/embeddings`, which vLLM, SGLang, Text Embeddings Inference and Ollama serve. It sends only queries
and texts of entries, and only to the address that the operator has set.
"""

import json
import ssl
from collections.abc import Sequence
from contextlib import closing, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from jieda.search.meaning.embedder import NotEmbedded, Vectors
from jieda.settings import Settings

LARGEST = 64 << 20
"""Most bytes read of an answer."""
LONGEST, SHORTER = 1000, 400
"""Most characters sent of a text, and those sent if the server refuses that: most models read 512 tokens, many servers
refuse more, and a Chinese character may be one."""
REFUSED = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
FOR_PASSAGES = 10
"""Factor of the timeout for a batch of passages; for a query somebody is waiting."""


class TextRefused(NotEmbedded):
    """A text is not accepted, probably because it is too long."""


class EndpointEmbedder:
    """Implements `embedder.Embedder`. Redirects are not followed."""

    is_remote = True
    is_reference = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._parts = urlsplit(settings.embeddings_url)
        self._tls = ssl.create_default_context() if self._parts.scheme == "https" else None
        # Without a model name only the address identifies the model.
        model = settings.embeddings_model or settings.embeddings_url
        self.name = f"{model} {settings.embeddings_passage}"

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Vectors:
        """Return a vector of length 1 for each text. Raises NotEmbedded."""
        with suppress(TextRefused):
            return self._embed(texts, LONGEST, as_query=as_query)
        return self._embed(texts, SHORTER, as_query=as_query)

    def _embed(self, texts: Sequence[str], longest: int, *, as_query: bool) -> Vectors:
        settings = self._settings
        prefix = settings.embeddings_query if as_query else settings.embeddings_passage
        timeout = settings.embeddings_timeout * (1 if as_query else FOR_PASSAGES)
        sent = [f"{prefix} {text[:longest]}" if prefix else text[:longest] for text in texts]
        size = settings.embeddings_batch
        return np.concatenate(
            [self._batch(sent[at : at + size], timeout) for at in range(0, len(sent), size)]
        )

    def _batch(self, texts: Sequence[str], timeout: int) -> Vectors:
        answer = self._ask({"model": self._settings.embeddings_model, "input": texts}, timeout)
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

    def _ask(self, body: dict[str, object], timeout: int) -> Any:
        """Return the decoded answer to a POST. Raises NotEmbedded."""
        target = urlunsplit(("", "", self._parts.path, self._parts.query, ""))
        key = self._settings.embeddings_key
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        try:
            with closing(self._connect(timeout)) as connection:
                connection.request("POST", target, json.dumps(body), headers)
                response = connection.getresponse()
                content = response.read(LARGEST)
        except (OSError, HTTPException) as error:
            raise NotEmbedded(f"its server does not answer ({type(error).__name__})") from error
        if response.status != HTTPStatus.OK:
            kind = TextRefused if response.status in REFUSED else NotEmbedded
            raise kind(f"its server returned status {response.status}")
        try:
            return json.loads(content)
        except ValueError as error:
            raise NotEmbedded("its server returned something other than JSON") from error

    def _connect(self, timeout: int) -> HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._tls:
            return HTTPSConnection(host, port, timeout=timeout, context=self._tls)
        return HTTPConnection(host, port, timeout=timeout)
