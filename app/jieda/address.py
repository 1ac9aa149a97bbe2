"""Addresses of servers: the default one, shared by the settings and by the health check, which has no time to import
the settings, and those that a user gives."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

HOST, HOST_VARIABLE = "127.0.0.1", "JIEDA_HOST"
PORT, PORT_VARIABLE = "8000", "JIEDA_PORT"

_SERVER = re.compile(r"https?://[^/?#\s]+(/[^?#\s]*)?")


def server_address(text: str) -> str:
    """Return an address such as `https://faq.example.com/kb`, without a slash at its end. Raises ValueError for any
    other text."""
    parts = urlsplit(text)
    if "@" in parts.netloc:
        raise ValueError("an address with a login, user:password@, is not supported")  # nor shown to anybody
    if not _SERVER.fullmatch(text) or not parts.hostname or parts.port == 0:  # `port` raises it for 99999
        raise ValueError(f"{text!r} is not the address of a server, such as https://faq.example.com")
    return text.rstrip("/")


def own_address(host: str, port: int | str) -> str:
    """Return the address at which this machine reaches a server that listens on a host and port."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - looked up, not listened on
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def read_variable(environ: Mapping[str, str], variable: str, default: str) -> str:
    """Return the value of a variable. An empty one counts as not set, and so does the one that Kubernetes sets in every
    container beside a service named jieda: `JIEDA_PORT=tcp://10.96.12.3:8000`."""
    text = environ.get(variable, "").strip()
    return default if not text or (variable == PORT_VARIABLE and text.startswith("tcp://")) else text
