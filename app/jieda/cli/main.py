"""The `jieda` command with all its subcommands, for whoever asks what there is; `launch` starts each by itself."""

import click

from jieda.cli import (
    check_command,
    diagnose,
    eval_command,
    export_command,
    feedback_commands,
    import_command,
    init_command,
    load_command,
    maintenance_commands,
    mcp_command,
    new_command,
    run_command,
    search_commands,
    serve,
)
from jieda.cli.running import program

COMMANDS: tuple[click.Command, ...] = (
    serve.command,
    search_commands.search,
    search_commands.read,
    diagnose.command,
    run_command.command,
    mcp_command.command,
    search_commands.index,
    check_command.command,
    init_command.command,
    new_command.command,
    maintenance_commands.sync,
    maintenance_commands.mv,
    maintenance_commands.fmt,
    maintenance_commands.stats,
    import_command.command,
    load_command.command,
    export_command.command,
    eval_command.command,
    feedback_commands.votes,
    feedback_commands.gaps,
)

main = program(COMMANDS)

if __name__ == "__main__":
    main(prog_name="jieda")
