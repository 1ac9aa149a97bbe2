"""The `jieda` command: one table of subcommands."""

import click

from app.cli import health, serve

COMMANDS: tuple[click.Command, ...] = (serve.command, health.command)

main = click.Group(
    "jieda",
    commands=COMMANDS,
    help="Jieda 解答: answers for people who train large models, in English and Chinese.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
