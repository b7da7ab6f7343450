from __future__ import annotations

import numpy as np
import pytest

from deniable import Embedding, InvalidParameter, Multivariate, Privatizer
from deniable.calibration.measure import calibrate
from deniable.calibration.quote import largest_epsilon, quoted, stored_quote
from deniable.errors import TargetsNotMet
from strategies import random_embedding


def test_the_default_embedding_comes_calibrated_and_a_fresh_sample_agrees() -> None:
    embedding = Embedding.open()
    content = stored_quote(Multivariate(embedding, epsilon=1.0))
    assert content is not None
    sample = np.sort(np.random.default_rng(0).choice(len(embedding), 300, replace=False))
    fresh = calibrate(embedding, rays=100, ids=sample, keep=False)
    for row in content["table"]:
        means, _ = fresh.unchanged(row["epsilon"])
        assert abs(means.mean() - row["unchanged"]["mean"]) < 0.04
        values = list(row["unchanged_quantiles"].values())
        assert values == sorted(values)


def test_between_two_values_the_less_favourable_one_is_quoted() -> None:
    embedding = Embedding.open()
    found, exact = quoted(Multivariate(embedding, epsilon=5.2)), quoted(Multivariate(embedding, epsilon=5.5))
    assert found is not None
    assert exact is not None
    assert found["unchanged"] == exact["unchanged"]
    low, high = quoted(Multivariate(embedding, epsilon=1.0)), quoted(Multivariate(embedding, epsilon=1.2))
    assert low is not None
    assert high is not None
    assert high["support"] == low["support"]  # S_w rises with ε here, and the smaller value is the honest one
    assert found["at_epsilon"] == 5.5
    assert quoted(Multivariate(embedding, epsilon=1000.0)) is None
    assert quoted(Multivariate(random_embedding(5, 2), epsilon=1.0)) is None


def test_a_receipt_quotes_it() -> None:
    private = Privatizer(Multivariate(Embedding.open(), epsilon=5.0))
    receipt = private.receipt()
    assert receipt.to_dict()["calibration"]["at_epsilon"] == 5.0
    assert "calibration: words stay themselves" in receipt.summary()


def test_the_largest_epsilon_is_read_off() -> None:
    embedding = Embedding.open()
    chosen = largest_epsilon(Multivariate(embedding, epsilon=1.0), 0.5, 0.95)
    content = stored_quote(Multivariate(embedding, epsilon=1.0))
    assert content is not None
    for row in content["table"]:
        assert (row["unchanged_quantiles"]["0.95"] <= 0.5) == (row["epsilon"] <= chosen)
    with pytest.raises(TargetsNotMet, match="quantile"):
        largest_epsilon(Multivariate(embedding, epsilon=1.0), 1e-9)
    with pytest.raises(InvalidParameter, match="quantile"):
        largest_epsilon(Multivariate(embedding, epsilon=1.0), 0.5, 0.123)
