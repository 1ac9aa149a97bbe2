"""The first responses of `jieda mcp`, sent from fixed text while the SDK and the content are still loading.

Clients wait for `initialize` before anything else, some for at most ten seconds; on a slow machine, loading takes
longer. `opening.json` contains what the SDK would respond: a test compares them, and
`python -m tests.agents.test_opening` writes the file. Then the SDK takes over, and the client's messages are replayed
to it.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Condition
from typing import Any, TextIO

FILE = Path(__file__).with_name("opening.json")
INITIALIZE, INITIALIZED, LIST_TOOLS, PING = "initialize", "notifications/initialized", "tools/list", "ping"
CANCELLED = "notifications/cancelled"
LAST_ANSWERS = 10.0
"""Seconds that requests may still take after the end of the client's input."""

Message = dict[str, Any]


class Opening:
    """A client's lines. `answer` responds to the first of them if it can; the SDK handles the rest, for which it uses
    this as a file, and gets those that it must not miss replayed."""

    def __init__(self, read: TextIO, write: TextIO, add_name: Callable[[Message], Message]) -> None:
        """`add_name` inserts the name of the site into the response to `initialize`."""
        self._read, self._write, self._add_name = read, write, add_name
        self._fixed: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
        self._replayed: deque[str] = deque()
        self._version = ""
        self._answered: object = None
        """The id of `initialize` until the SDK answers it, too, which the client must not see."""
        self._pending: set[str | int | None] = set()
        """Ids of the requests that the SDK has yet to answer."""
        self._pending_changed = Condition()

    def answer(self, is_loaded: Callable[[], bool], load: Callable[[], object]) -> None:
        """Respond until loading is complete or a request needs more than fixed text; `load` starts loading."""
        for line in iter(self._read.readline, ""):
            reply = None if is_loaded() else self._reply(line)
            if reply is None:
                self._replayed.append(line)
                break
            if reply:
                self._send(reply)
            load()

    def _send(self, message: Message) -> None:
        self._write.write(json.dumps(message, separators=(",", ":")) + "\n")
        self._write.flush()

    def _reply(self, line: str) -> Message | None:
        """Return the response to a line, empty if it needs none; None if fixed text does not suffice."""
        try:
            message = json.loads(line)
            method, params = message["method"], message.get("params") or {}
            version = params.get("protocolVersion") if method == INITIALIZE else self._version
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        if version not in self._fixed["versions"] or (method != INITIALIZED and "id" not in message):
            return None
        if method == INITIALIZED:
            self._replayed.append(line)
            return {}
        if method == PING:
            result: Message = {}
        elif method == LIST_TOOLS and not params.get("cursor"):
            result = self._fixed[LIST_TOOLS]
        elif method == INITIALIZE and not self._version:
            self._replayed.append(line)
            self._answered, self._version = message["id"], str(version)
            result = self._add_name(self._fixed[INITIALIZE] | {"protocolVersion": version})
        else:
            return None
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def readline(self) -> str:
        """Return the next message for the SDK, which would not answer a line that is none; empty at the end, but only
        once all requests are answered, because the SDK then drops its work."""
        while line := self._replayed.popleft() if self._replayed else self._read.readline():
            message = parsed(line)
            if is_call(message):
                break
            is_answer = isinstance(message, dict) and not message.keys().isdisjoint({"result", "error"})
            if line.strip() and not is_answer:
                code, text = (-32700, "Parse error") if message is None else (-32600, "Invalid Request")
                error = {"code": code, "message": text}
                self._send({"jsonrpc": "2.0", "id": _id_of(message), "error": error})
        with self._pending_changed:
            if not line:
                self._pending_changed.wait_for(lambda: not self._pending, LAST_ANSWERS)
                return ""
            if message.get("method") == CANCELLED:
                self._pending.discard(_id_of(message.get("params"), "requestId"))
            elif (request_id := _id_of(message)) is not None:
                self._pending.add(request_id)
        return f"{encoded(message).decode()}\n"

    def write(self, line: str) -> int:
        """Write a line of the SDK, or drop its answer to `initialize`."""
        message = parsed(line)
        request_id = None if is_call(message) else _id_of(message)
        if request_id is not None and request_id == self._answered:
            self._answered, written = None, len(line)
        else:
            written = self._write.write(line)
        with self._pending_changed:
            self._pending.discard(request_id)
            self._pending_changed.notify()
        return written

    def flush(self) -> None:
        self._write.flush()


def encoded(message: Message) -> bytes:
    """Return the JSON of a message with lone surrogates replaced. They are what remains of an emoji where a log was
    cut, and the SDK rejects them."""
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")


def parsed(text: str | bytes) -> Any:
    """Return the value of a JSON text; None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_call(value: Any) -> bool:
    """Whether a value is a request or a notification of JSON-RPC, its parameters by name."""
    return (
        isinstance(value, dict)
        and value.get("jsonrpc") == "2.0"
        and isinstance(value.get("method"), str)
        and type(value.get("id", "")) in {str, int}  # true is an int, too
        and isinstance(value.get("params"), dict | None)
    )


def _id_of(fields: object, name: str = "id") -> str | int | None:
    found = fields.get(name) if isinstance(fields, dict) else None
    return found if isinstance(found, str | int) else None
