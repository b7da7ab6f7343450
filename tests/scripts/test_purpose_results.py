"""What was measured is not measured again, new results join the kept ones, and what is worth most comes
first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripts.purpose import measure
from scripts.purpose.results import merged, not_measured, read_results, setting_of, write_results
from scripts.purpose.settings import (
    AUTHORS,
    MAIN,
    NOT_LINEAR,
    OTHER_DECODED,
    OTHERS,
    SHIFTED,
    Setting,
    settings,
)

from deniable.purposes.directions import PENALTY


def _result(setting: Setting, epsilon: float) -> dict[str, Any]:
    return {
        "name": setting.data,
        "level": setting.level,
        "mechanism": setting.mechanism,
        "embedding": {"name": setting.space, "penalty": PENALTY},
        "epsilon": epsilon,
        "parts": {},
    }


def test_each_setting_is_asked_for_once() -> None:
    assert len({each.name for each in settings()}) == len(set(settings())) == len(settings())


def test_a_new_result_takes_the_place_of_a_known_one_and_none_is_lost() -> None:
    first, second, third = settings()[:3]
    gone = Setting("sst2", "no-longer-asked-for", 0.08)
    results = merged(
        [_result(gone, 4.0), _result(third, 3.0), _result(first, 1.0)],
        [_result(second, 2.5), _result(first, 1.5)],
    )
    expected = [(first, 1.5), (second, 2.5), (third, 3.0), (gone, 4.0)]
    assert [(setting_of(each), each["epsilon"]) for each in results] == expected


def test_what_is_left_is_measured_and_kept_and_a_failure_does_not_stop_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from scripts.purpose import setting as on_card

    class Card:
        def __init__(self, *_: object) -> None: ...

        def measure(self, setting: Setting) -> dict[str, Any]:
            if setting == second:
                raise RuntimeError
            return _result(setting, 1.23456)

    known, second, *left = [each for each in settings() if "sst2-sentiment-16-2-multivariate" in each.name]
    monkeypatch.setattr(on_card, "SettingOnCard", Card)
    monkeypatch.setattr(measure, "KEPT", tmp_path / "kept.json")
    write_results(tmp_path / "kept.json", [_result(known, 3.0)])
    measure.measure_all(tmp_path, "cpu", "sst2-sentiment-16-2-multivariate")
    kept = [(setting_of(each), each["epsilon"]) for each in read_results(tmp_path / "kept.json")]
    assert kept == [(known, 3.0), *((each, 1.235) for each in left)]


def test_what_is_left_is_in_order_of_worth() -> None:
    """Each step may only come once all of the steps before it are there: measured already, or earlier in the
    order."""

    def step(each: Setting) -> int:
        main, plain, at = each.data in MAIN, each.mechanism == "multivariate", each.level == 0.08
        purpose = each.space.partition("-")[0]
        others_purpose = (each.data, purpose) in (("sst2", "topic"), ("agnews", "sentiment"))
        if main and at and plain and purpose in ("sentiment", "topic") and not each.space.endswith("-16-2"):
            return 1
        if main and at and not plain:
            return 2
        if main and at and (purpose == "both" or others_purpose):
            return 3
        if main and each.space in SHIFTED[each.data]:
            return 4
        if main and plain and each.space.endswith(("-16-4", "-16-8")) and each.level in ("kind", "context"):
            return 5
        whole = each.space in ("default", "glove-840b") and isinstance(each.level, float)
        if each.data in (*MAIN, *OTHER_DECODED) and plain and whole:
            return 6
        if each.data in NOT_LINEAR:
            return 7
        return 8 if each.data in (*OTHERS, *AUTHORS) and plain else 9

    three = {"sentiment-16-2", "topic-16-2", "default", "reduced-16"}
    assert all(
        each.data in MAIN and each.space in three and each.mechanism == "multivariate"
        for each in settings()[:30]
    )
    steps = [step(each) for each in settings()[30:]]
    assert steps == sorted(steps)
    assert set(steps) == set(range(1, 10))


def test_what_was_measured_in_a_space_that_was_shaped_otherwise_is_measured_again() -> None:
    results = [_result(each, 1.0) for each in settings()]
    assert not not_measured(results)
    for each in results:
        del each["embedding"]["penalty"]
    left = not_measured(results)
    assert left == [each for each in settings() if each.is_shaped]
    plain = {each.space for each in settings()} - {each.space for each in left}
    assert plain == {"default", "glove-840b", "reduced-16"}
