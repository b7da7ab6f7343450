"""What the attackers of the inversion audit reach: at each ε, each of them, on the word and on its kind."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.audit.shares import OverallShare, Share


def _larger(first: Share, second: Share | None) -> Share:
    return first if second is None or first.value >= second.value else second


@dataclass(frozen=True, kw_only=True)
class BandFinding:
    """How often the words of a range of ranks are named, and the share of all text that they make up."""

    ranks: str
    share_of_text: float
    bayes: Share
    nearest_word: Share

    @property
    def best(self) -> Share:
        """The larger of the two shares."""
        return _larger(self.bayes, self.nearest_word)


@dataclass(frozen=True, kw_only=True)
class RepeatFinding:
    """How often a word is named that was released this many times; ``bayes`` is None where it was
    not tried."""

    releases: int
    majority: Share
    bayes: Share | None

    @property
    def best(self) -> Share:
        """The larger of the two shares."""
        return _larger(self.majority, self.bayes)


@dataclass(frozen=True, kw_only=True)
class WordAtRisk:
    """A word that is named often; ``nearest_word`` is None in results of versions that did not count it."""

    word: str
    bayes: Share
    nearest_word: Share | None = None

    @property
    def best(self) -> Share:
        """The larger of the two shares."""
        return _larger(self.bayes, self.nearest_word)


@dataclass(frozen=True, kw_only=True)
class Success:
    """How often the first guess is right, and how often the truth is among the ten likeliest."""

    first: Share
    within_ten: Share


@dataclass(frozen=True, kw_only=True)
class GroupFinding:
    """How often the words of a group are named; None where the text has none."""

    group: str
    places: int
    word: Success | None


@dataclass(frozen=True, kw_only=True)
class ListFinding:
    """How often words of a user's list are named, and told from all others: ``found`` is the share of places
    with such a word at which the attacker says so, ``rightly`` how often that is true. None without a place.
    """

    name: str
    words: int
    places: int
    word: Success | None
    found: Share | None
    rightly: Share | None


@dataclass(frozen=True, kw_only=True)
class AttackerFinding:
    """What one attacker reaches on running text: on known words, and on kinds where a word has one. In the
    group of unknown words it is right if it says "unknown". ``seconds`` leaves out the channel, which all
    share."""

    name: str
    knows: str
    seconds: float
    word: Success
    kind: Success | None
    groups: tuple[GroupFinding, ...]
    lists: tuple[ListFinding, ...]


@dataclass(frozen=True, kw_only=True)
class AttackedTextSummary:
    """The running text that was released and attacked, and the public text that the attackers read.

    ``unknown`` is the share of its ``places`` with an unknown word; ``left_out`` counts public documents
    that were not read because they are attacked. ``kinds_mapped`` is True if kinds are clusters of mapped
    vectors.
    """

    source: str
    documents: int
    places: int
    unknown: float
    kinds: int
    public: str
    public_words: int
    left_out: int | None = None
    kinds_mapped: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ProvedBound:
    """The share of words that no reader exceeds who knows these frequencies (``measures.bayes_bound``):
    ``at_most`` is its upper end, and ``gap`` how far the best attack stays below it."""

    value: float
    at_most: float
    gap: float


BLIND, ALONE, IN_CONTEXT = "guessing blindly", "word by word", "in context"
LEARNT, LANGUAGE_MODEL = "learnt", "language model"
NEAREST_WORD = "nearest word"
"""The names of the attackers. The last one takes the released word as it stands; early results of running
text do not have it."""


@dataclass(frozen=True, kw_only=True)
class InversionFinding:
    """What adversaries learn at one ε. ``prior_guess`` is how often one who sees nothing is right.

    ``bayes`` to ``at_risk`` are about words drawn by their frequency, ``attackers`` about running text.
    ``bound`` is proved for drawn words, ``text_bounds`` for known words of the text, their kinds, each group
    and list, and for readers in context. None where no bound is known.
    """

    epsilon: float
    channel: str
    prior_guess: float
    bayes: OverallShare
    nearest_word: OverallShare
    bands: tuple[BandFinding, ...]
    repeats: tuple[RepeatFinding, ...]
    at_risk: tuple[WordAtRisk, ...]
    attackers: tuple[AttackerFinding, ...] = ()
    bound: ProvedBound | None = None
    text_bounds: dict[str, ProvedBound] | None = None

    @property
    def drawn(self) -> dict[str, OverallShare]:
        """What each attacker names of words that are drawn by their frequency."""
        blindly = OverallShare(value=self.prior_guess, standard_error=0.0)
        return {ALONE: self.bayes, NEAREST_WORD: self.nearest_word, BLIND: blindly}

    @property
    def best_drawn(self) -> OverallShare:
        """What the attacker reaches that names most of the drawn words."""
        return max(self.drawn.values(), key=lambda found: found.value)

    @property
    def best(self) -> AttackerFinding | None:
        """The attacker that names most words of the running text; None if there was none."""
        return max(self.attackers, key=lambda each: each.word.first.value, default=None)

    @property
    def best_for_kind(self) -> AttackerFinding | None:
        """The attacker that tells the kind of most words; None if no kind was judged."""
        judged = ((each.kind.first.value, each) for each in self.attackers if each.kind is not None)
        return max(judged, key=lambda pair: pair[0], default=(0.0, None))[1]

    @property
    def success(self) -> float:
        """How often the best attacker names a known word, of running text or drawn by frequency."""
        return max([self.best_drawn.value, *(each.word.first.value for each in self.attackers)])

    @property
    def at_most(self) -> float:
        """The upper end of the 95 % intervals of all attackers: what the advice goes by."""
        drawn = (each.high for each in self.drawn.values())
        return max([*drawn, *(each.word.first.high for each in self.attackers)])

    def attacker(self, name: str) -> AttackerFinding | None:
        """Return what the attacker of this name reached; None if it was not tried."""
        return next((each for each in self.attackers if each.name == name), None)
