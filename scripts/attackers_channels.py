"""By which channel, P(y | x), attackers of a result knew what words become: they name more behind noise the better they know it."""

from __future__ import annotations

import shlex
from itertools import pairwise
from typing import Any, NamedTuple

EXACT, POINTS, DRAWS, RAYS = "exact sums", "shared points", "draws", "rays"
METHODS = {"exact": EXACT, "points": POINTS, "simulation": DRAWS, "rays": RAYS}
"""The names of ``deniable.channel`` in words."""
_ON_A_PROCESSOR = {"multivariate": RAYS, "rank-smoothing": DRAWS}
"""What a processor did of these mechanisms when results did not name their channel yet; of all others of the page it sums exactly."""
_DRAWN_ON_A_CARD = "2000"
"""When cards drew in place of sharing points, this many draws of each word were asked for."""


class KnownBy(NamedTuple):
    """How a channel was made, and from how many points around each word, draws or rays of it; 0 where it is exact."""

    way: str
    number: int

    def __str__(self) -> str:
        """Return it in words."""
        if self.way == EXACT:
            return self.way
        return f"{self.number:,} {'points around' if self.way == POINTS else f'{self.way} of'} each word"

    @property
    def older(self) -> bool:
        """Whether shared points would have made a stronger attacker."""
        return self.way in (DRAWS, RAYS)


def channel_of(result: dict[str, Any]) -> KnownBy:
    """Return by which channel a result was measured: as it says itself, or else by its command."""
    asked = options(result["command"])
    if "channel" in result:
        way = METHODS[result["channel"]]
    else:
        way = _ON_A_PROCESSOR.get(result["options"].partition(":")[0], EXACT)
        if asked.get("--device") == "cuda":
            way = DRAWS if asked["--directions"] == _DRAWN_ON_A_CARD else POINTS
    return KnownBy(way, 0 if way == EXACT else int(asked.get("--directions", "1000")))


def options(command: str) -> dict[str, str]:
    """Return what a command gives for each option; the last value counts."""
    words = shlex.split(command)
    return {option: value for option, value in pairwise(words) if option.startswith("-")}
