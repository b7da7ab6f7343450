"""The seam for attackers of running text that the package does not bring itself, such as those of
``deniable.lab``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from deniable.arrays import Floats
from deniable.audit.inversion.attackers import Attacker, WordByWord
from deniable.audit.inversion.in_context import InContext
from deniable.audit.inversion.text import PublicText
from deniable.channel.channel import Channel
from deniable.interfaces import Mechanism


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """What a further attacker builds on.

    ``learning`` is the attacker in context that has not read the shadow, to learn from it; None where there
    is no shadow.
    """

    mechanism: Mechanism
    channel: Channel
    prior: Floats
    public: PublicText
    alone: WordByWord
    in_context: InContext
    learning: InContext | None
    seed: int


class FurtherAttacker(Protocol):
    """Makes an attacker, and says how many words of public text it releases itself: to learn from, and to
    choose its settings by."""

    @property
    def shadow_words(self) -> int | None:
        """How many words it learns from; None if it needs none."""
        ...

    @property
    def chooses_by(self) -> int | None:
        """How many words it chooses its settings by; None if it needs none."""
        ...

    def attacker(self, known: Known) -> Attacker:
        """Return the attacker who knows this."""
        ...
