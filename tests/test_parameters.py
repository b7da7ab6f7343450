from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable import InvalidParameter, Multivariate, SecureRandomness
from deniable.parameters import validated_count, validated_epsilon, validated_share
from tests.support.strategies import random_embedding


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, 0, 0.0, -1, -0.0, "12", None, True, [1], 1j, 10**400, 1e-300, Decimal(3)],
)
def test_bad_epsilon_is_refused_before_any_work(value: Any) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        Multivariate(random_embedding(3, 2), epsilon=value)


@pytest.mark.parametrize("value", [12, 0.5, np.float32(3), np.int64(7), Fraction(1, 3), 1e-200, 1e300])
def test_any_finite_positive_number_is_an_epsilon(value: Any) -> None:
    assert validated_epsilon(value) == float(value)


@pytest.mark.parametrize(
    "value",
    [np.full(3, np.inf), np.array([1, -1, 1.0]), np.zeros(3), np.ones(2), np.ones((3, 1)), 5.0, [*"abc"]],
)
def test_one_bad_epsilon_per_word_is_refused_before_any_noise(value: Any) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        Multivariate(random_embedding(3, 2), epsilon=1).perturb(
            np.arange(3), SecureRandomness(), epsilon=value
        )


@pytest.mark.parametrize("ids", [np.array([0.7]), np.array([[0]]), np.array(["w0"])])
def test_ids_are_whole_numbers(ids: Any) -> None:
    with pytest.raises(InvalidParameter, match="ids"):
        Multivariate(random_embedding(3, 2), epsilon=1).perturb(ids, SecureRandomness())


@pytest.mark.parametrize("value", [0, -3, 1.5, "2", None, True])
def test_counts_are_whole_numbers(value: Any) -> None:
    with pytest.raises(InvalidParameter):
        validated_count(value, "draws")


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "half", True, None])
def test_a_share_is_a_number_from_0_to_1(value: object) -> None:
    with pytest.raises(InvalidParameter, match="p = "):
        validated_share(value, "p")
    assert [validated_share(share, "p") for share in (0, 0.5, 1)] == [0.0, 0.5, 1.0]
    with pytest.raises(InvalidParameter, match="less than 1"):
        validated_share(1.0, "p", below_one=True)
