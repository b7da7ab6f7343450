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
    """How often an attribute is predicted correctly from released text: the mean over the releases and their
    range. ``reading`` is how the release was read, chosen on texts that are not judged."""

    accuracy: float
    lowest: float
    highest: float
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class AttributeFinding:
    """How often an attribute is predicted correctly: from the original, by always naming the most frequent
    value, and from text released in the chosen space (``shaped``) and in the embedding ``as_it_is``, at an
    equal attacker. All four are None if it could not be measured, and then ``problem`` says why."""

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
        """The shares by the most frequent value, from the original, and from text released in both spaces."""
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
        return max(each.words for each in (self.alone, self.in_context) if each is not None)

    @property
    def kinds(self) -> float:
        """The share of kinds that is named in the way that is better for kinds."""
        return max(each.kinds for each in (self.alone, self.in_context) if each is not None)


class Sample(NamedTuple):
    """A judged public text, and what it became in the chosen space and in the embedding as it is."""

    original: str
    shaped: str
    as_it_is: str


@dataclass(frozen=True, kw_only=True)
class Isolated:
    """How many of a space's words stay unchanged in more than half of all draws at its ε, and the first of
    them."""

    count: int
    words: int
    shown: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many texts were used for what, words attacked, and the share of them that was unknown."""

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
    ``kinds`` is what kinds are. ``warnings`` are sentences: about the public labels, and one if shaping gains
    nothing."""

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
        if self.reading == "named" or (self.reading == "kinds" and self.shaped.in_context is None):
            return "looking at each word by itself"
        return "in the better of the two ways to read a release"

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as JSON-ready data, without texts."""
        apart = ("mechanism", "space", "samples")
        data = {name: _plain(value) for name, value in vars(self).items() if name not in apart}
        space = {**self.space.facts(), "fingerprint": self.space.embedding.fingerprint}
        mechanism = {"mechanism": self.mechanism.name, "mechanism_options": self.mechanism.shown_options}
        return data | mechanism | {"space": space}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Trial):
        return value.to_dict()
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
