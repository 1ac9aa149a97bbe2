"""The first responses of `jieda mcp`, sent from fixed text while the SDK and the content are still loading.

A client waits for `initialize` before anything else, some for at most ten seconds; loading takes longer on a slow
machine. `opening.json` contains the SDK's responses; a test compares them, and `python -m tests.agents.test_opening`
writes the file. Afterwards the client's messages are replayed to the SDK, which takes over.
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
"""Seconds that requests may still take once the client has said everything."""

Message = dict[str, Any]


class Opening:
    """The lines of a client. `answer` responds to the first ones where it can; the SDK reads and writes the others, as
    of a file, and is given again what it has to know of the first."""

    def __init__(self, read: TextIO, write: TextIO, name: Callable[[Message], Message]) -> None:
        """`name` inserts the name of the site into the response to `initialize`."""
        self._read, self._write, self._name = read, write, name
        self._fixed: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
        self._replayed: deque[str] = deque()
        self._version = ""
        self._answered: object = None
        """The id of `initialize`, until the SDK has given its own answer, which the client must not see."""
        self._asked: set[str | int | None] = set()
        """Ids of the requests that the SDK has yet to answer."""
        self._answering = Condition()

    def answer(self, is_loaded: Callable[[], bool], load: Callable[[], object]) -> None:
        """Respond until a request needs more than fixed text or loading is complete; `load` starts loading."""
        for line in iter(self._read.readline, ""):
            reply = None if is_loaded() else self._reply(line)
            if reply is None:
                self._replayed.append(line)
                break
            if reply:
                self._write.write(json.dumps(reply, separators=(",", ":")) + "\n")
                self._write.flush()
            load()

    def _reply(self, line: str) -> Message | None:
        """Return the response to a line, empty where none is needed; None where fixed text does not suffice."""
        try:
            message = json.loads(line)
            method, given = message["method"], message.get("params") or {}
            known = given.get("protocolVersion") if method == INITIALIZE else self._version
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        if known not in self._fixed["versions"] or (method != INITIALIZED and "id" not in message):
            return None
        if method == INITIALIZED:
            self._replayed.append(line)
            return {}
        if method == PING:
            result: Message = {}
        elif method == LIST_TOOLS and not given.get("cursor"):
            result = self._fixed[LIST_TOOLS]
        elif method == INITIALIZE and not self._version:
            self._replayed.append(line)
            self._answered, self._version = message["id"], str(known)
            result = self._name(self._fixed[INITIALIZE] | {"protocolVersion": known})
        else:
            return None
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def readline(self) -> str:
        """Return the next line for the SDK; empty at the end, once all before it is answered: at the end the SDK drops
        what it is working on."""
        line = self._replayed.popleft() if self._replayed else self._read.readline()
        message = _parse(line)
        number = _id_of(message)
        with self._answering:
            if not line:
                self._answering.wait_for(lambda: not self._asked, LAST_ANSWERS)
            elif message.get("method") == CANCELLED:
                self._asked.discard(_id_of(message.get("params"), "requestId"))
            elif number is not None:
                self._asked.add(number)
        return line

    def write(self, line: str) -> int:
        """Write a line of the SDK, or drop its answer to `initialize`."""
        message = _parse(line)
        number = None if "method" in message else _id_of(message)
        if number is not None and number == self._answered:
            self._answered, written = None, len(line)
        else:
            written = self._write.write(line)
        with self._answering:
            self._asked.discard(number)
            self._answering.notify()
        return written

    def flush(self) -> None:
        self._write.flush()


def _parse(line: str) -> Message:
    """Return the message of a line; empty where it is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _id_of(fields: object, name: str = "id") -> str | int | None:
    found = fields.get(name) if isinstance(fields, dict) else None
    return found if isinstance(found, str | int) else None
