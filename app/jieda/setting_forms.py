"""The forms of settings: how a text of the environment becomes a value, and what is refused."""

import os
import re
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from pydantic import AfterValidator, BeforeValidator

NOBODY = "none"
RESERVED = frozenset(
    {"api", "brand", "docs", "en", "healthz", "mcp", "metrics", "preferences", "readyz", "static", "v1", "zh"}
)
"""First segments of our own addresses. Under a prefix that starts with one, nobody could tell whether a proxy
has stripped it."""


def read(parse: Callable[[str], Any]) -> BeforeValidator:
    """Return what turns a text into a value, and leaves alone what is a value already."""
    return BeforeValidator(lambda given: parse(given) if isinstance(given, str) else given)


def words(text: str) -> tuple[str, ...]:
    """Split words between commas or spaces."""
    return tuple(word for word in re.split(r"[,\s]+", text) if word)


def proxies(text: str) -> tuple[str, ...]:
    """Split addresses and networks; NOBODY is a word, so that nobody at all can be told from not set."""
    return words(text) or (NOBODY,)


def networks(named: tuple[str, ...]) -> tuple[str, ...]:
    """Return addresses and networks, `*` or NOBODY. Raises ValueError for anything else."""
    try:
        for each in set(named) - {"*", NOBODY}:
            ip_network(each)
    except ValueError:
        raise ValueError("must be addresses such as 10.0.0.7, networks such as 10.0.0.0/8, or *") from None
    return named


def directories(text: str) -> tuple[Path, ...]:
    """Split paths between path separators."""
    return tuple(Path(part).expanduser().absolute() for part in text.split(os.pathsep) if part)


def existing(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return directories. Raises ValueError where there is none, or one does not exist."""
    if not paths:
        raise ValueError("must name a content directory")
    if missing := [str(path) for path in paths if not path.is_dir()]:
        raise ValueError(f"not a directory: {', '.join(missing)}")
    return paths


def file(text: str) -> str:
    """Return the path of a file that exists, or nothing."""
    path = Path(text).expanduser().absolute()
    if text and not path.is_file():
        raise ValueError("must be a file")
    return str(path) if text else ""


def scheme_and_host(text: str) -> str:
    """Return scheme and host, or nothing."""
    if text and not re.fullmatch(r"https?://[^/?#\s]+", text.rstrip("/")):
        raise ValueError("must be like https://faq.example.com, without a path (the path is JIEDA_ROOT_PATH)")
    return text.rstrip("/")


def hosting_path(text: str) -> str:
    """Return the path that a proxy serves this under, or nothing."""
    path = text.rstrip("/")
    if path and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", path):
        raise ValueError("must be like /kb: a slash, then letters, digits and . _ ~ -")
    if path and path.split("/")[1] in RESERVED:
        raise ValueError(f"must not start with one of our own addresses ({', '.join(sorted(RESERVED))})")
    return path


def with_path(addresses: tuple[str, ...]) -> tuple[str, ...]:
    """Return addresses with `{path}` in each."""
    if not all(each.startswith(("https://", "http://")) and "{path}" in each for each in addresses):
        raise ValueError("must be http(s) addresses with {path} where the file's path belongs")
    return addresses


def address_with(*names: str) -> AfterValidator:
    """Return a check of addresses that have all the names in braces in them; none at all is fine, too."""
    wanted = [f"{{{name}}}" for name in names]

    def check(text: str) -> str:
        if text and not (re.fullmatch(r"https?://\S+", text) and all(each in text for each in wanted)):
            raise ValueError(f"must be an http(s) address with {' and '.join(wanted)} in it")
        return text

    return AfterValidator(check)


def nodes(addresses: tuple[str, ...]) -> tuple[str, ...]:
    """Return addresses of servers. Raises ValueError where there are secrets in them."""
    if not all(re.fullmatch(r"https?://[^/?#@\s]+(/[^?#@\s]*)?", each) for each in addresses):
        raise ValueError(
            "must be http(s) addresses such as https://os1.example.com:9200, without user or password"
        )
    return addresses


def matching(pattern: str, problem: str) -> AfterValidator:
    """Return a check of texts that match a pattern; `problem` says what they must be."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(problem)
        return text

    return AfterValidator(check)


ORIGIN = matching(
    r"\*|https?://[^/?#@\s]+", "must be schemes and hosts such as https://docs.example.com, or *"
)
