"""The session of `jieda mcp` after its first responses: the SDK and the content."""

import asyncio
import logging.config
from collections.abc import Callable
from pathlib import Path

from jieda.agents.answering import Context
from jieda.agents.opening import Opening
from jieda.agents.protocol import serve_stdio
from jieda.cli.asking import local_client
from jieda.cli.logs import log_config
from jieda.client import Remote
from jieda.presentation.urls import Urls


def open_session(url: str, directories: tuple[Path, ...]) -> Callable[[Opening], None]:
    """Return a function that serves until the input ends, from content or the server at `url`. Raises JiedaError."""
    # Stdout belongs to the protocol, so everything else goes to stderr.
    logging.config.dictConfig(log_config("text", level="WARNING"))
    if url:
        context = Context(Remote(Urls(base_url=url)))
        return lambda opening: asyncio.run(serve_stdio(context, opening))
    client = local_client(directories, reload_content="1")
    knowledge = client.service.knowledge
    context = Context(client, lambda: knowledge.snapshot.library.site)

    def serve(opening: Opening) -> None:
        knowledge.start()
        try:
            asyncio.run(serve_stdio(context, opening))
        finally:
            knowledge.stop()

    return serve
