"""What was measured is not measured again, new results join the kept ones, and what is worth most comes
first."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _result(setting: Any, epsilon: float) -> dict[str, Any]:
    from deniable.purposes.directions import PENALTY

    embedding = {"name": setting.space, "penalty": PENALTY}
    return {
        "name": setting.data,
        "level": setting.level,
        "mechanism": setting.mechanism,
        "embedding": embedding,
        "epsilon": epsilon,
    }


def test_each_setting_is_asked_for_once() -> None:
    from scripts.purpose.settings import settings

    assert len(settings()) == len(set(settings()))
    assert len({each.name for each in settings()}) == len(settings())


def test_a_new_result_takes_the_place_of_a_known_one_and_none_is_lost() -> None:
    from scripts.purpose.results import merged, setting_of
    from scripts.purpose.settings import Setting, settings

    first, second, third = settings()[:3]
    gone = Setting("sst2", "no-longer-asked-for", 0.08)
    found = merged(
        [_result(gone, 4.0), _result(third, 3.0), _result(first, 1.0)],
        [_result(second, 2.5), _result(first, 1.5)],
    )
    assert [(setting_of(each), each["epsilon"]) for each in found] == [
        (first, 1.5),
        (second, 2.5),
        (third, 3.0),
        (gone, 4.0),
    ]


def test_known_settings_are_left_out_before_the_first_are_counted(tmp_path: Path) -> None:
    from scripts.purpose.measure import _asked
    from scripts.purpose.settings import settings

    known = tmp_path / "known.json"
    known.write_text(json.dumps([_result(each, 1.0) for each in settings()[:2]]), encoding="utf-8")
    given = Namespace(known=known, first=2, only="")
    assert _asked(given) == settings()[2:4]
    given.known = None
    assert _asked(given) == settings()[:2]
    given.known = Path("/dev/null")
    assert _asked(given) == settings()[:2]


def test_collecting_puts_new_results_beside_the_known_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scripts.purpose import measure as measure_purpose
    from scripts.purpose.results import read_results, setting_of
    from scripts.purpose.settings import settings

    first, second, third = settings()[:3]
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps([_result(third, 3.0), _result(first, 1.0)]), encoding="utf-8")
    for setting, epsilon in ((first, 1.23456), (second, 2.0)):
        (tmp_path / f"{setting.name}.result.json").write_text(
            json.dumps(_result(setting, epsilon)), encoding="utf-8"
        )
    monkeypatch.setattr(
        sys,
        "argv",
        ["measure_purpose.py", "collect", "--into", str(tmp_path), "--known", str(kept), "-o", str(kept)],
    )
    measure_purpose.main()
    found = read_results(kept)
    assert [(setting_of(each), each["epsilon"]) for each in found] == [
        (first, 1.235),
        (second, 2.0),
        (third, 3.0),
    ]
    measure_purpose.main()
    assert read_results(kept) == found


def test_a_file_of_known_results_that_is_missing_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scripts.purpose import measure as measure_purpose

    monkeypatch.setattr(
        sys,
        "argv",
        ["measure_purpose.py", "measure", "--into", str(tmp_path), "--known", str(tmp_path / "none.json")],
    )
    with pytest.raises(SystemExit) as stopped:
        measure_purpose.main()
    assert stopped.value.code == 2


def test_what_is_left_is_in_order_of_worth() -> None:
    """Each step may only come once all of the steps before it are there: measured already, or earlier in the
    order."""
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

    def step(each: Setting) -> int:
        main, plain, at = each.data in MAIN, each.mechanism == "multivariate", each.level == 0.08
        purpose = each.space.partition("-")[0]
        if main and at and plain and purpose in ("sentiment", "topic") and not each.space.endswith("-16-2"):
            return 1
        if main and at and not plain:
            return 2
        if (
            main
            and at
            and (purpose == "both" or (each.data, purpose) in (("sst2", "topic"), ("agnews", "sentiment")))
        ):
            return 3
        if main and each.space in SHIFTED[each.data]:
            return 4
        if main and plain and each.space.endswith(("-16-4", "-16-8")) and each.level in ("kind", "context"):
            return 5
        if (
            each.data in (*MAIN, *OTHER_DECODED)
            and plain
            and each.space in ("default", "glove-840b")
            and isinstance(each.level, float)
        ):
            return 6
        if each.data in NOT_LINEAR:
            return 7
        if each.data in (*OTHERS, *AUTHORS) and plain:
            return 8
        return 9

    three = {"sentiment-16-2", "topic-16-2", "default", "reduced-16"}
    first = [
        each
        for each in settings()[:30]
        if each.data in MAIN and each.space in three and each.mechanism == "multivariate"
    ]
    assert len(first) == 30
    steps = [step(each) for each in settings()[30:]]
    assert steps == sorted(steps)
    assert set(steps) == set(range(1, 10))


def test_what_was_measured_in_a_space_that_was_shaped_otherwise_is_measured_again() -> None:
    from scripts.purpose.results import not_measured
    from scripts.purpose.settings import settings

    results = [_result(each, 1.0) for each in settings()]
    assert not not_measured(results)
    for each in results:
        del each["embedding"]["penalty"]
    left = not_measured(results)
    assert left == [each for each in settings() if each.is_shaped]
    assert {each.space for each in settings()} - {each.space for each in left} == {
        "default",
        "glove-840b",
        "reduced-16",
    }
