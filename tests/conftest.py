"""Which tests stay in one process where several share the work: those that share what is made once, or it
would be made in each.

The tests of a file share an index, a browser or a server; those of Spark share a cluster. Pages of the
documentation share nothing. ``--dist loadgroup`` is for that, but keeps no group together under pytest 9.2
(pytest-xdist issue 1386).
"""

from __future__ import annotations

import functools
import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, settings

# No example fails because the machine is busy.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

LONGEST = (
    "tests/tuning/test_tuning.py",
    "tests/gpu/test_interpreted.py",
    "tests/golden/test_golden.py",
    "tests/service/test_page.py",
    "tests/service/test_jobs.py",
    "tests/records/jobs/test_records_kill.py",
)
"""Files that take longest. They come first, such that no process is left with one of them when the others
have nothing to do."""

COLLECTED = pytest.StashKey[frozenset[tuple[str, ...]]]()
"""The file and the name of every test that was collected, those included that are not to be run."""

if "PYTEST_XDIST_WORKER" in os.environ:
    # Before NumPy is loaded: threads of one process for products of small matrices would take the processors
    # of the others to wait.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def kept_together(test: str) -> str:
    """Return a name that is the same for all tests which are to run in one process."""
    file, _, name = test.partition("::")
    if file.startswith("tests/integrations/test_spark") or "spark.md" in name:
        return "spark"
    return test if name.startswith("test_every_block_of_the_page_runs") else file


@pytest.fixture(autouse=True, scope="session")
def _parsers_are_made_once() -> Iterator[None]:
    """Typer makes the parser of all commands anew for each call, which takes longer than most calls."""
    made = functools.cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(typer.main, "get_command", made)
        patched.setattr(typer.testing, "_get_command", made)
        yield


@pytest.fixture(autouse=True)
def _process_is_left_as_it_was() -> Iterator[None]:
    """What a command or a library changes in the process of the tests does not reach the next test."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    folder, environment = Path.cwd(), dict(os.environ)
    yield
    environment |= {name: os.environ[name] for name in ("PYTEST_CURRENT_TEST",) if name in os.environ}
    for number, handler in handlers.items():
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)
    if Path.cwd() != folder:
        os.chdir(folder)
    if os.environ != environment:
        os.environ.clear()
        os.environ.update(environment)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage again and again: what is made here stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        # and no gc.freeze: Hypothesis looks for referrers, and does not find those that are frozen
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[COLLECTED] = frozenset(tuple(item.nodeid.partition("[")[0].split("::", 1)) for item in items)
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = (
        False  # by how many tests a file has, which says little of how long it takes
    )
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = kept_together
    return scheduler
