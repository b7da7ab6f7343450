"""``measure_utility``: everything that ``deniable utility`` does, as a Python call with a typed result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deniable import Embedding
from deniable.errors import InvalidParameter, RecordError, TaskDataError
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.utility import Findings, measure_utility
from deniable.utility.page import utility_page, write_utility_figures
from tests.support.commands import invoke
from tests.support.made_texts import csv_of, made_rows


def test_findings_have_points_advice_and_what_was_measured(installed: Embedding) -> None:
    file = csv_of(made_rows(200), Path("a.csv"))
    heard: list[tuple[int, int]] = []
    found = measure_utility(
        file,
        text_column="t",
        label_column="y",
        epsilons=[60.0, 0.01, 60.0],
        embedding="two-kinds",
        runs=2,
        report=lambda done, total: heard.append((done, total)),
    )
    assert isinstance(found, Findings)
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert [(point.at, point.epsilon) for point in found.points["as released"]] == [
        ("nowhere", None),
        *((at, epsilon) for at in ("train", "test", "both") for epsilon in (0.01, 60.0)),
    ]
    assert found.learns
    best = found.smallest_acceptable()
    assert best is not None
    assert best.epsilon == 60.0
    assert (found.about.texts, found.about.classes, found.about.runs, found.about.mechanism) == (
        200,
        2,
        2,
        "multivariate",
    )
    assert found.about.embedding.fingerprint == installed.fingerprint
    assert [path.name for path in Path().iterdir()] == ["a.csv"], "the call writes nothing"
    utility_page(found).write(Path("page.html"))
    assert "From ε = 60 on" in Path("page.html").read_text(encoding="utf-8")
    written = write_utility_figures(found, Path("new/figures"))
    assert (
        {path.name for path in written}
        == {"utility.svg", "utility.png", "utility.md"}
        == {p.name for p in Path("new/figures").iterdir()}
    )


def test_the_command_prints_what_the_call_returns(installed: Embedding) -> None:
    file = csv_of(made_rows(100), Path("a.csv"))
    found = measure_utility(
        file,
        text_column="t",
        label_column="y",
        epsilons=[1e6],
        embedding=installed,
        mechanism=ChosenMechanism(name="vickrey", options={"t": 0.0}),
        runs=1,
        texts=60,
        held_out=0.5,
        acceptable_loss=0.1,
        format="csv",
    )
    options = "--text t --label y --embedding two-kinds -e 1e6 -m vickrey -O t=0 --runs 1 --texts 60"
    result = invoke("utility a.csv", options, "--held-out 0.5 --acceptable-loss 0.1 --json -q")
    assert result.exit_code == 0, result.output
    printed, returned = json.loads(result.stdout), json.loads(json.dumps(found.to_dict()))
    assert list(printed) == list(returned)
    assert printed["smallest_acceptable_epsilon"] in (1e6, None)
    by_noise = {"words_changed", "average_unchanged", "scores", "gain", "reading", "validation", "headline"}

    def without_noise(data: Any) -> Any:
        if isinstance(data, dict):
            of_original = data.get("at") == "nowhere"
            return {
                name: without_noise(value)
                for name, value in data.items()
                if of_original or not (name in by_noise or name.startswith("smallest_acceptable_epsilon"))
            }
        return [without_noise(each) for each in data] if isinstance(data, list) else data

    assert without_noise(printed) == without_noise(returned)


def test_what_cannot_be_is_refused(installed: Embedding) -> None:
    file = csv_of(made_rows(60), Path("a.csv"))

    def measure(**changed: object) -> Findings:
        return measure_utility(
            **{"data": file, "text_column": "t", "label_column": "y", "embedding": "two-kinds", **changed}  # type: ignore[arg-type]
        )

    for name, value in {"epsilons": [0.0], "runs": 0, "held_out": 1.0, "acceptable_loss": 2.0}.items():
        with pytest.raises(InvalidParameter):
            measure(**{name: value})
    with pytest.raises(InvalidParameter):
        measure(mechanism=ChosenMechanism(name="none such"))
    with pytest.raises(TaskDataError):
        measure(texts=5)
    with pytest.raises((RecordError, OSError)):
        measure(data="nothing.csv")


def test_making_the_channels_is_told(installed: Embedding) -> None:
    file = csv_of(made_rows(60), Path("a.csv"))
    told: list[tuple[int, int]] = []
    measure_utility(
        file,
        text_column="t",
        label_column="y",
        epsilons=[5.0, 9.0],
        embedding=installed,
        runs=1,
        support=30,
        directions=20,
        channel_report=lambda done, total: told.append((done, total)),
    )
    assert told == [(0, 62), (31, 62), (62, 62)]
