"""Bayes' rule and the update by their definitions, in float64, over a whole matrix."""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats


def posterior(matrix: Floats, prior: Floats) -> Floats:
    """Return P(x | y), a row for each output."""
    joint = matrix * prior[:, None]
    result: Floats = (joint / joint.sum(axis=0)).T
    return result


def updated(matrix: Floats, prior: Floats, observed: Floats) -> Floats:
    """Return the shares after one step of the iterative Bayesian update."""
    shares = observed / observed.sum()
    result: Floats = np.array(
        [
            sum(shares[y] * posterior(matrix, prior)[y, x] for y in range(len(shares)))
            for x in range(len(prior))
        ]
    )
    return result
