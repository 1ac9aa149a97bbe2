"""`jieda serve`: every setting is an option; nothing starts before all are valid."""

import contextlib
import errno
import hashlib
import logging.config
import os
import signal
import socket
import stat
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import click
import uvicorn

from jieda.cli import server
from jieda.cli.logs import log_config
from jieda.cli.running import note, note_unused_content
from jieda.disk import make_private, remove, remove_temporary_folders, temporary_folders
from jieda.errors import SettingsError
from jieda.feedback import GAPS, VOTES
from jieda.metrics import DIRECTORY_VARIABLE
from jieda.settings import TABLE, Settings, as_text, env_of, flag_of, misspelled_variables
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.store.facts import FILE_NAME as FACTS

log = logging.getLogger(__name__)


def share_with_group(data: Path) -> None:
    """Create the data directory if it is missing, private to this user. If the group may write to it, share the files
    of this process with the group, and nobody else; otherwise make the feedback private, too."""
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
        # SQLite creates files that the group may only read, and keeps the mode of an existing file.
        make_private(data / name)


def parameter(name: str) -> click.Option:
    """Return a setting as an option of the command."""
    field, flags = TABLE[name], [flag_of(name)]
    shown = f"{field.description} [{env_of(name)}; {as_text(field.default) or 'empty'}]"
    if name == "content":
        return click.Option(
            flags,
            multiple=True,
            metavar="DIRECTORY",
            callback=note_unused_content,
            help=f"{shown} May be repeated.",
        )
    if field.annotation is bool:
        return click.Option(flags, is_flag=False, flag_value="1", default=None, metavar="[0|1]", help=shown)
    return click.Option(flags, default=None, metavar="TEXT", help=shown)


def serve(**options: str | tuple[str, ...] | None) -> None:
    """Serve the web pages and the API.

    Each option can also be set as the environment variable beside it; the option wins. The default follows it.
    """
    ignored = [
        f"{name} is ignored, as there is no such setting: is {similar} meant?"
        for name, similar in misspelled_variables(os.environ).items()
    ]
    try:
        settings = Settings.load(os.environ, **options)
    except SettingsError as error:
        for problem in (*ignored, *error.problems):
            note(problem, prefix="jieda: ")
        sys.exit(2)
    logging.config.dictConfig(log_config(settings.log_format))
    for each in ignored:
        log.warning(each)
    server.check_files()
    check_port(settings.host, settings.port)
    share_with_group(settings.data)
    # The server passes the signal on only after it has finished its work.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        knowledge = Knowledge(settings, leading=True)
        knowledge.open()
        remove_temporary_folders(knowledge.data, prefix=figures_prefix(knowledge.data))
        if settings.workers == 1:
            # The application stops `knowledge` at shutdown: it knows when the last response is sent.
            application = import_module(server.APPLICATION).create_app(settings, knowledge, alone=True)
            uvicorn.run(application, **server.uvicorn_options(settings))
        else:
            serve_from_workers(settings, knowledge)
    except OSError as error:
        raise click.ClickException(str(error)) from error


def serve_from_workers(settings: Settings, knowledge: Knowledge) -> None:
    """Serve from several worker processes. This one handles no requests: it builds what the workers serve."""
    settings = replace(settings, data=knowledge.data)
    # Outside the data directory, which may be deleted, unless a hardened container has no other place.
    folders = temporary_folders(settings.data, prefix=figures_prefix(settings.data))
    figures = next(folders, settings.data / "no figures")
    try:
        os.environ[DIRECTORY_VARIABLE] = str(figures)
        knowledge.lead()
        server.Workers(settings).run()
    finally:
        knowledge.stop()
        remove(figures)


def figures_prefix(data: Path) -> str:
    """Return the prefix of folders in which workers with this data directory count."""
    return f"jieda-{hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:16]}-"


def check_port(host: str, port: int) -> None:
    """Raise ClickException if the address cannot be bound, which the server would notice only after the build."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    remedy = "choose another port with --port or JIEDA_PORT"
    try:
        with socket.socket(family) as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            attempt.bind((host, port))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            # Its error numbers are not errno values.
            reason, remedy = error.strerror or reason, "choose another host with --host or JIEDA_HOST"
        raise click.ClickException(f"cannot listen on {host} port {port}: {reason}; {remedy}") from error


command = click.Command("serve", callback=serve, params=[*map(parameter, TABLE)], help=serve.__doc__)
