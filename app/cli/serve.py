"""`jieda serve`: every setting is an option, and nothing starts before all of them make sense."""

import logging.config
import os
import signal
import socket
import sys
import tempfile
from types import FrameType
from typing import Any

import click
import uvicorn

from app.cli.logs import log_config
from app.errors import SettingsError
from app.knowledge import Knowledge
from app.metrics import DIRECTORY_VARIABLE
from app.settings import OPTIONS, Option, Settings
from app.web.app import create_app

SECONDS_TO_FINISH = 8
"""For answers under way when the server is told to stop; containers are killed after ten."""


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
    check_port(settings.host, settings.port)
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
    knowledge = Knowledge(settings)
    knowledge.open()
    uvicorn.run(create_app(settings, knowledge), **server_options(settings))


def serve_together(settings: Settings) -> None:
    """Serve from several processes. The index is built here, so that they all find it and none builds it."""
    Knowledge(settings).open()
    with tempfile.TemporaryDirectory(prefix="jieda-metrics-", ignore_cleanup_errors=True) as directory:
        os.environ.update(settings.to_environ() | {DIRECTORY_VARIABLE: directory})
        factory = "app.web.app:create_app_from_environ"
        uvicorn.run(factory, factory=True, workers=settings.workers, **server_options(settings))


def server_options(settings: Settings) -> dict[str, Any]:
    """What the server is told, whichever way it runs."""
    return {
        "host": settings.host,
        "port": settings.port,
        "log_config": log_config(settings.log_format),
        # Its access log has queries in it; ours has not.
        "access_log": False,
        "server_header": False,
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": list(settings.trusted_proxies),
        "timeout_graceful_shutdown": SECONDS_TO_FINISH,
        "ws": "none",
    }


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
