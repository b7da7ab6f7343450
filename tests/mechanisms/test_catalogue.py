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
def listed(tmp_path: Path) -> str:
    file = tmp_path / "sensitive.txt"
    file.write_text("w1\n\n w2 \nunheard-of\n", encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_entry_makes_its_mechanism(name: str, listed: str) -> None:
    options = {"sensitive": listed} if name == "santext-plus" else {}
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


def test_options_reach_the_mechanism(listed: str) -> None:
    def parameters(name: str, **options: object) -> dict[str, float | str]:
        return dict(make_mechanism(name, E, epsilon=1, options=options).guarantee.parameters)

    found = parameters("vickrey", t="0.5", noise="mahalanobis", lam="0.3")
    assert found == {"t": 0.5, "noise": "mahalanobis", "lam": 0.3}
    found = parameters("rank-smoothing", over="vickrey", t="0.25", c=0.1)
    assert found == {"c": 0.1, "over": "Vickrey", "t": 0.25, "noise": "multivariate"}
    assert parameters("santext-plus", sensitive=listed)["sensitive_words"] == 2


@pytest.mark.parametrize(
    ("name", "options", "parameter"),
    [
        ("laplace", {}, "mechanism"),
        ("vickrey", {"tt": "1"}, "tt"),
        ("tem", {"beta": "small"}, "beta"),
        ("custext", {"k": "2.5"}, "k"),
        ("santext-plus", {}, "sensitive"),
        ("santext-plus", {"sensitive": "no/such/file"}, "sensitive"),
        ("rank-smoothing", {"over": "santext"}, "over"),
        ("rank-smoothing", {"over": "gaussian", "t": "0.5"}, "t"),
        ("vickrey", {"t": "0.5", "lam": "0.5"}, "lam"),
    ],
)
def test_what_is_wrong_is_named(name: str, options: dict[str, object], parameter: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        make_mechanism(name, E, epsilon=1, options=options)
    assert caught.value.name == parameter


def test_options_are_parsed_as_they_are_typed() -> None:
    assert parse_options("vickrey", ["t=0.5", "noise=mahalanobis"]) == {"t": 0.5, "noise": "mahalanobis"}
    assert parse_options("multivariate", ()) == {}
    assert split_options(["sensitive=a=b.txt"]) == {"sensitive": "a=b.txt"}
    chosen = parse_mechanism("vickrey:t=0.50,noise=mahalanobis")
    assert (chosen.name, chosen.options) == ("vickrey", {"t": "0.50", "noise": "mahalanobis"})


@pytest.mark.parametrize(
    ("name", "texts", "parameter", "value"),
    [
        ("vickrey", ["t"], "options", "t"),
        ("vickrey", ["=1"], "options", "=1"),
        ("vickrey", ["t=1", "t=2"], "options", "t=2"),
        ("vickrey", ["t=x"], "t", "x"),
        ("vickrey", ["k=1"], "k", "1"),
        ("santext-plus", [], "sensitive", None),
        ("vickrie", [], "mechanism", "vickrie"),
    ],
)
def test_options_typed_wrongly_are_refused(
    name: str, texts: list[str], parameter: str, value: str | None
) -> None:
    with pytest.raises(InvalidParameter) as caught:
        parse_options(name, texts)
    assert (caught.value.name, caught.value.value) == (parameter, value)
    with pytest.raises(InvalidParameter) as caught:
        parse_mechanism("vickrey:t", parameter="--mechanism")
    assert (caught.value.name, caught.value.value) == ("--mechanism", "t")
