"""Numbers as people say them."""

from __future__ import annotations

import math


def percent(share: float) -> str:
    """Return a share in per cent, with as many digits as say something, and never 0 % or 100 % for what is neither."""
    if 0.0 < share < 0.0001:
        return "under 0.01 %"
    if 0.9999 < share < 1.0:
        return "over 99.99 %"
    value = 100.0 * share
    digits = 0 if value in (0.0, 100.0) or 10.0 <= value <= 90.0 else 1 if 1.0 <= value <= 99.0 else 2
    return f"{value:.{digits}f} %"


def percent_up(share: float) -> str:
    """Return a bound in per cent, rounded up."""
    return f"{min(math.ceil(1000.0 * share - 1e-9) / 10.0, 100.0):g} %"


def of_a_hundred(share: float) -> str:
    """Return how many of a hundred, in words."""
    count = 100.0 * share
    if count < 0.5:
        return "fewer than one in a hundred"
    return "about one in a hundred" if round(count) == 1 else f"about {round(count)} in a hundred"


def words(count: int) -> str:
    """Return a number of words."""
    return "1 word" if count == 1 else f"{count:,} words"
