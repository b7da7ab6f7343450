"""Numbers for Prometheus: requests by route and status, their duration, and how many shared a search; no word
or id is a label."""

from __future__ import annotations

import os

SEVERAL = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable that names the folder where several processes put their numbers together;
Prometheus's client reads it."""

_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)
_METHODS = ("GET", "POST", "DELETE")


class Metrics:
    """The metrics of one application; with several processes, those of all of them."""

    def __init__(self) -> None:
        # Imported here: the library looks for the variable when it is loaded, and the processes are made
        # after we are.
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram
        from prometheus_client.multiprocess import MultiProcessCollector

        self.content_type = CONTENT_TYPE_LATEST
        self._registry = CollectorRegistry()
        own = None if SEVERAL in os.environ else self._registry
        self._requests = Counter(
            "deniable_requests",
            "Requests by method, route and status.",
            ["method", "route", "status"],
            registry=own,
        )
        self._seconds = Histogram(
            "deniable_request_seconds", "How long requests took.", ["route"], buckets=_BUCKETS, registry=own
        )
        # Not searches: into how many a request is cut depends on how long its words are.
        self.shared = Counter(
            "deniable_shared", "Requests that began to be searched together with others.", registry=own
        )
        if own is None:
            MultiProcessCollector(self._registry)  # type: ignore[no-untyped-call]

    def served(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; ``route`` is the pattern of its path, and a status of 0 one that was never
        answered."""
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Return the metrics as Prometheus reads them."""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)
