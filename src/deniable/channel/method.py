"""How the channel of a mechanism is known: by exact sums, by rays, or by draws. This is the one place where that is decided.

- ``exact``: the mechanism sums its own distribution (the softmax family, CusText, randomised response); nothing is estimated.
- ``rays``: it releases the word nearest to noise that is a length times a direction (multivariate, Mahalanobis, Gaussian). One walk
  along a direction tells the released word for every length, and so for every ε.
- ``simulation``: all others (Vickrey, rank smoothing, mechanisms of your own), by draws of the mechanism itself.

A mechanism declares what it is; a class that draws in a way of its own does not inherit the declaration (``mechanisms.base``).
"""

from __future__ import annotations

from typing import Literal

from deniable.interfaces import Mechanism
from deniable.mechanisms.base import ExactSums
from deniable.noise import RadialNoise

Method = Literal["exact", "rays", "simulation"]


def method_of(mechanism: Mechanism) -> Method:
    """Return how the channel of a mechanism is known."""
    if exact_sums(mechanism) is not None:
        return "exact"
    return "simulation" if radial_noise(mechanism) is None else "rays"


def exact_sums(mechanism: Mechanism) -> ExactSums | None:
    """Return the mechanism as one that sums what it draws; None if it does not."""
    return mechanism if isinstance(mechanism, ExactSums) and mechanism.sums_its_own_draws else None


def radial_noise(mechanism: Mechanism) -> RadialNoise | None:
    """Return the noise of a mechanism that releases the word nearest to a length times a direction; None for any other."""
    found = getattr(mechanism, "radial_noise", None)
    return found if isinstance(found, RadialNoise) else None
