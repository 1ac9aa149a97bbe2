"""Shared by commands: options, and output as JSON."""

import json
import os
import sys
from datetime import date
from pathlib import Path
from typing import TypeVar

import click

from jieda.address import server_address
from jieda.entry import Language
from jieda.locales.translations import Translate, translator
from jieda.places import CONTENT
from jieda.presentation.problem_text import problem_text

Value = TypeVar("Value")

LANGUAGES = tuple(map(str, Language))

FORMATS = ("text", "json", "summary", "github", "gitlab")
"""Output formats of a diagnosis."""


def uses_color() -> bool:
    """Whether the output is a terminal that can show color, and NO_COLOR (https://no-color.org) is not set."""
    able = os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")
    return able and sys.stdout.isatty()


def terminal_language() -> Language:
    """Return Chinese if the environment says so, otherwise English."""
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return Language.ZH if locale.lower().startswith("zh") else Language.EN


def keep_language(context: click.Context, _: click.Parameter, value: Value) -> Value:
    """Tell what a command says besides its answer in the language of `--lang` too."""
    context.meta[__name__] = value
    return value


def chosen_language() -> Language:
    """Return the language of `--lang`, or of the terminal."""
    context = click.get_current_context(silent=True)
    return Language((context and context.meta.get(__name__)) or terminal_language())


def translate(message: str) -> str:
    """Return a message in the language chosen."""
    return problem_text(message, chosen_language(), "terminal")


def texts() -> Translate:
    """Return the translator of tables into the language chosen."""
    return translator(chosen_language())


def note(message: str, prefix: str = "") -> None:
    """Print a message to standard error, translated."""
    click.echo(f"{prefix}{translate(message)}", err=True)


def print_json(data: object) -> None:
    """Print data as indented JSON, with the bytes of file names that are not UTF-8 escaped as Python reads them."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    click.echo(text.encode("utf-8", "backslashreplace").decode())


def day(text: str) -> date:
    """Return the day that a text names. Raises BadParameter."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a day such as 2026-01-31") from error


def note_unused_content(ctx: click.Context, _: click.Parameter, value: Value) -> Value:
    """Print a hint if the shipped entries are used in a folder with content from `jieda init`. That content is not used
    by itself, or programs would trust whatever folder they are started in."""
    here = Path("content")
    # A diagnosis that `jieda run` starts says it.
    elsewhere = ctx.params.get("url") or ctx.params.get("files") or ctx.info_name == "run"
    is_chosen = value or os.environ.get("JIEDA_CONTENT") or elsewhere
    if not is_chosen and (here / "taxonomy.yaml").is_file() and here.resolve() != CONTENT:
        note("The shipped entries are used; for the content in this folder: --content content")
    return value


content_option = click.option(
    "--content",
    "directories",
    multiple=True,
    callback=note_unused_content,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Content directory; may be repeated, and a later one overrides.  [default: JIEDA_CONTENT]",
)


def _parse_url(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Raises BadParameter before anything is asked or run."""
    try:
        return server_address(value) if value else ""
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


url_option = click.option(
    "--url",
    "--server",
    "url",
    metavar="URL",
    default="",
    callback=_parse_url,
    help="Ask this server instead of the local content.",
)
