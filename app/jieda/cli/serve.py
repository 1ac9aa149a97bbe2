"""`jieda serve`: every setting is an option, and nothing starts before all of them make sense."""

import contextlib
import errno
import logging.config
import os
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import FrameType

import click
import uvicorn

from jieda.cli import server
from jieda.cli.logs import log_config
from jieda.cli.running import run
from jieda.disk import remove
from jieda.errors import SettingsError
from jieda.feedback import GAPS, VOTES
from jieda.metrics import DIRECTORY_VARIABLE
from jieda.settings import OPTIONS, Option, Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.store.facts import FILE_NAME as FACTS

APPLICATION = "jieda.web.app"
"""Imported by whoever answers; a process that only starts workers does without."""
PREFIX = "metrics-"


@contextmanager
def figures_folder(data: Path) -> Iterator[str]:
    """A new folder below the data directory: a hardened container has no other place to write to. Raises OSError."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=data))
    try:
        yield str(folder)
    finally:
        remove(folder)


def clear_figures(data: Path) -> None:
    """Removes the folders of servers that were killed: whoever calls this owns the data directory."""
    for path in data.glob(f"{PREFIX}*"):
        remove(path)


SHARED_FILE = 0o660


def share_with_group(data: Path) -> None:
    """Keep a directory that is made here to this user, and what readers leave in one to who may write it.

    Where the group may write the directory, let it write what this process writes from now on; what was not for
    everybody is not for everybody any more.
    """
    try:
        if not data.exists():
            data.mkdir(0o700, parents=True)
        shared = data.is_dir() and data.stat().st_mode & stat.S_IWGRP
    except OSError:
        return
    if not shared:
        for name in (VOTES, GAPS):
            with contextlib.suppress(OSError):
                (data / name).chmod(0o600)
        return
    os.umask(0o007)
    for name in (FACTS, VOTES, GAPS):
        # SQLite makes files that the group may only read, and leaves alone how a file is that is there.
        with contextlib.suppress(OSError):
            os.close(os.open(data / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, SHARED_FILE))


def parameter(option: Option) -> click.Option:
    """A setting as an option of the command."""
    shown = f"{option.help} [{option.env}; {option.default or 'empty'}]"
    if option.name == "content":
        return click.Option(
            [option.flag],
            multiple=True,
            metavar="DIRECTORY",
            help=f"{shown} May be repeated.",
            callback=_joined,
        )
    if option.is_switch:
        return click.Option([option.flag], is_flag=True, flag_value="1", default=None, help=shown)
    return click.Option([option.flag], default=None, metavar="TEXT", help=shown)


def _joined(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> str | None:
    return os.pathsep.join(given) or None


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
    application = import_module(APPLICATION).create_app(settings, knowledge, alone=True)
    uvicorn.run(application, **server.options(settings))


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
    other = "port with --port or JIEDA_PORT"
    try:
        with socket.socket(family) as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            attempt.bind((host, port))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            # Its numbers are those of another table.
            reason, other = error.strerror or reason, "host with --host or JIEDA_HOST"
        message = f"cannot listen on {host} port {port}: {reason}. Choose another {other}."
        raise click.ClickException(message) from error


def leave(_signal: int, _frame: FrameType | None) -> None:
    """End in peace: the server has finished what it was doing by the time it hands the signal on."""
    sys.exit(0)


command = click.Command(
    "serve", callback=serve, params=[parameter(option) for option in OPTIONS], help=serve.__doc__
)

if __name__ == "__main__":
    run(command)
