"""`jieda serve`: every setting is an option, and nothing starts before all of them make sense."""

import logging.config
import os
import signal
import socket
import sys
from dataclasses import replace
from types import FrameType

import click
import uvicorn

from app.cli import server
from app.cli.figures import clear_figures, figures_folder
from app.cli.logs import log_config
from app.cli.running import run
from app.cli.shared_data import share_with_group
from app.errors import SettingsError
from app.metrics import DIRECTORY_VARIABLE
from app.settings import OPTIONS, Option, Settings
from app.snapshot.knowledge import Knowledge
from app.web.app import create_app


def parameter(option: Option) -> click.Option:
    """A setting as an option of the command."""
    shown = f"{option.help} [{option.env}; {option.default or 'empty'}]"
    if option.is_switch:
        return click.Option([option.flag], is_flag=True, flag_value="1", default=None, help=shown)
    return click.Option([option.flag], default=None, metavar="TEXT", help=shown)


def serve(**given: str | None) -> None:
    """Serve pages and API.

    Each option is also an environment variable, named beside it with its default; the option wins.
    """
    try:
        settings = Settings.load(os.environ, **given)
    except SettingsError as error:
        for problem in error.problems:
            click.echo(f"jieda: {problem}", err=True)
        sys.exit(2)
    logging.config.dictConfig(log_config(settings.log_format))
    server.check_files()
    check_port(settings.host, settings.port)
    share_with_group(settings.data)
    signal.signal(signal.SIGTERM, leave)
    try:
        if settings.workers == 1:
            serve_alone(settings)
        else:
            serve_together(settings)
    except OSError as error:
        raise click.ClickException(str(error)) from error


def serve_alone(settings: Settings) -> None:
    """Serve from this process."""
    knowledge = Knowledge(settings, leading=True)
    knowledge.open()
    clear_figures(knowledge.data)
    # Not stopped here but where the application ends: it knows when the last answer is given.
    uvicorn.run(create_app(settings, knowledge, alone=True), **server.options(settings))


def serve_together(settings: Settings) -> None:
    """Serve from several processes. This one answers nothing: it builds what the others serve."""
    knowledge = Knowledge(settings, leading=True)
    knowledge.open()
    settings = replace(settings, data=knowledge.data)
    clear_figures(knowledge.data)
    try:
        with figures_folder(settings.data) as directory:
            os.environ.update(settings.to_environ() | {DIRECTORY_VARIABLE: directory})
            knowledge.lead()
            server.Workers(settings).run()
    finally:
        knowledge.stop()


def check_port(host: str, port: int) -> None:
    """Raises ClickException where nobody can listen; the server would tell only after the index is built."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            attempt.bind((host, port))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        message = f"cannot listen on {host} port {port}: {reason}. Choose another with --port or JIEDA_PORT."
        raise click.ClickException(message) from error


def leave(_signal: int, _frame: FrameType | None) -> None:
    """End in peace: the server has finished what it was doing by the time it hands the signal on."""
    sys.exit(0)


command = click.Command(
    "serve", callback=serve, params=[parameter(option) for option in OPTIONS], help=serve.__doc__
)

if __name__ == "__main__":
    run(command)
