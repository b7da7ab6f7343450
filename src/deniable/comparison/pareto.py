"""Which choices are beaten by none."""

from __future__ import annotations

from collections.abc import Sequence


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the places of the points (risk, utility) that no other point beats, by rising risk.

    One point beats another if it has no more risk and no less utility, and is better in one of the two.
    """
    front = [
        place
        for place, (risk, utility) in enumerate(points)
        if not any(r <= risk and u >= utility and (r < risk or u > utility) for r, u in points)
    ]
    return sorted(front, key=lambda place: points[place])
