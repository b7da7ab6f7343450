"""What tuning found: the space that was chosen, what survives in it, what an attacker names, and everything
that was tried."""

from __future__ import annotations

from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, NamedTuple

from deniable.audit.named import NamedShares, Way
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.tuning.search import Space, Trial
from deniable.utility.accuracy import DecodingEffort, Reading
from deniable.utility.summary import MeasuredEmbedding


@dataclass(frozen=True, kw_only=True)
class AttributeReading:
    """How often an attribute is predicted correctly by somebody who has released text only, the mean over the
    releases and their range.

    ``reading`` is how the release was read, chosen on texts that are not judged.
    """

    accuracy: float
    lowest: float
    highest: float
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class AttributeFinding:
    """How often an attribute is predicted correctly: from the original, by always naming the most frequent
    value, and from released text.

    ``shaped`` is in the space that was chosen, ``as_it_is`` in the embedding as it is, at an equal attacker.
    All four are None if it could not be measured, and then ``problem`` says why.
    """

    name: str
    values: int
    judged: int
    original: float | None = None
    majority: float | None = None
    shaped: AttributeReading | None = None
    as_it_is: AttributeReading | None = None
    problem: str | None = None

    @property
    def shares(self) -> tuple[float | None, ...]:
        """The shares by the most frequent value, from the original, and from released text in the chosen
        space and as it is."""
        read = (None if each is None else each.accuracy for each in (self.shaped, self.as_it_is))
        return self.majority, self.original, *read


@dataclass(frozen=True, kw_only=True)
class AttackFinding:
    """What an attacker names in a release, alone and, where public text was given, in context."""

    alone: NamedShares
    in_context: NamedShares | None

    @property
    def context_is_better(self) -> bool:
        """Whether more words are named in context."""
        return self.in_context is not None and self.in_context.words > self.alone.words

    @property
    def words(self) -> float:
        """The share of words that is named in the better way."""
        return (
            self.in_context.words
            if self.in_context is not None and self.context_is_better
            else self.alone.words
        )

    @property
    def kinds(self) -> float:
        """The share of kinds that is named in the way that is better for kinds."""
        return self.alone.kinds if self.in_context is None else max(self.alone.kinds, self.in_context.kinds)


class Sample(NamedTuple):
    """A public text of those that are judged, and what it became in the chosen space and in the embedding as
    it is."""

    original: str
    shaped: str
    as_it_is: str


@dataclass(frozen=True, kw_only=True)
class Isolated:
    """The words of a space that stay themselves in more than half of all draws at its ε: how many, of how
    many, and the first of them."""

    count: int
    words: int
    shown: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many texts were used for what, how many words the attacker was judged on, and which share of them
    was unknown."""

    texts: int
    left_out: int
    shape: int
    learn: int
    choose: int
    judge: int
    attacked_words: int
    unknown: float


@dataclass(frozen=True, kw_only=True)
class TuningFindings:
    """The result of ``tune``. ``target`` is the share that the attacker may name, of what ``reading`` says;
    ``kinds`` is what kinds are.

    ``warnings`` are sentences about the public labels, if something is wrong with them, and one if shaping
    gains nothing.
    """

    source: str
    sha256: str
    public: str | None
    mechanism: ChosenMechanism
    embedding: MeasuredEmbedding
    reading: Way
    target: float
    space: Space
    epsilon: float
    epsilon_as_it_is: float
    label: AttributeFinding
    others: tuple[AttributeFinding, ...]
    kinds: str
    blind: NamedShares
    shaped: AttackFinding
    as_it_is: AttackFinding
    tried: tuple[Trial, ...]
    samples: tuple[Sample, ...]
    counts: Counts
    quick: DecodingEffort
    thorough: DecodingEffort
    runs: int
    warnings: tuple[str, ...] = ()

    @property
    def matched(self) -> str:
        """Of what the attacker that spaces were brought to names a share, in words."""
        return "kinds of less frequent words" if self.reading == "kinds" else "words"

    @property
    def matched_way(self) -> str:
        """How that attacker reads, in words."""
        in_context = self.reading == "context" or (
            self.reading == "kinds" and self.shaped.in_context is not None
        )
        return (
            "in the better of the two ways to read a release"
            if in_context
            else "looking at each word by itself"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as JSON-ready data, without texts."""
        plain = {
            name: value for name, value in vars(self).items() if name not in ("mechanism", "space", "samples")
        }
        data = {name: _plain(value) for name, value in plain.items()}
        mechanism = {"mechanism": self.mechanism.name, "mechanism_options": self.mechanism.shown_options}
        return (
            data
            | mechanism
            | {"space": {**self.space.facts(), "fingerprint": self.space.embedding.fingerprint}}
        )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Trial):
        return value.to_dict()
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
