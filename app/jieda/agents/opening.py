"""The first responses of `jieda mcp`, sent from fixed text while the SDK and the content are still loading.

A client waits for `initialize` before anything else, some for at most ten seconds; loading takes longer on a slow
machine. `opening.json` contains the SDK's responses; a test compares them, and `python -m tests.agents.test_opening`
writes the file. Afterwards the client's messages are replayed to the SDK, which takes over.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

FILE = Path(__file__).with_name("opening.json")
INITIALIZE, INITIALIZED, LIST_TOOLS, PING = "initialize", "notifications/initialized", "tools/list", "ping"

Message = dict[str, Any]


class Opening:
    """Responds to the first lines of a client where it can, and remembers those to be replayed to the SDK."""

    def __init__(self, read: TextIO, write: TextIO, name: Callable[[Message], Message]) -> None:
        """`name` inserts the name of the site into the response to `initialize`."""
        self._read, self._write, self._name = read, write, name
        self._fixed: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
        self._remembered: list[str] = []
        self._answered: object = None
        """The id of `initialize`: the client has the answer, and the SDK gives another."""
        self._version = ""

    def answer(self, is_loaded: Callable[[], bool], load: Callable[[], object]) -> None:
        """Respond until a request needs more than fixed text or loading is complete; `load` starts loading."""
        for line in iter(self._read.readline, ""):
            reply = None if is_loaded() else self._reply(line)
            if reply is None:
                self._remembered.append(line)
                break
            if reply:
                self._write.write(json.dumps(reply, ensure_ascii=False, separators=(",", ":")) + "\n")
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
            self._remembered.append(line)
            return {}
        if method == PING:
            result: Message = {}
        elif method == LIST_TOOLS and not given.get("cursor"):
            result = self._fixed[LIST_TOOLS]
        elif method == INITIALIZE and not self._version:
            self._remembered.append(line)
            self._answered, self._version = message["id"], str(known)
            result = self._name(self._fixed[INITIALIZE] | {"protocolVersion": known})
        else:
            return None
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def lines(self) -> "OpenedLines":
        """Return the input of the SDK: the remembered lines, then those of the client."""
        return OpenedLines(iter(self._remembered), self._read)

    def answers(self) -> "OpenedAnswers":
        """Return the output of the SDK, which drops its own response to `initialize`."""
        return OpenedAnswers(self._write, self._answered if self._version else None)


class OpenedLines:
    """Lines of a client, the remembered ones first."""

    def __init__(self, remembered: Iterator[str], read: TextIO) -> None:
        self._remembered, self._read = remembered, read

    def readline(self) -> str:
        """Return the next line; empty at the end."""
        return next(self._remembered, None) or self._read.readline()


class OpenedAnswers:
    """Lines to a client, without the one response that it already has."""

    def __init__(self, write: TextIO, had: object) -> None:
        self._write, self._had = write, had

    def write(self, line: str) -> int:
        """Write a line, or drop it."""
        if self._had is not None:
            message = json.loads(line)
            if "method" not in message and message.get("id") == self._had:
                self._had = None
                return len(line)
        return self._write.write(line)

    def flush(self) -> None:
        """Flush the output."""
        self._write.flush()
