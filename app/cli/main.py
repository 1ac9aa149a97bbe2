"""The `jieda` command: one table of subcommands."""

import click

from app.cli import content_commands, diagnose, eval_command, health, search_commands, serve
from app.errors import JiedaError

COMMANDS: tuple[click.Command, ...] = (
    serve.command,
    search_commands.search,
    diagnose.command,
    search_commands.index,
    content_commands.check,
    content_commands.new,
    content_commands.sync,
    eval_command.command,
    health.command,
)


class _Failure(click.ClickException):
    exit_code = 2


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> object:
        """Runs a command; what Jieda raises on purpose becomes a message and exit code 2."""
        try:
            return super().invoke(ctx)
        except JiedaError as error:
            raise _Failure(str(error)) from error


main = _Commands(
    "jieda",
    commands=COMMANDS,
    help="Jieda 解答: answers for people who train large models, in English and Chinese.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
