"""The card of a release: all that is public about it and that a receiver needs to decode it.

A card says how text was released: the mechanism with its options, ε, the embedding, the policies. Nothing in it is counted from the
text, so it is the same for any text that is released in this way, and may be handed over with it. The receipt counts, and may not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, MalformedCard
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import ChosenMechanism, chosen_as
from deniable.text.receipt import ReleaseSettings
from deniable.version import __version__

ENDING = ".card.json"
_FORMAT = 1
_LONGEST = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Card:
    """How text was released. ``mechanism`` is None for a mechanism of the user's own, which a card cannot name.

    No word got more than ``epsilon``, and no record more than ``record_epsilon`` if there is one. ``embedding`` is its name where it was
    released; ``fingerprint`` tells its content.
    """

    mechanism: ChosenMechanism | None
    kind: str
    epsilon: float
    record_epsilon: float | None
    embedding: str
    fingerprint: str
    unknown: str
    punctuation: str
    case: str
    keep_words: tuple[str, ...]
    consistent: bool
    version: str = __version__

    @classmethod
    def of(cls, settings: ReleaseSettings) -> Self:
        """Return the card of releases with these settings."""
        policy, embedding = settings.policy, settings.mechanism.embedding
        return cls(
            mechanism=chosen_as(settings.mechanism),
            kind=settings.mechanism_name,
            epsilon=settings.word_epsilon,
            record_epsilon=settings.record_epsilon,
            embedding=embedding.name,
            fingerprint=embedding.fingerprint,
            unknown=policy.unknown,
            punctuation=policy.punctuation,
            case=policy.case,
            keep_words=tuple(sorted(policy.keep_words)),
            consistent=bool(settings.randomness.get("consistent")),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the card as JSON-ready data."""
        named = None if self.mechanism is None else {"name": self.mechanism.name, "options": dict(self.mechanism.options)}
        return {
            "card": _FORMAT,
            "deniable": self.version,
            "mechanism": named,
            "kind": self.kind,
            "epsilon_per_word": self.epsilon,
            "epsilon_per_record": self.record_epsilon,
            "embedding": {"name": self.embedding, "fingerprint": self.fingerprint},
            "policy": {"unknown": self.unknown, "punctuation": self.punctuation, "case": self.case, "keep_words": list(self.keep_words)},
            "consistent": self.consistent,
        }

    def to_json(self) -> str:
        """Return the card as indented JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def open_embedding(self, name_or_path: str | Path | None = None) -> Embedding:
        """Return the embedding that was released with, by its name on the card or by another that it has here.

        :raises EmbeddingNotFound: if nothing has that name here.
        :raises MalformedCard: if it is another embedding than the card says.
        """
        embedding = Embedding.open(self.embedding if name_or_path is None else name_or_path)
        if embedding.fingerprint != self.fingerprint:
            raise MalformedCard(
                self.embedding,
                f"the embedding {embedding.name!r} here is another one (fingerprint {embedding.fingerprint[:12]}) than the text was "
                f"released with ({self.fingerprint[:12]}): nothing that is decoded with it would be right",
            )
        return embedding

    def make_mechanism(self, embedding: Embedding) -> Mechanism:
        """Return the mechanism that the text was released with.

        :raises InvalidParameter: if the card does not name one, or an option is missing that no card holds.
        """
        if self.mechanism is None:
            raise InvalidParameter("card", self.kind, "is a mechanism of the data holder's own, which a card cannot name")
        return self.mechanism(embedding, epsilon=self.epsilon)


def read_card(path: Path) -> Card:
    """Return the card in a file.

    :raises MalformedCard: if it cannot be read or is no card.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
    except OSError as error:
        raise MalformedCard(path, error.strerror or "cannot be read") from error
    if len(content) > _LONGEST:
        raise MalformedCard(path, "is larger than any card is")
    try:
        return _card_from(json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise MalformedCard(path, f"is no card of a release ({type(error).__name__}: {error})") from error


def _is_epsilon(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0 and math.isfinite(value)


def _card_from(data: Mapping[str, Any]) -> Card:
    if data["card"] != _FORMAT:
        raise ValueError(f"format {data['card']!r} is not known here")
    named, policy = data["mechanism"], data["policy"]
    epsilon, budget = data["epsilon_per_word"], data["epsilon_per_record"]
    if not _is_epsilon(epsilon) or not (budget is None or _is_epsilon(budget)):
        raise ValueError("ε is not a finite number greater than 0")
    if named is not None and "sensitive" in named["options"]:  # as text it would be the name of a file, which is read
        raise ValueError("a card holds no list of words")
    return Card(
        mechanism=None if named is None else ChosenMechanism(name=str(named["name"]), options=dict(named["options"])),
        kind=str(data["kind"]),
        epsilon=float(epsilon),
        record_epsilon=None if budget is None else float(budget),
        embedding=str(data["embedding"]["name"]),
        fingerprint=str(data["embedding"]["fingerprint"]),
        unknown=str(policy["unknown"]),
        punctuation=str(policy["punctuation"]),
        case=str(policy["case"]),
        keep_words=tuple(str(word) for word in policy["keep_words"]),
        consistent=bool(data["consistent"]),
        version=str(data["deniable"]),
    )
