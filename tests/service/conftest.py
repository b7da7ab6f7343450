from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from deniable import Embedding
from deniable.service import facts, jobs
from deniable.service.settings import Allowed
from tests.report.browser import browser
from tests.service.running import Client, make_settings, running


@pytest.fixture(autouse=True, scope="session")
def _jobs_are_looked_at_often() -> Iterator[None]:
    """A service in a thread of the test does not let it wait a second for what it does once in a second, and
    reads released words by fewer points."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(jobs, "SECONDS_BETWEEN_LOOKS", 0.05)
        patched.setattr(facts, "POINTS_TO_DECODE", 16)
        yield


@pytest.fixture
def minutes_pass(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Give a function that puts the clock of jobs forward, so that no test waits until they are deleted."""

    def put_forward(minutes: float) -> None:
        later = SimpleNamespace(
            time=lambda: time.time() + 60.0 * minutes, monotonic=time.monotonic, sleep=time.sleep
        )
        monkeypatch.setattr(jobs, "time", later)

    return put_forward


@pytest.fixture(scope="session")
def vocabulary() -> set[str]:
    return set(Embedding.open().words)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The service that the page is shown by; other tests have one with settings of their own."""
    with running(
        make_settings(tmp_path_factory.mktemp("service"), release=Allowed(max_epsilon=12))
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser."""
    with browser(tmp_path_factory.mktemp("browser")) as found:
        yield found
