"""A whole calibration as a Python call: what the command does, with typed arguments and a typed result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deniable import Embedding, InvalidParameter, Multivariate, RecordError
from deniable.calibration import CalibrationResult, Files, Protection, Targets, calibrate
from deniable.calibration.compare import compare_embeddings, compare_geometry
from deniable.errors import EmbeddingExists, EmbeddingNotFound
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.release.note import read_note
from tests.calibration.small import calibrated, save_small

TARGETS = Targets(max_unchanged=0.6, quantile=0.9)


@pytest.fixture(autouse=True)
def small(home: Path) -> Embedding:
    return save_small(60)


def as_json(result: CalibrationResult) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(json.dumps(result.to_dict()))
    return answer


@pytest.mark.parametrize("name", ["multivariate", "santext", "vickrey"])
def test_a_call_returns_what_the_command_prints(name: str) -> None:
    mechanism = ChosenMechanism(name=name)
    with_targets = calibrate("small", mechanism=mechanism, targets=TARGETS, draws=40)
    assert as_json(with_targets) == calibrated(
        "--mechanism", name, "--max-unchanged", "0.6", "--quantile", "0.9", effort=40
    )
    assert with_targets.epsilon == as_json(with_targets)["epsilon"]
    without = calibrate("small", mechanism=mechanism, epsilons=[1.0, 2.0], draws=40)
    assert as_json(without) == calibrated("--mechanism", name, "-e", "1", "-e", "2", effort=40)
    assert (without.epsilon, without.worst_words, without.exposed) == (None, (), ())


def test_some_words_are_looked_at_without_a_note_and_all_of_them_with_one(small: Embedding) -> None:
    some = calibrate(small, targets=TARGETS, words=["w3", "w4", "absent"], draws=20)
    assert sorted(small.words[i] for i in some.calibration.ids) == ["w3", "w4"]
    assert len(calibrate(small, targets=TARGETS, sample=9, draws=20).calibration.ids) == 9
    assert read_note(Multivariate(small, epsilon=1.0)) is None
    seen: list[tuple[int, int]] = []
    calibrate(small, targets=TARGETS, draws=20, report=lambda done, total: seen.append((done, total)))
    note = read_note(Multivariate(small, epsilon=1.0))
    assert note is not None
    assert (note.words, note.draws, note.words_for_support) == (60, 20, 60)
    assert seen == [(0, 60), (60, 60)] * 2  # N_w, then S_w of the sample


def test_files_are_written_and_named_in_the_result() -> None:
    drawn: list[int] = []
    files = Files(
        csv=Path("words.csv"),
        page=Path("page.html"),
        figures=Path("figures"),
        sentences=("w1 w2",),
    )
    result = calibrate(
        "small",
        targets=TARGETS,
        draws=20,
        sample=20,
        files=files,
        report_page=lambda done, _: drawn.append(done),
    )
    assert result.page == Path("page.html")
    assert result.figures is not None
    assert all(path.is_file() for path in (Path("words.csv"), Path("page.html"), *result.figures))
    assert drawn
    assert result.sampled_words == 20


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"embedding": "absent"}, EmbeddingNotFound, "absent"),
        ({"draws": 0}, InvalidParameter, "draws"),
        ({"epsilons": [-1.0]}, InvalidParameter, "epsilon"),
        ({"sample": 0}, InvalidParameter, "sample"),
        ({"words": ["absent"]}, InvalidParameter, "no word to calibrate"),
        ({"targets": Targets(min_distinct=61), "draws": 100}, InvalidParameter, "60 words"),
        ({"mechanism": ChosenMechanism(name="vickrey", options={"t": 2})}, InvalidParameter, "t"),
        ({"files": Files(csv=Path("absent/words.csv"))}, RecordError, "is not there"),
        ({"protect": Protection(name="safe")}, InvalidParameter, "needs a target"),
        (
            {"protect": Protection(name="safe"), "targets": TARGETS, "sample": 5},
            InvalidParameter,
            "all words",
        ),
        (
            {"protect": Protection(name="safe"), "targets": TARGETS, "epsilons": [1.0, 2.0]},
            InvalidParameter,
            "at most one",
        ),
        (
            {"protect": Protection(name="safe", by="magic"), "targets": TARGETS},  # type: ignore[arg-type]
            InvalidParameter,
            "nearest or unknown",
        ),
        ({"protect": Protection(name="small"), "targets": TARGETS}, EmbeddingExists, "small"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_measured(
    tmp_path: Path, wrong: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        calibrate(**{"embedding": "small", "draws": 20, **wrong})
    assert not list(tmp_path.rglob("journal.txt"))


def test_geometry_and_averages_take_names_or_embeddings(small: Embedding) -> None:
    (alone,) = compare_geometry("small", sample=20)
    assert alone.to_dict() == compare_geometry(small, sample=20)[0].to_dict()
    both = compare_embeddings(["small", small], sample=10, rays=20)
    assert both[0] == both[1]
    with pytest.raises(InvalidParameter, match="two or more"):
        compare_embeddings(["small"])
