"""Rows of the table of settings, and what their text says. A parser raises ValueError with what the text must be."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

NOBODY = "none"


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """A parser of whole numbers from `low` to `high`."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"\d{1,12}", text) or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return parse


def directories(text: str) -> tuple[Path, ...]:
    """Directories that exist, between path separators."""
    paths = tuple(Path(part).expanduser().absolute() for part in text.split(os.pathsep) if part)
    if not paths:
        raise ValueError("must name a content directory")
    if missing := [str(path) for path in paths if not path.is_dir()]:
        raise ValueError(f"not a directory: {', '.join(missing)}")
    return paths


def file(text: str) -> str:
    """The path of a file that exists, or nothing."""
    if not text:
        return ""
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise ValueError("must be a file")
    return str(path)


def base_url(text: str) -> str:
    """Scheme and host, or nothing."""
    if text and not re.fullmatch(r"https?://[^/?#\s]+", text.rstrip("/")):
        raise ValueError("must be like https://faq.example.com, without a path (the path is JIEDA_ROOT_PATH)")
    return text.rstrip("/")


RESERVED = frozenset(
    {"api", "docs", "en", "healthz", "mcp", "metrics", "preferences", "readyz", "static", "zh"}
)
"""First segments of our own addresses. Under a prefix that starts with one, nobody could tell whether a proxy
has stripped it."""


def root_path(text: str) -> str:
    """The path that a proxy serves this under, or nothing."""
    path = text.rstrip("/")
    if path and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", path):
        raise ValueError("must be like /kb: a slash, then letters, digits and . _ ~ -")
    if path and path.split("/")[1] in RESERVED:
        raise ValueError(f"must not start with one of our own addresses ({', '.join(sorted(RESERVED))})")
    return path


def edit_urls(text: str) -> tuple[str, ...]:
    """Addresses with `{path}`, between spaces."""
    addresses = tuple(text.split())
    if not all(each.startswith(("https://", "http://")) and "{path}" in each for each in addresses):
        raise ValueError("must be http(s) addresses with {path} where the file's path belongs")
    return addresses


def new_url(text: str) -> str:
    """An address with `{path}` and `{content}`, or nothing."""
    if text and not (re.fullmatch(r"https?://\S+", text) and "{path}" in text and "{content}" in text):
        raise ValueError("must be an http(s) address with {path} and {content} in it")
    return text


def address_with(name: str) -> Callable[[str], str]:
    """A parser of addresses with `{name}` in them, or nothing."""

    def parse(text: str) -> str:
        if text and not (re.fullmatch(r"https?://\S+", text) and f"{{{name}}}" in text):
            raise ValueError(f"must be an http(s) address with {{{name}}} in it")
        return text

    return parse


def one_of(*choices: str) -> Callable[[str], str]:
    """A parser of one of some words."""

    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return text

    return parse


def switch(text: str) -> bool:
    """On or off."""
    if text.lower() not in {"0", "1", "true", "false", "yes", "no", ""}:
        raise ValueError("must be 1 or 0")
    return text.lower() in {"1", "true", "yes"}


@dataclass(frozen=True, slots=True)
class Option:
    """One row: `parse` turns the text into the field's value or raises ValueError with what it must be."""

    name: str
    default: str
    parse: Callable[[str], Any]
    help: str

    @property
    def env(self) -> str:
        """The environment variable."""
        return f"JIEDA_{self.name.upper()}"

    @property
    def flag(self) -> str:
        """The option of `jieda serve`."""
        return "--" + self.name.replace("_", "-")

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off, so that the option needs no value."""
        return self.parse is switch


def proxies(text: str) -> tuple[str, ...]:
    """Addresses and networks, or NOBODY."""
    # A word, so that nobody at all can be told from not set.
    return words(text) or (NOBODY,)


def addresses(text: str) -> tuple[str, ...]:
    """Addresses and networks, `*`, or NOBODY."""
    named = proxies(text)
    try:
        for each in set(named) - {"*", NOBODY}:
            ip_network(each)
    except ValueError:
        raise ValueError("must be addresses such as 10.0.0.7, networks such as 10.0.0.0/8, or *") from None
    return named


def words(text: str) -> tuple[str, ...]:
    """Words between commas or spaces."""
    return tuple(word for word in re.split(r"[,\s]+", text) if word)
