from __future__ import annotations

from pathlib import Path

import pytest

import deniable.noise.encoding
from deniable.noise.encoding import UniqueIds


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make runs so short that many are put away."""
    monkeypatch.setattr(deniable.noise.encoding, "RUN", 100)
    monkeypatch.setattr(deniable.noise.encoding, "HELD", 8)


def filled(ids: list[int]) -> UniqueIds:
    unique = UniqueIds()
    assert all(unique.add(str(one).encode(), record) for record, one in enumerate(ids, 1))
    return unique


def test_a_repetition_is_noticed_at_once_when_it_is_near() -> None:
    unique = filled(list(range(70_000)))
    assert not unique.add(b"69999", 70_001)
    assert not unique.add(b"5000", 70_001)
    assert unique.repeated() is None


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("records", [0, 1, 99, 100, 101, 5_000])
def test_different_ids_are_never_taken_for_equal(records: int) -> None:
    assert filled(list(range(records))).repeated() is None


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("first", "second"), [(1, 18), (1, 5_000), (85, 102), (2_500, 4_999)])
def test_a_repetition_far_away_is_found_at_the_end_with_both_records(first: int, second: int) -> None:
    ids = list(range(5_000))
    ids[second - 1] = ids[first - 1]
    assert filled(ids).repeated() == (first, second)


@pytest.mark.usefixtures("small")
def test_asking_twice_and_going_on_changes_nothing() -> None:
    unique = filled(list(range(250)))
    assert unique.repeated() is None
    assert unique.repeated() is None
    assert all(unique.add(str(one).encode(), one) for one in range(250, 400))
    assert unique.add(b"7", 401)
    assert unique.repeated() == (8, 401)


@pytest.mark.usefixtures("small")
def test_what_lies_on_the_disk_confirms_no_guess_of_an_id() -> None:
    first, second = filled(list(range(250))), filled(list(range(250)))
    marks = [{mark.tobytes()[:16] for part in each._parts() for mark in part} for each in (first, second)]
    assert len(marks[0]) == len(marks[1]) == 250
    assert not marks[0] & marks[1]
