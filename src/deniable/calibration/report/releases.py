"""Example sentences, released for real: by the mechanism and the secure noise that private text would get."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.chosen import ChosenMechanism
from deniable.text.privatizer import Privatizer
from deniable.words.cutter import Cutter

SENTENCES = (
    "my doctor said the test results would arrive on friday",
    "we moved to seattle last year and my son plays hockey there",
    "please cancel the insurance on my car before the end of march",
)
"""Written for this purpose; nobody's text."""

_LEAST_KNOWN = 0.5


@dataclass(frozen=True, kw_only=True)
class Release:
    """Sentences as they come out at one ε, one draw each."""

    epsilon: float
    texts: tuple[str, ...]


def example_releases(
    embedding: Embedding, mechanism: ChosenMechanism, epsilons: list[float], sentences: tuple[str, ...] = ()
) -> list[Release]:
    """Return one release of every sentence at each ε, the sentences themselves first with ε = infinity.

    Our own sentences are left out where the vocabulary knows too few of their words (another language): the list is empty then.
    """
    chosen = sentences or tuple(sentence for sentence in SENTENCES if _known(embedding, sentence) >= _LEAST_KNOWN)
    if not chosen:
        return []
    drawn = [
        Release(epsilon=epsilon, texts=tuple(Privatizer(mechanism(embedding, epsilon=epsilon))(text) for text in chosen))
        for epsilon in epsilons
    ]
    return [Release(epsilon=float("inf"), texts=chosen), *drawn]


def example_words(embedding: Embedding, sentence: str) -> list[str]:
    """Return the words of a sentence as they go into the mechanism."""
    return Cutter(embedding).words(sentence)


def _known(embedding: Embedding, sentence: str) -> float:
    words = example_words(embedding, sentence)
    return sum(word in embedding.index for word in words) / max(len(words), 1)
