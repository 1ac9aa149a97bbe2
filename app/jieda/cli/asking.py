"""Shared by commands that query: the language, the client, and messages for invalid queries."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import click

from jieda import api
from jieda.cli.running import LANGUAGES, chosen_language, keep_language, terminal_language
from jieda.client import Client, Local, Remote
from jieda.entry import Language
from jieda.errors import BadVersion, UnknownTag
from jieda.locales.translations import translator
from jieda.presentation.urls import Urls
from jieda.settings import Settings

T = TypeVar("T")


def lang_option(default: str, of: str = "answer") -> Callable[[Any], Any]:
    """Create the option `--lang`. `default` names whose language is the default, `of` what the option applies to.
    Without a value, it is None unless the default is the terminal's language."""

    def parse(context: click.Context, option: click.Parameter, value: str | None) -> Language | None:
        if chosen := keep_language(context, option, value):
            return Language(chosen)
        return terminal_language() if default == "terminal" else None

    return click.option(
        "--lang",
        callback=parse,
        type=click.Choice(LANGUAGES),
        help=f"Language of the {of}; by default the {default}'s.",
    )


def client_of(url: str, directories: tuple[Path, ...]) -> Client:
    """Return a client of the server at `url` or, if that is empty, of the local content. Raises JiedaError."""
    return Remote(Urls(base_url=url)) if url else local_client(directories)


def local_client(directories: tuple[Path, ...], **options: str) -> Local:
    """Return a client of these or the configured directories, open while the command runs. Raises JiedaError."""
    client = api.local_client(Settings.load(os.environ, content=directories, **options))
    if command := click.get_current_context(silent=True):
        command.call_on_close(client.service.knowledge.stop)
    return client


def ask(query: Coroutine[Any, Any, T]) -> T:
    """Return the result of a query. Raises click.UsageError for an unknown tag or invalid version, and JiedaError."""
    try:
        return asyncio.run(query)
    except (UnknownTag, BadVersion) as error:
        t = translator(chosen_language())
        raise click.UsageError(t(f"{error.key}.detail", **error.arguments)) from error
