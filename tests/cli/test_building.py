from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from deniable import Embedding, InvalidParameter, Multivariate, Privatizer, SanTextPlus
from deniable.cli.app import app
from deniable.cli.building import privatizer_for
from deniable.cli.calibrated import calibrated_epsilon
from deniable.cli.hardly_changed import warn_if_hardly_anything_changes


def built(said: list[str], **settings: Any) -> Any:
    spending = {"epsilon": None, "record_epsilon": None, "max_unchanged": None, "quantile": 1.0} | settings
    return privatizer_for("default", ("multivariate", {}), randomness=None, say=said.append, **spending)


@pytest.mark.parametrize(
    ("settings", "per_word", "per_record"),
    [
        ({"epsilon": 6}, 6, None),
        ({"record_epsilon": 6}, None, 6),
        ({"epsilon": 6, "record_epsilon": 60}, 6, 60),
        ({"max_unchanged": 0.5, "quantile": 0.95}, 5.5, None),
        ({"max_unchanged": 0.5, "quantile": 0.95, "record_epsilon": 60}, 5.5, 60),
    ],
)
def test_what_may_be_spent_reaches_the_privatizer(settings: dict[str, float], per_word: float | None, per_record: float | None) -> None:
    receipt = built([], **settings).receipt()
    assert (receipt.ceiling, receipt.record_epsilon) == (per_word, per_record)


def test_the_embedding_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    there = Embedding.open()

    def open_(name: str) -> Embedding:
        opened.append(name)
        return there

    monkeypatch.setattr(Embedding, "open", open_)
    built([], max_unchanged=0.5, quantile=0.95)
    assert opened == ["default"]


def test_wrong_spending_is_refused_before_the_embedding_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Embedding, "open")
    for name in ("epsilon", "record_epsilon"):
        with pytest.raises(InvalidParameter, match=f"^{name} = 0"):
            built([], **({"epsilon": 6, "record_epsilon": 60} | {name: 0}))


def test_an_epsilon_that_a_few_isolated_words_force_is_explained() -> None:
    said: list[str] = []
    assert calibrated_epsilon(Multivariate(Embedding.open(), epsilon=1), 0.5, 1.0, say=said.append) == 1
    assert said[0] == "deniable: ε = 1: N_w, how often a word stays itself, is at most 0.5 for every word"
    assert "a few isolated words" in said[1]
    assert "--quantile" in said[1]
    assert "calibrate --protect" in said[1]


@pytest.mark.parametrize(("max_unchanged", "quantile"), [(0.5, 0.95), (0.0002, 0.5)])
def test_an_epsilon_that_all_words_force_is_not_blamed_on_a_few(max_unchanged: float, quantile: float) -> None:
    said: list[str] = []
    calibrated_epsilon(Multivariate(Embedding.open(), epsilon=1), max_unchanged, quantile, say=said.append)
    assert len(said) == 1


def test_a_mechanism_that_keeps_words_at_every_epsilon_is_warned_about_in_records_of_any_length(capsys: pytest.CaptureFixture[str]) -> None:
    far = Embedding([f"w{i}" for i in range(20)], 9.0 * np.eye(20), name="far")
    keeps = SanTextPlus(far, epsilon=5.0, sensitive=["w0"], p=0.05)
    warn_if_hardly_anything_changes(Privatizer(keeps, record_epsilon=5.0))
    assert capsys.readouterr().err.startswith("deniable: warning: whatever the budget, most words of far are released as they are")


@pytest.mark.parametrize(
    ("spending", "warning", "epsilon"),
    [
        (["--epsilon", "40"], "at ε = 40 about", 40),
        (["--record-epsilon", "40"], "a budget of 40 per record is so much for records of up to about", 40),
        (["--record-epsilon", "40", "--epsilon", "5"], "", 5),
    ],
)
def test_spark_is_given_what_may_be_spent_and_the_user_the_same_warning(
    spending: list[str], warning: str, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr("deniable.cli.privatize.privatize_with_spark", lambda *ends, **options: given.update(options, ends=ends))
    done = CliRunner().invoke(app, ["privatize", "--engine", "spark", "in.csv", "-o", "out", "--quiet", *spending])
    assert done.exit_code == 0, done.output
    assert given["ends"] == ("in.csv", "out")
    assert given["epsilon"] == epsilon
    assert (warning in done.stderr) if warning else (done.stderr == "")
