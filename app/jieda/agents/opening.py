"""The first answers of `jieda mcp`, given from fixed text while what answers the rest is still being loaded.

A client waits for `initialize` before it does anything, some of them ten seconds; the SDK and the content take longer
on a slow machine. What the SDK would answer lies in `opening.json`; a test compares, and
`python -m tests.agents.test_opening` writes it. Then the SDK is told what the client said, and takes over.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

FILE = Path(__file__).with_name("opening.json")
INITIALIZE, INITIALIZED, LIST_TOOLS, PING = "initialize", "notifications/initialized", "tools/list", "ping"

Message = dict[str, Any]


class Opening:
    """Answers what it can of the lines of a client, and remembers what the SDK must be told of them."""

    def __init__(self, read: TextIO, write: TextIO, name: Callable[[Message], Message]) -> None:
        """`name` puts the name of the site into the answer to `initialize`."""
        self._read, self._write, self._name = read, write, name
        self._fixed: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
        self._remembered: list[str] = []
        self._answered: object = None
        """The id of `initialize`: the client has the answer, and the SDK gives another."""
        self._version = ""

    def answer(self, is_loaded: Callable[[], bool], load: Callable[[], object]) -> None:
        """Answer until something is asked that takes more than fixed text, or all is loaded; `load` begins to."""
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
        """The answer to a line, empty where it needs none; None where fixed text is not enough."""
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
        """What the SDK reads: what it must be told of the beginning, then what the client sends."""
        return OpenedLines(iter(self._remembered), self._read)

    def answers(self) -> "OpenedAnswers":
        """What the SDK writes to: its own answer to `initialize` goes nowhere."""
        return OpenedAnswers(self._write, self._answered if self._version else None)


class OpenedLines:
    """Lines of a client, those from the beginning first."""

    def __init__(self, remembered: Iterator[str], read: TextIO) -> None:
        self._remembered, self._read = remembered, read

    def readline(self) -> str:
        """The next line; empty at the end."""
        return next(self._remembered, None) or self._read.readline()


class OpenedAnswers:
    """Lines for a client, but for one answer that it has."""

    def __init__(self, write: TextIO, had: object) -> None:
        self._write, self._had = write, had

    def write(self, line: str) -> int:
        """Write a line, or leave it out."""
        if self._had is not None:
            message = json.loads(line)
            if "method" not in message and message.get("id") == self._had:
                self._had = None
                return len(line)
        return self._write.write(line)

    def flush(self) -> None:
        """Send what was written."""
        self._write.flush()
