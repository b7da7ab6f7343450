"""Numbers for Prometheus: requests by route and status, their duration, batches and jobs. No text, word, id or address is a label."""

from __future__ import annotations

import os

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = CONTENT_TYPE_LATEST
_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)


class Metrics:
    """The metrics of one application; with several processes, those of all of them."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        several = "PROMETHEUS_MULTIPROC_DIR" in os.environ
        own = None if several else self._registry
        self._requests = Counter("deniable_requests", "Requests by method, route and status.", ["method", "route", "status"], registry=own)
        self._seconds = Histogram("deniable_request_seconds", "How long requests took.", ["route"], buckets=_BUCKETS, registry=own)
        self.batches = Counter("deniable_batches", "Searches made for one or more requests together.", registry=own)
        self.jobs = Gauge("deniable_jobs_running", "Jobs that are being worked on.", registry=own, multiprocess_mode="livesum")
        if several:
            MultiProcessCollector(self._registry)  # type: ignore[no-untyped-call]

    def served(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; ``route`` is the pattern of its path, and a status of 0 one that was never answered."""
        self._requests.labels(method if method in ("GET", "POST", "DELETE") else "other", route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Return the metrics as Prometheus reads them."""
        return generate_latest(self._registry)
