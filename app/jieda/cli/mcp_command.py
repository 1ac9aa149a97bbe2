"""`jieda mcp`: the tools for coding agents on standard input and output."""

import os
import signal
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from jieda.agents.opening import Message, Opening
from jieda.cli.running import content_option, url_option
from jieda.entry import Language
from jieda.errors import JiedaError
from jieda.presentation.brand import OURS, handle, short_name
from jieda.site_texts import SiteTexts

EXTRA_MISSING = (
    "jieda mcp needs the SDK of the Model Context Protocol, which is not installed; install it beside Jieda:"
    " pip install 'mcp>=2.3', in a checkout: make install"
)
SESSION = "jieda.cli.mcp_session"
"""Imported during the first responses, because that takes a second of CPU time."""
SETTINGS, CONTENT = "jieda.settings", "jieda.content.read.gather"
"""Imported only for local content; a server knows its own name."""


@click.command("mcp")
@url_option
@content_option
def command(url: str, directories: tuple[Path, ...]) -> None:
    """Serve coding agents over the Model Context Protocol on standard input and output.

    Clients start this command themselves; docs/agents.md says how to set each up. It answers from the local content,
    which may be edited meanwhile, or with --url from a server. A server also answers agents itself, at /mcp.
    """
    if find_spec("mcp") is None:
        raise JiedaError(EXTRA_MISSING)
    # At once, as on SIGTERM: an exception would wait for the thread that reads the next line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with (
        open(os.dup(0), encoding="utf-8-sig", errors="replace") as read,  # noqa: PTH123 - a descriptor
        open(os.dup(1), "w", encoding="utf-8") as write,  # noqa: PTH123 - as above
        ThreadPoolExecutor(1) as pool,
    ):
        # Stdout belongs to the protocol: all other output goes to stderr.
        os.dup2(2, 1)
        sys.stdout = sys.stderr

        @cache
        def load_session() -> Future[Any]:
            return pool.submit(lambda: import_module(SESSION).open_session(url, directories))

        opening = Opening(read, write, partial(add_site_name, site_of(url, directories)))
        opening.answer(
            lambda: bool(load_session.cache_info().currsize) and load_session().done(), load_session
        )
        load_session().result()(opening)


def site_of(url: str, directories: tuple[Path, ...]) -> SiteTexts:
    """Return the texts of the local content about itself; empty for a server. Raises ContentError, SettingsError."""
    if url:
        return SiteTexts()
    chosen = import_module(SETTINGS).content_directories(directories)
    site: SiteTexts = import_module(CONTENT).load_taxonomies(chosen).site
    return site


def add_site_name(site: SiteTexts, answer: Message) -> Message:
    """Return the response to `initialize` with the name of a site."""
    server = answer["serverInfo"] | {"name": handle(site), "title": site.name.get(Language.EN) or OURS}
    instructions = answer["instructions"].replace("{site}", short_name(site, Language.EN))
    return answer | {"serverInfo": server, "instructions": instructions}
