"""How a comparison is made: what mechanisms are brought to, and how much is drawn, released and decoded.

Privacy is read in ways that mean the same for every mechanism:

- ``average``: the share of the words of the text that come out unchanged (N_w, averaged as words occur).
- ``worst``: the average N_w of the most exposed 1 % of the words of the text.
- ``adversary``: how often the Bayes attacker names the word, if it is one of a sample.
- ``named``: how often the Bayes attacker over all words of the text names the word (``audit.named``, by
  spelling); the same for every embedding too.
- ``context``: the same, where it also reads each word beside its neighbours, with bigrams of a public text;
  the better of the two ways.
- ``kinds``: how often it tells of what kind a less frequent word was; in the better of the two ways too, if
  there is a public text.

An unknown word never comes out as itself, so it counts as changed; a protected word counts as the word that
stands in for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deniable.audit.named import WAYS, Way
from deniable.errors import InvalidParameter
from deniable.parameters import validated_count
from deniable.utility.accuracy import DecodingEffort

Name = Literal["average", "worst", "adversary"] | Way
NAMES: tuple[Name, ...] = ("average", "worst", "adversary", *WAYS)


@dataclass(frozen=True, kw_only=True)
class Target:
    """A reading that all mechanisms are to have."""

    reading: Name
    value: float


@dataclass(frozen=True, kw_only=True)
class ReadingEffort:
    """How many draws of each word of the sample say how often it stays unchanged, on how many words the
    adversary is judged, and from how many directions, points or draws an attacker knows P(y | x)."""

    draws: int
    judged: int
    directions: int = 100

    def __post_init__(self) -> None:
        validated_count(self.draws, "draws", at_least=2)
        validated_count(self.judged, "judged")
        validated_count(self.directions, "directions")


TOLERANCE: Mapping[Name, float] = {
    "average": 0.01,
    "worst": 0.03,
    "adversary": 0.015,
    "named": 0.005,
    "context": 0.01,
    "kinds": 0.01,
}
"""How far what is reached may be from what is wanted: about two standard errors of a thorough reading."""

QUICK = ReadingEffort(draws=30, judged=3_000, directions=60)
THOROUGH = ReadingEffort(draws=120, judged=8_000, directions=300)

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

    ``decoding`` says how finely a receiver knows the channel; with None, released text is read as released
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
            raise InvalidParameter("targets", "none", "give at least one reading for all mechanisms")
        readings = {target.reading for target in self.targets}
        if "context" in readings and self.public is None:
            problem = "the reading context needs a public text, one document a line: give public too"
            raise InvalidParameter("public", "none", problem)
        if self.public is not None and not readings & {"context", "kinds"}:
            problem = "is read for the readings context and kinds only: give such a target too"
            raise InvalidParameter("public", str(self.public), problem)
