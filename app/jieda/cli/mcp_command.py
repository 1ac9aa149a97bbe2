"""`jieda mcp`: the tools for coding agents on standard input and output, as clients start them."""

import asyncio
import logging.config
from pathlib import Path

import click

from jieda.agents import extra
from jieda.agents.answering import Context
from jieda.cli.asking import local_client, url_option
from jieda.cli.logs import log_config
from jieda.cli.running import content_option, run
from jieda.client.remote import Remote
from jieda.locales.translations import Translations


@click.command("mcp")
@url_option
@content_option
def command(url: str, directories: tuple[Path, ...]) -> None:
    """Serve coding agents over the Model Context Protocol on standard input and output.

    A client starts this command itself; docs/agents.md has the set-up of each. It answers from the local content,
    which may be edited meanwhile, or with --url from a server. A server answers agents itself, at /mcp.
    """
    extra.require()
    # Standard output belongs to the protocol, so everything else goes to standard error.
    logging.config.dictConfig(log_config("text", level="WARNING"))
    words = Translations.load().words
    if url:
        asyncio.run(extra.serve_stdio(Context(Remote.at(url), words)))
        return
    client = local_client(directories, reload_content="1")
    knowledge = client.service.knowledge
    knowledge.start()
    try:
        asyncio.run(extra.serve_stdio(Context(client, words, lambda: knowledge.snapshot.library.site)))
    finally:
        knowledge.stop()


if __name__ == "__main__":
    run(command)
