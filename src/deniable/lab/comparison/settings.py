"""How a comparison is made: what mechanisms are brought to, and how much is drawn, released and decoded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.lab.comparison.matching import Target
from deniable.lab.comparison.readings import QUICK, THOROUGH, ReadingEffort
from deniable.parameters import validated_count
from deniable.utility.accuracy import DecodingEffort

TARGETS = (
    Target(reading="average", value=0.1),
    Target(reading="average", value=0.3),
    Target(reading="worst", value=0.5),
    Target(reading="adversary", value=0.2),
    Target(reading="adversary", value=0.4),
)
"""What mechanisms are brought to unless other targets are given."""
ATTACKERS = (Target(reading="named", value=0.1), Target(reading="named", value=0.2))
"""The same for several embeddings: one attacker over all words of the text."""
DECODING = DecodingEffort(support=10_000, directions=300)
"""How finely receivers know the channel unless told otherwise: many channels are made, so they are coarser
than those of one release."""


@dataclass(frozen=True, kw_only=True)
class ComparisonSettings:
    """How a comparison is made: its targets, releases at each ε, words that privacy is read on, the seed, and
    how much is drawn.

    ``decoding`` says how finely a receiver knows the channel; with None, released text is read as it stands
    only. ``public`` is a public text, one document a line, for the attacker who reads in context.
    """

    targets: tuple[Target, ...] = TARGETS
    runs: int = 2
    words: int = 1_000
    seed: int = 0
    quick: ReadingEffort = QUICK
    thorough: ReadingEffort = THOROUGH
    decoding: DecodingEffort | None = DECODING
    public: Path | None = None

    def __post_init__(self) -> None:
        validated_count(self.runs, "runs")
        validated_count(self.words, "words")
        validated_count(self.seed, "seed", at_least=0)
        if not self.targets:
            raise InvalidParameter(
                "targets", "none", "give at least one reading that all mechanisms shall have in common"
            )
        readings = {target.reading for target in self.targets}
        if "context" in readings and self.public is None:
            raise InvalidParameter(
                "public",
                "none",
                "the reading context needs a public text, one document a line: give public too",
            )
        if self.public is not None and not readings & {"context", "kinds"}:
            raise InvalidParameter(
                "public",
                str(self.public),
                "is read for the readings context and kinds only: give such a target too",
            )
