"""How log lines look, as text or JSON. None has a query or a pasted text in it."""

import json
import logging
from typing import Any

FIELDS = ("request_id", "client", "method", "path", "status", "bytes", "ms")
"""What an access line has beside its message."""


class TextFormatter(logging.Formatter):
    """One line for a record; lines that follow are indented, so that none can pass for a record of its own."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        return "\n    ".join(super().format(record).splitlines())


class JsonFormatter(logging.Formatter):
    """One JSON object on one line for a record."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **{name: getattr(record, name) for name in FIELDS if hasattr(record, name)},
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False)


FORMATTERS = {"text": TextFormatter, "json": JsonFormatter}


def log_config(log_format: str, level: str = "INFO") -> dict[str, Any]:
    """The logging of a server process, for `logging.config.dictConfig`. Everything goes to standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": FORMATTERS[log_format]}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"level": level, "handlers": ["stderr"]},
        # The SDK for agents logs each request, and failures with messages, which may quote what was pasted. What
        # goes wrong in a tool is logged by us. Progress has a handler of its own where a command meets a terminal.
        "loggers": {"mcp": {"level": "CRITICAL"}, "jieda.progress": {"handlers": []}},
    }
