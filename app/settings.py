"""Settings: one table. Each row is an environment variable and an option of `jieda serve`."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import SettingsError

ROOT = Path(__file__).resolve().parent.parent
"""The checkout, or the folder of the image that stands for it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, resolved: paths absolute, lists split."""

    host: str
    port: int
    workers: int
    content: tuple[Path, ...]
    data: Path
    base_url: str
    allowed_hosts: tuple[str, ...]
    root_path: str
    trusted_proxies: tuple[str, ...]
    reload_token: str
    edit_url: tuple[str, ...]
    """Editors of the last content directories, in the order of those; often one, for the last."""
    log_format: str
    max_log_bytes: int
    max_query_chars: int
    reload_content: bool
    static: Path = ROOT / "static"

    @classmethod
    def load(cls, environ: Mapping[str, str], **given: str | None) -> "Settings":
        """Settings from `given` (options, by field name), then `environ`, then the defaults of `OPTIONS`.

        Raises SettingsError, naming everything that is wrong at once.
        """
        values: dict[str, Any] = {}
        problems: list[str] = []
        for option in OPTIONS:
            chosen = given.get(option.name)
            text = chosen if chosen is not None else environ.get(option.env, option.default)
            try:
                values[option.name] = option.parse(text.strip())
            except ValueError as error:
                problems.append(f"{option.env} ({option.flag}): {error}; it is {text!r}")
        if problems:
            raise SettingsError(problems)
        return cls(**values)

    def to_environ(self) -> dict[str, str]:
        """The environment from which `load` gives these settings again, for worker processes."""
        return {option.env: _as_text(getattr(self, option.name)) for option in OPTIONS}


def _as_text(value: object) -> str:
    if isinstance(value, tuple):
        # Between paths as `_directories` reads them, between all others a space, which both other lists take.
        separator = os.pathsep if value and isinstance(value[0], Path) else " "
        return separator.join(str(part) for part in value)
    return {True: "1", False: "0"}[value] if isinstance(value, bool) else str(value)


def _whole_number(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"\d{1,12}", text) or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return parse


def _directories(text: str) -> tuple[Path, ...]:
    paths = tuple(Path(part).expanduser().absolute() for part in text.split(os.pathsep) if part)
    if not paths:
        raise ValueError("must name a content directory")
    if missing := [str(path) for path in paths if not path.is_dir()]:
        raise ValueError(f"is no directory: {', '.join(missing)}")
    return paths


def _base_url(text: str) -> str:
    if text and not re.fullmatch(r"https?://[^/?#\s]+", text.rstrip("/")):
        raise ValueError("must be like https://faq.example.com, without a path (the path is JIEDA_ROOT_PATH)")
    return text.rstrip("/")


RESERVED = frozenset({"api", "docs", "en", "healthz", "metrics", "preferences", "readyz", "static", "zh"})
"""First segments of our own addresses. Under a prefix that starts with one, nobody could tell whether a proxy
has stripped it."""


def _root_path(text: str) -> str:
    path = text.rstrip("/")
    if path and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", path):
        raise ValueError("must be like /kb: a slash, then letters, digits and . _ ~ -")
    if path and path.split("/")[1] in RESERVED:
        raise ValueError(f"must not start with one of our own addresses ({', '.join(sorted(RESERVED))})")
    return path


def _edit_urls(text: str) -> tuple[str, ...]:
    addresses = tuple(text.split())
    if not all(each.startswith(("https://", "http://")) and "{path}" in each for each in addresses):
        raise ValueError("must be http(s) addresses with {path} where the file's path belongs")
    return addresses


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return text

    return parse


def _switch(text: str) -> bool:
    if text.lower() not in {"0", "1", "true", "false", "yes", "no", ""}:
        raise ValueError("must be 1 or 0")
    return text.lower() in {"1", "true", "yes"}


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.split(r"[,\s]+", text) if word)


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
        return self.parse is _switch


OPTIONS: tuple[Option, ...] = (
    Option("host", "127.0.0.1", str, "Address to listen on."),
    Option("port", "8000", _whole_number(1, 65535), "Port to listen on."),
    Option("workers", "1", _whole_number(1, 64), "Worker processes."),
    Option(
        "content",
        str(ROOT / "content"),
        _directories,
        f"Content directories, separated by '{os.pathsep}'; a later one overrides.",
    ),
    Option(
        "data",
        str(ROOT / ".jieda"),
        lambda text: Path(text).expanduser().absolute(),
        "Where the index is kept; made if missing.",
    ),
    Option(
        "base_url",
        "",
        _base_url,
        "Scheme and host for absolute addresses in feeds, sitemap and canonical links.",
    ),
    Option("allowed_hosts", "", _words, "Host names to answer to, separated by commas; empty: any."),
    Option("root_path", "", _root_path, "Path under which a proxy serves this, such as /kb."),
    Option(
        "trusted_proxies",
        "127.0.0.1",
        _words,
        "Proxies whose X-Forwarded-* are believed, separated by commas.",
    ),
    Option("reload_token", "", str, "Secret for POST /api/v1/reload; empty: closed."),
    Option(
        "edit_url",
        "",
        _edit_urls,
        "Address of a file's editor, with {path}, such as https://git.example.com/faq/edit/main/content/{path}; "
        "several, separated by spaces, belong to the last content directories in their order.",
    ),
    Option("log_format", "text", _one_of("text", "json"), "Log lines as text or json."),
    Option(
        "max_log_bytes", str(1 << 20), _whole_number(1 << 10, 1 << 26), "Largest text to diagnose, in bytes."
    ),
    Option(
        "max_query_chars",
        "2000",
        _whole_number(100, 100_000),
        "Longest query to search, in characters; the rest is not read.",
    ),
    Option("reload_content", "0", _switch, "Watch the content and serve what changed."),
)
