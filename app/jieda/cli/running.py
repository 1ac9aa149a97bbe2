"""Runs commands as the group `jieda`, turns errors into messages, and defines options that many commands share."""

import gc
import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

from jieda import progress
from jieda.errors import JiedaError
from jieda.places import CONTENT
from jieda.version import VERSION

Given = TypeVar("Given")

FORMATS = ("text", "json", "summary", "github", "gitlab")
"""Output formats of a diagnosis."""


def print_json(data: object) -> None:
    """Print data as indented JSON."""
    click.echo(json.dumps(data, ensure_ascii=False, indent=2))


@contextmanager
def writing() -> Iterator[None]:
    """Turn an OSError inside into a JiedaError that names the file."""
    try:
        yield
    except OSError as error:
        raise JiedaError(f"{error.filename}: cannot be written: {error.strerror}") from error


class _Failure(click.ClickException):
    exit_code = 2


class Commands(click.Group):
    """Command group that turns errors into messages."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command and exit with the code that it returns, if any; a JiedaError becomes a message and code 2."""
        if sys.stderr.isatty():
            progress.log.addHandler(logging.StreamHandler())
            progress.log.setLevel(logging.INFO)
        try:
            code = super().invoke(ctx)
        except click.NoSuchOption as error:
            if error.ctx is None or all(each.nargs != -1 for each in error.ctx.command.params):
                raise
            hint = f"If it is not meant as an option: {error.ctx.command_path} -- {error.option_name}"
            raise click.UsageError(f"{error.format_message()}\n{hint}", error.ctx) from error
        except JiedaError as error:
            raise _Failure(str(error)) from error
        return ctx.exit(code if isinstance(code, int) else 0)


def note_unused_content(ctx: click.Context, _: click.Parameter, given: Given) -> Given:
    """Say so where nothing names the content of a folder in which `jieda init` made some, so that the shipped entries
    are taken for it; to choose it by itself would make programs trust whatever folder they are started in."""
    here = Path("content")
    names_other = given or os.environ.get("JIEDA_CONTENT") or ctx.params.get("url")
    if not names_other and (here / "taxonomy.yaml").is_file() and here.resolve() != CONTENT:
        click.echo(
            "The shipped entries are used; for the content in this folder: --content content", err=True
        )
    return given


content_option = click.option(
    "--content",
    "directories",
    multiple=True,
    callback=note_unused_content,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Content directory; may be repeated, and a later one overrides.  [default: JIEDA_CONTENT]",
)

url_option = click.option(
    "--url",
    "--server",
    "url",
    metavar="URL",
    default="",
    help="Ask this server instead of the local content.",
)


def program(commands: Iterable[click.Command], kind: type[Commands] = Commands) -> click.Group:
    """Create the group `jieda` with these subcommands."""
    group = kind(
        "jieda",
        commands=tuple(commands),
        help="Jieda 解答: answers to errors and questions, in English and Chinese.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    return click.version_option(VERSION, prog_name="jieda", message="%(prog)s %(version)s")(group)


def run(*commands: click.Command) -> None:
    """Run the command named on the command line, one of `commands`, and exit."""
    # What was imported stays: looking through it for garbage takes a command a quarter of its time.
    gc.freeze()
    gc.enable()
    program(commands).main(prog_name="jieda")
