"""`jieda health`: health check for containers without curl.

A separate program with few imports, as it runs every few seconds for years. It needs one short answer, so it speaks
just enough HTTP itself.
"""

import os
import socket
import ssl
import sys
import time
from contextlib import suppress
from typing import NoReturn
from urllib.parse import urlsplit

from jieda.address import HOST, HOST_VARIABLE, PORT, PORT_VARIABLE, own_address, read_variable, server_address

SECONDS = 5.0
MOST_BYTES = 20_000
USAGE = """Usage: jieda health [--url URL]

Exit with 0 if a server is ready to answer, with 1 if it is not. URL is its address, by default the one that
JIEDA_HOST and JIEDA_PORT set."""


def main() -> None:
    """Exit with 0, with 1, or with 2 for wrong options or settings."""
    arguments = sys.argv[1:]
    if len(arguments) == 1 and arguments[0].startswith("--url="):
        arguments = arguments[0].split("=", 1)
    if arguments in (["--help"], ["-h"]):
        say(USAGE)
        return
    if arguments and (len(arguments) != 2 or arguments[0] != "--url"):
        refuse("health takes --url URL and nothing else; see jieda health --help")
    try:
        base = server_address(arguments[1] if arguments else configured_address())
    except ValueError as error:
        refuse(str(error))
    try:
        status, text = ask(base)
    except (OSError, ValueError) as error:
        sys.exit(f"jieda: {base} is not ready: {getattr(error, 'strerror', None) or error}")
    if text.startswith("{"):  # a wrong address answers with a page
        say(text)
    if status != "200":
        sys.exit(f"jieda: {base} is not ready: it answers {status}")


def ask(base: str) -> tuple[str, str]:
    """Return status and text of the readiness check at `base`. Raises OSError, or ValueError if it is malformed."""
    parts = urlsplit(base)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    with socket.create_connection((parts.hostname or "", port), SECONDS) as plain:
        context = ssl.create_default_context() if secure else None
        connection = context.wrap_socket(plain, server_hostname=parts.hostname) if context else plain
        request = f"GET {parts.path}/readyz HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n"
        connection.sendall(request.encode("ascii", "replace"))
        answer, until = b"", time.monotonic() + SECONDS
        while len(answer) < MOST_BYTES and (received := connection.recv(MOST_BYTES)):
            answer += received
            connection.settimeout(max(0.01, until - time.monotonic()))  # one may send a byte a second
    head, _, text = answer.decode("utf-8", "replace").partition("\r\n\r\n")
    words = head.split(" ", 2)
    if not words[0].startswith("HTTP/") or len(words) < 2:
        raise ValueError("it does not speak HTTP")
    return words[1], text


def configured_address() -> str:
    """Return the local address of a server with the settings of this environment."""
    port = read_variable(os.environ, PORT_VARIABLE, PORT)
    if not port.isdecimal():
        refuse(f"{PORT_VARIABLE} must be a number; it is {port!r}")
    return own_address(read_variable(os.environ, HOST_VARIABLE, HOST), port)


def say(text: str) -> None:
    """Print a text, perhaps to a reader that is gone; a buffer would be written once more at the end, and fail."""
    with suppress(OSError):
        os.write(1, f"{text}\n".encode("utf-8", "replace"))


def refuse(message: str) -> NoReturn:
    """Print an error and exit with 2."""
    print(f"jieda: {message}", file=sys.stderr)
    sys.exit(2)
