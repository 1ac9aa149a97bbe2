"""`jieda health`: for the health check of a container, which then needs no curl."""

import os
import sys
import urllib.request
from http.client import HTTPException
from urllib.parse import urlsplit

import click

from app.settings import Settings

SECONDS = 5.0
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - looked up, not listened on


@click.command("health")
@click.option("--url", default="", help="Address of the server; by default from JIEDA_HOST and JIEDA_PORT.")
def command(url: str) -> None:
    """Exit with 0 where a server is ready to answer, with 1 where it is not."""
    base = url or own_address()
    if urlsplit(base).scheme not in {"http", "https"}:
        raise click.UsageError(f"--url must be an http(s) address; it is {base!r}")
    # No proxy of the environment lies between a server and its own health check.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{base.rstrip('/')}/readyz", timeout=SECONDS) as answer:
            click.echo(answer.read(10_000).decode("utf-8", "replace"))
    except (OSError, HTTPException, ValueError) as error:
        click.echo(f"jieda: {base} is not ready: {error}", err=True)
        sys.exit(1)


def own_address() -> str:
    """Where a server with the settings of this environment listens, as seen from here. Raises SettingsError."""
    settings = Settings.load(os.environ)
    host = EVERYWHERE.get(settings.host, settings.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"
