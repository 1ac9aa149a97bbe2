"""Counters and timings for Prometheus: the one door to its client library."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Where several workers leave their figures for each other; the library reads it when it is imported."""

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper bounds in seconds: a search takes about one millisecond, a diagnosis up to a few hundred."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """What one application counts. Labels are route templates and tags, never anything a client typed."""

    registry: CollectorRegistry
    requests: Counter
    seconds: Histogram
    searches: Counter
    diagnoses: Counter
    reloads: Counter
    entries: Gauge
    degraded: Gauge

    @classmethod
    def create(cls) -> Self:
        """Fresh counters in a registry of their own, so that two applications in one process keep apart."""
        registry = CollectorRegistry()
        return cls(
            registry=registry,
            requests=Counter(
                "jieda_requests", "Requests answered.", ["method", "route", "status"], registry=registry
            ),
            seconds=Histogram(
                "jieda_request_seconds",
                "Time to the end of an answer.",
                ["method", "route"],
                registry=registry,
                buckets=BUCKETS,
            ),
            searches=Counter("jieda_searches", "Searches by outcome.", ["outcome"], registry=registry),
            diagnoses=Counter(
                "jieda_diagnoses",
                "Diagnoses by confidence of the best match.",
                ["confidence"],
                registry=registry,
            ),
            reloads=Counter(
                "jieda_reloads", "Reloads asked for, by outcome.", ["outcome"], registry=registry
            ),
            entries=Gauge(
                "jieda_entries", "Entries served.", registry=registry, multiprocess_mode="mostrecent"
            ),
            degraded=Gauge(
                "jieda_degraded",
                "1 while an older snapshot is served because the last reload failed.",
                registry=registry,
                multiprocess_mode="mostrecent",
            ),
        )

    def expose(self, environ: Mapping[str, str] = os.environ) -> bytes:
        """All figures in the text format, of every worker where several share a directory."""
        if DIRECTORY_VARIABLE not in environ:
            return generate_latest(self.registry)
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call] # the library has no annotation there
        return generate_latest(shared)
