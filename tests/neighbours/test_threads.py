from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from deniable import InvalidParameter
from deniable.neighbours.threads import set_threads, threads, threads_with_reason


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("DENIABLE_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    yield
    set_threads(None)


def test_what_was_chosen_counts_most_then_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", "7")
    assert threads() == 7
    set_threads(3)
    assert threads() == 3
    set_threads(None)
    assert threads_with_reason() == (7, "DENIABLE_THREADS")


def test_no_more_than_the_processors_this_process_may_use() -> None:
    assert 1 <= threads() <= (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_affinity_is_respected() -> None:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert threads() == 1
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.parametrize(
    ("value", "limited"), [("1", True), ("1,4", True), ("many", False), ("0", False), ("", False)]
)
def test_openmp_limits_the_threads_and_nonsense_does_not(
    value: str, limited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.neighbours.threads._processors", lambda: 7)
    monkeypatch.setattr("deniable.neighbours.threads._container_quota", lambda: None)
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert threads_with_reason() == (
        (1, "OMP_NUM_THREADS") if limited else (7, "the processors this process may use")
    )


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "5000"])
def test_a_wrong_environment_variable_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", value)
    with pytest.raises(InvalidParameter, match="DENIABLE_THREADS"):
        threads()


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True, 2000])
def test_a_wrong_choice_is_refused(value: object) -> None:
    with pytest.raises(InvalidParameter, match="threads"):
        set_threads(value)  # type: ignore[arg-type]
