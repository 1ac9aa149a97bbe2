"""The session of `jieda mcp` after its first responses: the SDK and the content."""

import asyncio
import logging.config
from collections.abc import Callable
from pathlib import Path

from jieda.agents import extra
from jieda.agents.answering import Context
from jieda.agents.opening import OpenedAnswers, OpenedLines
from jieda.cli.asking import local_client
from jieda.cli.logs import log_config
from jieda.client.remote import Remote
from jieda.locales.translations import Translations

Serve = Callable[[OpenedLines, OpenedAnswers], None]


def opened(url: str, directories: tuple[Path, ...]) -> Serve:
    """Return the function that serves until the input ends, from the local content or the server at `url`. Raises
    JiedaError."""
    # Stdout belongs to the protocol, so everything else goes to stderr.
    logging.config.dictConfig(log_config("text", level="WARNING"))
    extra.load()
    words = Translations.load().words
    if url:
        context = Context(Remote.at(url), words)
        return lambda read, write: asyncio.run(extra.serve_stdio(context, read, write))
    client = local_client(directories, reload_content="1")
    knowledge = client.service.knowledge
    context = Context(client, words, lambda: knowledge.snapshot.library.site)

    def serve(read: OpenedLines, write: OpenedAnswers) -> None:
        knowledge.start()
        try:
            asyncio.run(extra.serve_stdio(context, read, write))
        finally:
            knowledge.stop()

    return serve
