"""No reader goes back in time: who says which generation he has seen is answered from that one or a newer one.

Answers say it in the header `Jieda-Generation` and at the end of their ETag. A request that sends either of them back
to a worker that has not come so far waits for it, briefly. ETags are compared without that end: what is the same in two
generations need not be sent again.
"""

import asyncio
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.snapshot.knowledge import Knowledge

HEADER = "Jieda-Generation"
LONGEST_WAIT = 2.0
"""Seconds. Workers are that far behind only while something is wrong."""
LOOK_AGAIN = 0.02
MOST_WAITING = 200
"""Requests that wait in one worker; more are answered at once."""
MOST_READ = 1000
"""Characters of a header that are looked at."""
TAG = re.compile(r'"([0-9a-f]{24})-([0-9a-f]{12})"')
PLAIN_TAG = re.compile(r'(?:W/)?"([0-9a-f]{24})"')


class Generations:
    """Lets requests wait for what their client has seen, and tells each client what it sees."""

    def __init__(self, app: ASGIApp, knowledge: Knowledge) -> None:
        self._app = app
        self._knowledge = knowledge
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request when it is time to."""
        if scope["type"] != "http" or not self._knowledge.ready:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        had = dict(TAG.findall(headers.get("if-none-match", "")[:MOST_READ]))
        seen = {*had.values(), *filter(None, [headers.get(HEADER)])}
        if seen - {self._knowledge.snapshot.generation}:
            await self._come_so_far()
        if had:
            plain = TAG.sub(r'"\1"', headers["if-none-match"])
            MutableHeaders(scope=scope)["If-None-Match"] = plain

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                # As late as possible: whoever was told too new a generation waits in vain, too old a one goes back.
                self._tell(MutableHeaders(scope=message), had, is_new=message["status"] != 304)
            await send(message)

        await self._app(scope, receive, told)

    async def _come_so_far(self) -> None:
        """Waits until this worker serves what is the newest now. Whatever the client has seen is no newer."""
        number = self._knowledge.newest()
        if self._knowledge.serves(number) or self._waiting >= MOST_WAITING:
            return
        self._waiting += 1
        try:
            until = asyncio.get_running_loop().time() + LONGEST_WAIT
            while not self._knowledge.serves(number) and asyncio.get_running_loop().time() < until:
                await asyncio.sleep(LOOK_AGAIN)
        finally:
            self._waiting -= 1

    def _tell(self, headers: MutableHeaders, had: dict[str, str], *, is_new: bool) -> None:
        generation = self._knowledge.snapshot.generation
        headers[HEADER] = generation
        if match := PLAIN_TAG.fullmatch(headers.get("etag", "")):
            # A cache takes a 304 for an answer that it keeps under the very same tag.
            shown = generation if is_new else had.get(match[1], generation)
            headers["ETag"] = f'W/"{match[1]}-{shown}"'
