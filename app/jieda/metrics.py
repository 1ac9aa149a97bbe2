"""Counters and timings for Prometheus. Only this module imports its client library."""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, generate_latest, values
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from jieda.feedback import VoteCount
from jieda.version import VERSION

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Names the directory in which workers share their figures; the library reads it on import."""

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper bounds in seconds: a search takes about one millisecond, a diagnosis up to a few hundred."""


@dataclass(frozen=True, slots=True)
class ServedState(Collector):
    """Figures that are read for each request and are the same in all workers. `age`: seconds since the generation was
    built; `build_seconds`: total time of all `builds`. Votes are on disk, so they outlast a restart."""

    entries: int
    degraded: bool
    age: float
    cluster: str | None = None
    """Why the search cluster does not answer, empty if it does; None without a cluster."""
    builds: int = 0
    build_seconds: float = 0.0
    votes: Sequence[VoteCount] = ()

    def collect(self) -> Iterator[Metric]:
        version = "Always 1; the label says which version runs."
        info = GaugeMetricFamily("jieda_info", version, labels=["version"])
        info.add_metric([VERSION], 1)
        yield info
        yield GaugeMetricFamily("jieda_entries", "Entries served.", self.entries)
        degraded = "1 while something keeps the newest content from being served."
        yield GaugeMetricFamily("jieda_degraded", degraded, self.degraded)
        if self.cluster is not None:
            up = "1 while the search cluster answers the worker that is asked."
            yield GaugeMetricFamily("jieda_search_cluster_up", up, not self.cluster)
        age = "Time since the generation that is served was built."
        yield GaugeMetricFamily("jieda_generation_age_seconds", age, self.age)
        yield CounterMetricFamily("jieda_builds", "Generations built since the builder started.", self.builds)
        yield CounterMetricFamily("jieda_build_seconds", "Time that these builds took.", self.build_seconds)
        votes = CounterMetricFamily(
            "jieda_votes", "What readers said to “Did this solve it?”.", labels=["entry", "lang", "solved"]
        )
        for vote in self.votes:
            votes.add_metric([vote.entry, vote.lang, "yes"], vote.solved)
            votes.add_metric([vote.entry, vote.lang, "no"], vote.unsolved)
        yield votes


class FiguresFile(MmapedDict):
    """The figures of one worker, in memory and, for the other workers, in a file. The library would map the file into
    memory, which ends the process if the disk is full."""

    def __init__(self, filename: str) -> None:
        self._m, self._capacity = bytearray(8), math.inf  # type: ignore[assignment] # grows as it is written
        self._used = self._written = len(self._m)
        self._positions: dict[str, int] = {}
        self._file = -1
        with suppress(OSError):
            self._file = os.open(filename, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o640)

    def write_value(self, key: str, value: float, timestamp: float) -> None:
        """Set a value. If the disk refuses it, it is written together with the next new value."""
        super().write_value(key, value, timestamp)  # type: ignore[no-untyped-call] # as the library has it
        start = self._positions[key]
        if start < self._written:
            self._write(start, start + 16)
        elif self._write(self._written, self._used) and self._write(0, 8):  # the head: how much may be read
            self._written = self._used

    def _write(self, start: int, end: int) -> bool:
        with suppress(OSError):
            return os.pwrite(self._file, self._m[start:end], start) == end - start
        return False


values.MmapedDict = FiguresFile  # type: ignore[attr-defined,assignment] # where the library makes its files


class SharedFigures(Collector):
    """The figures of all workers that share a directory, including dead ones."""

    def collect(self) -> Iterable[Metric]:
        files = Path(os.environ[DIRECTORY_VARIABLE]).glob("*.db")
        written = [str(file) for file in files if file.stat().st_size]
        return MultiProcessCollector.merge(written)  # type: ignore[no-untyped-call,no-any-return] # as the library has it


class Metrics:
    """The metrics of one application, in a registry of its own, so that two in one process are independent. Labels are
    route templates and tags, never text of a client."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        count = partial(Counter, registry=self.registry)
        self.requests = count("jieda_requests", "Requests answered.", ["method", "route", "status"])
        self.searches = count("jieda_searches", "Searches by outcome.", ["outcome"])
        verdicts = "Diagnoses by verdict and by confidence of the best match."
        self.diagnoses = count("jieda_diagnoses", verdicts, ["verdict", "confidence"])
        self.reloads = count("jieda_reloads", "Reloads requested, by outcome.", ["outcome"])
        over = "Requests refused because a client went over a limit (by kind), or because the server was busy (busy)."
        self.refused = count("jieda_refused", over, ["limit"])
        lasting = "Answers that hold for a whole generation, from the cache (hit) or made anew (miss)."
        self.cache = count("jieda_cache", lasting, ["outcome"])
        repeated = "Searches answered from the cache (hit), and those that were run (miss)."
        self.repeated = count("jieda_search_cache", repeated, ["outcome"])
        unanswered = (
            "Unanswered questions: kept, dropped (too many at once), unreadable (none of their words may be kept), "
            "lost (the disk could not be written)."
        )
        self.gaps = count("jieda_gaps", unanswered, ["outcome"])
        timed, labels = "Time until an answer was complete.", ["method", "route"]
        self.seconds = Histogram(
            "jieda_request_seconds", timed, labels, registry=self.registry, buckets=BUCKETS
        )

    def expose(self, state: ServedState) -> bytes:
        """Return the figures of all workers that share a directory, and the current state, in the text format."""
        shared = CollectorRegistry()
        shared.register(state)
        if DIRECTORY_VARIABLE not in os.environ:
            return generate_latest(self.registry) + generate_latest(shared)
        shared.register(SharedFigures())
        return generate_latest(shared)
