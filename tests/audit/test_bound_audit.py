"""Every wrong mechanism is refuted, and no true one."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from deniable import Embedding, Multivariate
from deniable.audit import audit_bound
from deniable.audit.bound import attempts, count_places
from deniable.audit.results import read_result
from deniable.interfaces import Mechanism
from deniable.mechanisms import TEM, Gaussian, Line, Mahalanobis, RandomizedResponse, SanText, Vickrey
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.audit.wrong import WRONG, HalfTheNoise
from tests.mechanisms.mutants import RenormalisedMahalanobis
from tests.support.strategies import random_embedding

OWN = random_embedding(60, 5)


def make(kind: Any, embedding: Embedding, epsilon: float) -> Mechanism:
    # The default shape of the Mahalanobis noise differs too little from round noise for a test of seconds.
    shape = {"lam": 0.9} if issubclass(kind, Mahalanobis) else {}
    mechanism: Mechanism = kind(embedding, epsilon=epsilon, **shape)
    return mechanism


def refuted(kind: Any, *, seed: int = 1, draws: int = 40_000, epsilon: float = 3.0) -> bool:
    return any(
        place.refuted
        for place in attempts(partial(make, kind), OWN, epsilon, seed=seed, draws=draws, own_draws=500)
    )


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_mechanism_is_refuted(kind: Any) -> None:
    assert refuted(kind)


def test_half_the_noise_is_found_in_every_dimension_and_through_the_text() -> None:
    found = [
        place.space
        for place in attempts(partial(make, HalfTheNoise), OWN, 0.7, seed=0, draws=20_000, own_draws=500)
        if place.refuted
    ]
    assert {"1d", "2d", "3d"} <= {name.rpartition(", ")[2] for name in found}
    assert any(name.endswith("as text") for name in found)


@pytest.mark.parametrize("kind", [Multivariate, Mahalanobis, Vickrey, TEM, SanText, Line, RandomizedResponse])
def test_a_true_mechanism_is_not_refuted(kind: Any) -> None:
    assert not refuted(kind, draws=3_000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", [Multivariate, Mahalanobis, Vickrey, TEM, SanText, Line, RandomizedResponse])
def test_a_true_mechanism_is_not_refuted_in_twenty_runs(kind: Any, seed: int) -> None:
    assert not refuted(kind, seed=seed, draws=10_000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_mechanism_is_refuted_whatever_the_seed(kind: Any, seed: int) -> None:
    assert refuted(kind, seed=seed, draws=100_000)


def test_a_mechanism_that_promises_no_ratio_has_nothing_to_refute() -> None:
    found = list(
        attempts(
            lambda embedding, epsilon: Gaussian(embedding, epsilon=epsilon),
            OWN,
            3.0,
            seed=0,
            draws=200,
            own_draws=100,
        )
    )
    assert all(pair.promised < math.inf for place in found for pair in place.worst_pairs)
    assert not any(place.refuted for place in found)


def test_every_place_is_counted() -> None:
    found = list(attempts(partial(make, Multivariate), OWN, 1.0, seed=0, draws=50, own_draws=50))
    assert len(found) == count_places(OWN)


def test_the_same_seed_finds_the_same() -> None:
    once, again = (
        list(attempts(partial(make, RenormalisedMahalanobis), OWN, 2.0, seed=7, draws=400, own_draws=100))
        for _ in range(2)
    )
    assert once == again


def test_the_result_says_what_was_found_in_every_place(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    result = audit_bound(
        OWN,
        epsilon=2.0,
        draws=100,
        own_draws=50,
        seed=3,
        report=lambda done, total: seen.append((done, total)),
    )
    assert len(result.places) == count_places(OWN)
    assert seen[-1] == (len(result.places), len(result.places))
    assert (result.refuted, result.mechanism, result.embedding.name) == (False, "multivariate", "random")
    saved = tmp_path / "bound.json"
    saved.write_text(json.dumps(result.to_dict()), encoding="utf-8")
    assert read_result(saved) == result


def test_a_list_of_sensitive_words_is_every_other_word_in_small_spaces() -> None:
    listed = ChosenMechanism(name="santext-plus", options={"sensitive": ("w1", "w2"), "p": 0.4})
    result = audit_bound(OWN, listed, epsilon=2.0, draws=100, own_draws=50)
    assert len(result.places) == count_places(OWN), "no small space refuses a word that it does not have"
