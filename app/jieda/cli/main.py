"""The `jieda` command with all subcommands, for --help and --version; `launch` starts each subcommand directly.

A command is imported only when it runs, to keep --help and --version fast.
"""

from importlib import import_module

import click

from jieda.cli.launch import HEALTH, PROGRAMS
from jieda.cli.running import Commands, program


class AllCommands(Commands):
    """The commands of `PROGRAMS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the method of the library
        return sorted(PROGRAMS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import and return a command; `health` is a separate program."""
        if cmd_name not in PROGRAMS or cmd_name == HEALTH:
            return None
        found = vars(import_module(PROGRAMS[cmd_name][0])).values()
        return next(each for each in found if isinstance(each, click.Command) and each.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description of each command without importing it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, PROGRAMS[name][1]) for name in self.list_commands(ctx)])


main = program((), AllCommands)

if __name__ == "__main__":
    main(prog_name="jieda")
