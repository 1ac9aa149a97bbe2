"""Addresses of servers: the default, shared with the health check, which must not spend time importing the settings;
and those that a user passes."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

HOST, HOST_VARIABLE = "127.0.0.1", "JIEDA_HOST"
PORT, PORT_VARIABLE = "8000", "JIEDA_PORT"

_SERVER = re.compile(r"https?://[^/?#\s]+(/[^?#\s]*)?")


def server_address(text: str) -> str:
    """Return an address such as `https://faq.example.com/kb` without a trailing slash. Raises ValueError for any other
    text."""
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
    """Return the value of a variable. An empty value counts as unset; so does the `JIEDA_PORT=tcp://10.96.12.3:8000`
    that Kubernetes sets in each container of a namespace with a service named jieda."""
    text = environ.get(variable, "").strip()
    return default if not text or (variable == PORT_VARIABLE and text.startswith("tcp://")) else text
