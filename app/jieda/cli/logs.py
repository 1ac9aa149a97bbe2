"""Log formats, text and JSON. No line contains a query or a pasted text."""

import json
import logging
from datetime import datetime
from typing import Any

FIELDS = ("request_id", "client", "method", "path", "status", "bytes", "ms")
"""Fields of an access log line besides its message."""


class TextFormatter(logging.Formatter):
    """One line per record; continuation lines are indented, so that none looks like a record."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 - as in the base
        return datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")

    def format(self, record: logging.LogRecord) -> str:
        return "\n    ".join(super().format(record).splitlines())


class JsonFormatter(TextFormatter):
    """One JSON object per line and record."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": self.formatTime(record),
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
    """Return the configuration for `logging.config.dictConfig` of a server process, which logs to stderr."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": FORMATTERS[log_format]}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"level": level, "handlers": ["stderr"]},
        # The MCP SDK logs requests, and errors that may quote a pasted text; we log errors of tools ourselves. On a
        # terminal, a command adds its own progress handler.
        "loggers": {"mcp": {"level": "CRITICAL"}, "jieda.progress": {"handlers": []}},
    }
