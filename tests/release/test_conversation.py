"""A message of a conversation is released once, and every first release has the noise of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable import Embedding, Keyed, Multivariate, Privatizer
from deniable.errors import InvalidParameter
from deniable.release.conversation import Conversations


@pytest.fixture(scope="module")
def embedding() -> Embedding:
    return Embedding(["red", "green", "blue", "dark"], 2 * np.eye(4))


def conversations(embedding: Embedding, key: Keyed | None = None, **policies: Any) -> Conversations:
    mechanism = Multivariate(embedding, epsilon=2)
    return Conversations(Privatizer(mechanism, randomness=Keyed.new() if key is None else key, **policies))


def test_it_needs_a_key(embedding: Embedding) -> None:
    with pytest.raises(InvalidParameter, match="key"):
        Conversations(Privatizer(Multivariate(embedding, epsilon=2)))


def test_a_history_gets_the_same_words_whatever_follows_or_is_dropped(embedding: Embedding) -> None:
    made, history = conversations(embedding), [f"red green {'blue ' * i}dark" for i in range(20)]
    released = made.release(history)
    for turn in range(1, 20):
        assert made.release(history[:turn]) == released[:turn]
        assert made.release(history[turn:]) == released[turn:]


def test_equal_messages_of_a_history_are_drawn_independently(embedding: Embedding) -> None:
    released = conversations(embedding).release(["red"] * 4_000)
    first, second = np.array(released[::2]), np.array(released[1::2])
    chance = sum((first == word).mean() * (second == word).mean() for word in embedding.words)
    assert abs((first == second).mean() - chance) < 5 / np.sqrt(len(first))


def test_words_are_drawn_as_the_mechanism_promises(embedding: Embedding) -> None:
    fresh = Privatizer(Multivariate(embedding, epsilon=2)).many(["red"] * 4_000)
    made = conversations(embedding)
    kept = [made.release(["red"], name=str(i))[0] for i in range(4_000)]
    for word in embedding.words:
        assert abs(fresh.count(word) - kept.count(word)) < 5 * np.sqrt(4_000 / 2)


def test_conversations_and_keys_have_noise_of_their_own(embedding: Embedding) -> None:
    history, key = ["red green blue dark " * 5], Keyed.new()
    one = conversations(embedding, key)
    made = {one.release(history, name=name)[0] for name in ("a", "b", "c")}
    made.add(conversations(embedding).release(history, name="a")[0])
    assert len(made) == 4
    assert conversations(embedding, key).release(history, name="a") == one.release(history, name="a")


def test_unknown_words_cannot_be_told_apart(embedding: Embedding) -> None:
    made = conversations(embedding)
    assert made.release(["red zorblatt blue"]) == made.release(["red qwertz blue"])
    assert made.ids([["red zorblatt"]]) != made.ids([["red green"]])


def test_what_belongs_to_a_conversation_is_told_from_another_one(embedding: Embedding) -> None:
    made = conversations(embedding)
    assert len({made.secret(""), made.secret("a"), conversations(embedding).secret("a")}) == 3


def test_a_consistent_key_names_users(embedding: Embedding) -> None:
    made = conversations(embedding, Keyed.new(consistent=True))
    assert made.ids([["red"], ["blue", "red"]], name="a")[1] == made.ids([["dark"]] * 2, name="a")[0] * 2
    assert len(set(made.release(["red"] * 50)[0:50])) == 1
