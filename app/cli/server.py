"""How uvicorn is run: HTTP/1.1 that waits for nobody for ever, in one process or several."""

import asyncio
import resource
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import uvicorn

from app.cli.http_protocol import TypedAddresses
from app.cli.logs import log_config
from app.cli.supervisor import Supervisor
from app.settings import Settings
from app.web.http.clients import client_key, is_among, parse

SECONDS_TO_START = 60
"""For a worker that still imports on a busy machine."""
SECONDS_TO_FINISH = 8
"""For answers under way when the server is told to stop; containers are killed after ten."""
SECONDS_FOR_HEADERS = 10.0
"""From the start of a connection, or the end of the last answer, to the end of a request's headers."""
SECONDS_WITHOUT_READING = 20.0
LEAST_READ = 1 << 16
"""Bytes: a client that takes fewer of what waits for it in SECONDS_WITHOUT_READING is given up."""
SECONDS_BETWEEN_LOOKS = 2.0
MOST_CONNECTIONS = 1000
"""In each worker. One more, and the one that has been silent for longest goes."""
MOST_OF_ONE_CLIENT = 100
OTHER_FILES = 64
"""Descriptors that are kept for everything but connections."""
_TURNS = count()


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many connections there may be. `trusted` proxies bring more than one client and count as nobody."""

    most: int
    of_one_client: int
    trusted: tuple[str, ...]

    @classmethod
    def of(cls, settings: Settings) -> "Bounds":
        """As many as the system lets this process have, and no limit for a client where limits are off."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = max(OTHER_FILES, min(MOST_CONNECTIONS, files - OTHER_FILES))
        return cls(most, MOST_OF_ONE_CLIENT if settings.limits else most, settings.trusted_proxies)


class Connection(TypedAddresses):
    """A connection that is looked after every two seconds, for as long as it is open."""

    def __init__(self, *arguments: Any, bounds: Bounds, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._bounds = bounds
        self._timer: asyncio.TimerHandle | None = None
        self._unsent, self._taken_at = 0, 0.0
        self.who = b""
        """The client, or empty where it may have as many connections as it likes."""
        self.asking_since = 0.0
        self.turn = 0
        """Grows each time that somebody begins to ask: the clock of the loop may stand still meanwhile."""

    @property
    def asks(self) -> bool:
        """Whether the client has yet to say what it wants."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in the base class
        """Begin to look after it, and make room for it."""
        super().connection_made(transport)
        self._begin_to_ask()
        self._taken_at = self.asking_since
        self._timer = self.loop.call_later(SECONDS_BETWEEN_LOOKS, self._look)
        address = parse(self.client[0]) if self.client else None
        if address and not is_among(address, self._bounds.trusted):
            self.who = client_key(address)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """The client may ask again."""
        self._begin_to_ask()
        super().on_response_complete()

    def _begin_to_ask(self) -> None:
        self.asking_since, self.turn = self.loop.time(), next(_TURNS)

    def _make_room(self) -> None:
        all_of_them = (each for each in self.connections if isinstance(each, Connection))
        # One that is aborted is gone a moment later.
        others = [each for each in all_of_them if not each.transport.is_closing()]
        same = [each for each in others if self.who and each.who == self.who]
        if len(same) > self._bounds.of_one_client:
            _oldest(same).transport.abort()
        elif len(others) > self._bounds.most:
            _oldest(others).transport.abort()

    def _look(self) -> None:
        if self._has_stopped_reading() or self._takes_too_long_to_ask():
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(SECONDS_BETWEEN_LOOKS, self._look)

    def _has_stopped_reading(self) -> bool:
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if not unsent or abs(unsent - self._unsent) >= LEAST_READ:
            self._unsent, self._taken_at = unsent, now
        return now - self._taken_at > SECONDS_WITHOUT_READING

    def _takes_too_long_to_ask(self) -> bool:
        is_sent = not self.transport.get_write_buffer_size()
        return self.asks and is_sent and self.loop.time() - self.asking_since > SECONDS_FOR_HEADERS


def _oldest(connections: list[Connection]) -> Connection:
    """The one that has asked for nothing for longest; the newest where all have asked."""
    idle = [each for each in connections if each.asks]
    if idle:
        return min(idle, key=lambda each: each.turn)
    return max(connections, key=lambda each: each.turn)


def run(app: Any, settings: Settings) -> None:
    """Serve an application, or with several workers what a factory of that name makes in each of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if isinstance(app, str):
        config = uvicorn.Config(app, factory=True, workers=settings.workers, **options(settings))
        Supervisor(config).run()
    else:
        uvicorn.run(app, **options(settings))


def options(settings: Settings) -> dict[str, Any]:
    """What the server is told, whichever way it runs."""
    return {
        "host": settings.host,
        "port": settings.port,
        "http": partial(Connection, bounds=Bounds.of(settings)),
        "log_config": log_config(settings.log_format),
        # Its access log has queries in it; ours has not.
        "access_log": False,
        "server_header": False,
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": list(settings.trusted_proxies),
        "timeout_graceful_shutdown": SECONDS_TO_FINISH,
        "timeout_worker_healthcheck": SECONDS_TO_START,
        "ws": "none",
    }
