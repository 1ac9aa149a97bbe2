"""Looks at the search cluster now and then: how it fares is known also where nobody searches."""

import contextlib
import logging
import threading
from collections.abc import Callable

from app.errors import ClusterUnavailable
from app.search.index.embedded import EmbeddedIndex
from app.snapshot.engine import RemoteIndex
from app.snapshot.follow import UNREADABLE, Follower
from app.snapshot.snapshot import SHOWN

log = logging.getLogger(__name__)

LOOK_AGAIN = 2.0
"""Seconds between two looks."""


def watch_cluster(follower: Follower, mend: Callable[[], None], stop: threading.Event) -> None:
    """Until stopped, asks for the index that is served, and has one made anew that the cluster has lost. For a
    thread of its own."""
    while not stop.wait(LOOK_AGAIN):
        served = follower.opened
        if served is None or isinstance(served.index.index, EmbeddedIndex):
            continue
        if not _is_there(served.index.index):
            name = served.generation.name
            log.warning("the cluster has lost the index of generation %s: it is loaded again", name[:SHOWN])
            with contextlib.suppress(*UNREADABLE):
                mend()


def _is_there(index: RemoteIndex) -> bool:
    """A cluster that does not answer may well have it; `Engine.failure` tells the rest."""
    with contextlib.suppress(ClusterUnavailable):
        return index.is_there()
    return True
