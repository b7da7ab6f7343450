"""Users' texts as words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.audit.membership.streams import Coder, Streams
from deniable.embeddings.embedding import Embedding
from deniable.errors import UnusableAuditData
from deniable.parameters import validated_count
from deniable.records.labelled import LabelledTexts
from deniable.words.cutter import Cutter

Users = list[list[list[str]]]
"""Words of texts of users."""


def chosen_users(data: LabelledTexts, embedding: Embedding, *, fewest: int, most: int, seed: int) -> dict[str, list[list[str]]]:
    """Return the words of all users with at least ``fewest`` texts, at most ``most`` of each, in an order drawn from the seed.

    Words are cut and folded as a release would, but unknown words stay: the model trained on original text saw them.

    :raises InvalidParameter: if a number is not allowed.
    :raises UnusableAuditData: if a user with enough texts has no words at all.
    """
    validated_count(fewest, "min_texts")
    validated_count(most, "max_texts")
    cutter = Cutter(embedding)
    users: dict[str, list[list[str]]] = {}
    for person, texts in sorted(data.by_person().items()):
        words = [found for text in texts if (found := cutter.words(text))]
        if len(texts) >= fewest and not words:
            raise UnusableAuditData(data.source, f"the texts of user {person!r} hold no words")
        if len(words) >= fewest:
            users[person] = words[:most]
    names = list(users)
    return {names[i]: users[names[i]] for i in np.random.default_rng(seed).permutation(len(names))}


def coded(conditions: dict[str, Users]) -> dict[str, Streams]:
    """Return all conditions as streams with one code per word."""
    coder = Coder()
    return {name: coder.streams(users) for name, users in conditions.items()}


def usual_lengths(users: Sequence[Sequence[Sequence[str]]]) -> dict[str, float]:
    """Return how much text there is: users, texts and words per user."""
    texts = [len(user) for user in users]
    words = [sum(len(text) for text in user) for user in users]
    return {"users": len(users), "median_texts": float(np.median(texts)), "median_words": float(np.median(words)), "words": sum(words)}
