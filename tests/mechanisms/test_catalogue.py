from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

import deniable.mechanisms
from deniable import InvalidParameter, SecureRandomness
from deniable.mechanisms.catalogue import (
    CATALOGUE,
    make_mechanism,
    parse_mechanism,
    parse_options,
    split_options,
)
from tests.mechanisms.every import NAMES
from tests.support.strategies import random_embedding

E = random_embedding(50, 3)


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    file = tmp_path / "sensitive.txt"
    file.write_text("w1\n\n w2 \nunheard-of\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_entry_makes_its_mechanism(name: str, listed: Path) -> None:
    options = {"sensitive": str(listed)} if name == "santext-plus" else {}
    mechanism = make_mechanism(name, E, epsilon=2.0, options=options)
    assert type(mechanism).__name__.lower() == name.replace("-", "")
    assert mechanism.perturb(np.arange(51), SecureRandomness()).max() < 50


def test_the_catalogue_holds_all_mechanisms() -> None:
    assert {name.replace("-", "") for name in CATALOGUE} == {name.lower() for name in NAMES}
    assert sorted(deniable.mechanisms.__all__) == sorted(NAMES)


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name != "rank-smoothing"])
def test_options_and_defaults_are_those_of_the_class(name: str) -> None:
    parameters = inspect.signature(CATALOGUE[name].make).parameters
    options = {option.name: option.default for option in CATALOGUE[name].options}
    assert set(options) == set(parameters) - {"embedding", "epsilon"}
    for option, default in options.items():
        if default is not None and parameters[option].default is not None:
            assert parameters[option].default == default


def test_options_reach_the_mechanism(listed: Path) -> None:
    assert make_mechanism(
        "vickrey", E, epsilon=1, options={"t": "0.5", "noise": "mahalanobis", "lam": "0.3"}
    ).guarantee.parameters == {
        "t": 0.5,
        "noise": "mahalanobis",
        "lam": 0.3,
    }
    smoothed = make_mechanism(
        "rank-smoothing", E, epsilon=1, options={"over": "vickrey", "t": "0.25", "c": 0.1}
    )
    assert smoothed.guarantee.parameters == {"c": 0.1, "over": "Vickrey", "t": 0.25, "noise": "multivariate"}
    assert (
        make_mechanism("santext-plus", E, epsilon=1, options={"sensitive": str(listed)}).guarantee.parameters[
            "sensitive_words"
        ]
        == 2
    )


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("laplace", {}, "must be one of: multivariate"),
        ("vickrey", {"tt": "1"}, "no option of the mechanism vickrey: it has t, noise, lam"),
        ("tem", {"beta": "small"}, "is not a number"),
        ("custext", {"k": "2.5"}, "is not a whole number"),
        ("santext-plus", {}, "sensitive"),
        ("santext-plus", {"sensitive": "no/such/file"}, "UTF-8 file of words"),
        ("rank-smoothing", {"over": "santext"}, "must be one of: multivariate, mahalanobis"),
        ("rank-smoothing", {"over": "gaussian", "t": "0.5"}, "no option of the mechanism gaussian"),
        ("vickrey", {"t": "0.5", "lam": "0.5"}, "noise=mahalanobis only"),
    ],
)
def test_what_is_wrong_is_said(name: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidParameter, match=says):
        make_mechanism(name, E, epsilon=1, options=options)


def test_options_are_parsed_as_they_are_typed() -> None:
    assert parse_options("vickrey", ["t=0.5", "noise=mahalanobis"]) == {"t": 0.5, "noise": "mahalanobis"}
    assert parse_options("multivariate", ()) == {}
    assert split_options(["sensitive=a=b.txt"]) == {"sensitive": "a=b.txt"}


@pytest.mark.parametrize(
    ("name", "texts", "problem"),
    [
        ("vickrey", ["t"], "options = 't': must be NAME=VALUE"),
        ("vickrey", ["=1"], "options = '=1': must be NAME=VALUE"),
        ("vickrey", ["t=1", "t=2"], "options = 't=2': gives t a second time"),
        ("vickrey", ["t=x"], "t = 'x': is not a number"),
        ("vickrey", ["k=1"], "is no option of the mechanism vickrey"),
        ("santext-plus", [], "must be given for santext-plus"),
        ("vickrie", [], "must be one of"),
    ],
)
def test_options_typed_wrongly_are_refused(name: str, texts: list[str], problem: str) -> None:
    with pytest.raises(InvalidParameter, match=problem):
        parse_options(name, texts)


def test_a_mechanism_is_parsed_with_its_options_as_they_are_typed() -> None:
    chosen = parse_mechanism("vickrey:t=0.50,noise=mahalanobis")
    assert (chosen.name, chosen.options) == ("vickrey", {"t": "0.50", "noise": "mahalanobis"})
    with pytest.raises(InvalidParameter, match="--mechanism = 't': must be NAME or NAME:OPTION=VALUE"):
        parse_mechanism("vickrey:t", parameter="--mechanism")
