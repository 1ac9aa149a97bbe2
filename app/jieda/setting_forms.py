"""Parsers and validators of settings: turn a text of the environment into a value, or reject it."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator

from jieda.disk import is_readable_folder

NOBODY = "none"
RESERVED = frozenset(
    {"api", "brand", "docs", "en", "healthz", "mcp", "metrics", "preferences", "readyz", "static", "v1", "zh"}
)
"""First segments of our own addresses. If a root path started with one, nobody could tell whether a proxy had stripped
it."""


def parsed_by(parse: Callable[[str], Any]) -> BeforeValidator:
    """Return a validator that parses a text and passes other values through."""
    return BeforeValidator(lambda value: parse(value) if isinstance(value, str) else value)


def split_words(text: str) -> tuple[str, ...]:
    """Split words at commas or spaces."""
    return tuple(word for word in re.split(r"[,\s]+", text) if word)


def split_proxies(text: str) -> tuple[str, ...]:
    """Split addresses and networks; NOBODY distinguishes an empty list from an unset variable."""
    return split_words(text) or (NOBODY,)


def check_networks(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return addresses and networks, `*` or NOBODY. Raises ValueError for anything else."""
    try:
        for value in set(values) - {"*", NOBODY}:
            ip_network(value)
    except ValueError as error:
        raise ValueError(
            f"must be addresses such as 10.0.0.7, networks such as 10.0.0.0/8, * or none, but {error}"
        ) from None
    return values


@contextmanager
def _path_errors() -> Iterator[None]:
    """Turn errors about a path, such as an unknown `~user` or an unreadable folder, into ValueError."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        raise ValueError(getattr(error, "strerror", None) or str(error).rstrip(".")) from error


@_path_errors()
def absolute(path: Path) -> Path:
    """Return the absolute path. Raises ValueError if there is no such user, or no current directory."""
    return path.expanduser().absolute()


@_path_errors()
def directories(value: str | Iterable[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """Return the paths in texts with path separators. Raises ValueError if there are none, or one is no directory."""
    texts = [value] if isinstance(value, str) else [os.fspath(path) for path in value]
    paths = tuple(absolute(Path(name)) for text in texts for name in text.split(os.pathsep) if name)
    if not paths:
        raise ValueError("must name a content directory")
    if missing := [str(path) for path in paths if not is_readable_folder(path)]:
        raise ValueError(f"not a directory that can be read: {', '.join(missing)}")
    return paths


@_path_errors()
def existing_file(text: str) -> str:
    """Return the path of an existing file, or an empty text. Raises ValueError."""
    if text and not (path := absolute(Path(text))).is_file():
        raise ValueError("must be a file")
    return str(path) if text else ""


def hosting_path(text: str) -> str:
    """Return the path under which a proxy serves this, or an empty text. Raises ValueError."""
    path = text.rstrip("/")
    if path and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", path):
        raise ValueError("must be like /kb: a slash, then letters, digits and . _ ~ -")
    if path and path.split("/")[1] in RESERVED:
        raise ValueError(f"must not start with one of our own addresses ({', '.join(sorted(RESERVED))})")
    return path


def address_with(*names: str) -> AfterValidator:
    """Return a check that an address contains all `names` in braces; an empty one is valid, too."""
    held = "".join(rf"(?=\S*\{{{name}\}})" for name in names)
    shown = " and ".join(f"{{{name}}}" for name in names)
    return matching(rf"({held}https?://\S+)?", f"must be an http(s) address with {shown} in it")


def matching(pattern: str, problem: str) -> AfterValidator:
    """Return a check of texts that match a pattern; `problem` says what they must be. An address must be one that can
    be: not `http://[::1`, nor with port 99999."""

    def check(text: str) -> str:
        with suppress(ValueError):
            if re.fullmatch(pattern, text) and urlsplit(text).port != 0:
                return text
        raise ValueError(problem)

    return AfterValidator(check)


BASE_URL = matching(
    r"(https?://[^/?#@\s]+)?",
    "must be like https://faq.example.com, without login and path (the path is JIEDA_ROOT_PATH)",
)
HOST_NAME = matching(
    r"\*|(\*\.)?[\w.-]+|\[[0-9A-Fa-f:.]+\]",
    "must be host names such as faq.example.com or *.example.com, without scheme and port",
)
ORIGIN = matching(
    r"\*|https?://[^/?#@\s]+", "must be schemes and hosts such as https://docs.example.com, or *"
)
EDITOR = matching(
    r"https?://\S*\{path\}\S*", "must be http(s) addresses with {path} where the file's path belongs"
)
NODE = matching(
    r"https?://[^/?#@\s]+(/[^?#@\s]*)?",
    "must be http(s) addresses such as https://os1.example.com:9200, without user or password",
)
