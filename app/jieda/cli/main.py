"""The `jieda` command with all subcommands, each imported only when it runs: `jieda check` needs no server."""

import errno
import gc
import logging
import sys
from importlib import import_module
from io import StringIO
from typing import Any, NoReturn

import click

from jieda import progress
from jieda.cli.launch import HEALTH, PROGRAMS
from jieda.cli.running import chosen_language, note, translate
from jieda.errors import JiedaError
from jieda.presentation.problem_text import failure_text
from jieda.version import VERSION

CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Errors of an output that accepts no more, mostly on a full disk."""


class _Failure(click.ClickException):
    exit_code = 2


class _Notes(logging.Handler):
    """Tells a person at the terminal what is logged."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


def _tell(error: click.ClickException) -> NoReturn:
    """Print what an error says, translated, and exit with its code."""
    error.show(shown := StringIO())
    for line in shown.getvalue().splitlines():
        head = next((each for each in ("Usage: ", "Error: ") if line.startswith(each)), "")
        note(line.removeprefix(head), prefix=translate(head))
    sys.exit(error.exit_code)


class Commands(click.Group):
    """The commands of `PROGRAMS`; turns errors into messages."""

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Parse the options before the command; errors are told in the language chosen."""
        try:
            return super().make_context(*args, **options)
        except click.ClickException as error:
            _tell(error)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command and exit with the code that it returns, if any; errors are told in the language chosen."""
        try:
            return self._invoke(ctx)
        except click.ClickException as error:
            _tell(error)

    def _invoke(self, ctx: click.Context) -> object:
        if sys.stderr.isatty():
            progress.log.addHandler(_Notes())
            progress.log.setLevel(logging.INFO)
        try:
            code = super().invoke(ctx)
        except click.NoSuchOption as error:
            if error.ctx is None or all(each.nargs != -1 for each in error.ctx.command.params):
                raise
            hint = f"If it is not meant as an option: {error.ctx.command_path} -- {error.option_name}"
            raise click.UsageError(f"{error.format_message()}\n{hint}", error.ctx) from error
        except JiedaError as error:
            raise _Failure(failure_text(error, chosen_language(), "terminal")) from error
        except UnicodeEncodeError as error:  # a path or an argument
            raise _Failure(f"{error.object[:100]!r} is not UTF-8") from error
        except OSError as error:
            if error.filename is None and error.errno not in CANNOT_WRITE:
                raise
            where = error.filename or "the output cannot be written"
            raise _Failure(f"{translate(where)}: {translate(str(error.strerror))}") from error
        return ctx.exit(code if isinstance(code, int) else 0)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - the method of the library
        """Import and return a command; `health` is a separate program."""
        if cmd_name not in PROGRAMS or cmd_name == HEALTH:
            return None
        found = vars(import_module(PROGRAMS[cmd_name][0])).values()
        if not gc.isenabled():
            # Imported modules stay: scanning them for garbage would take a quarter of a command's time.
            gc.freeze()
            gc.enable()
        return next(each for each in found if isinstance(each, click.Command) and each.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description of each command without importing it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, PROGRAMS[name][1]) for name in self.list_commands(ctx)])


main = click.version_option(VERSION, prog_name="jieda", message="%(prog)s %(version)s")(
    Commands(
        "jieda",
        dict.fromkeys(PROGRAMS),  # type: ignore[arg-type] # names alone: a command is imported when it runs
        help="Jieda 解答: answers to errors and questions, in English and Chinese.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
)

if __name__ == "__main__":
    main(prog_name="jieda")
