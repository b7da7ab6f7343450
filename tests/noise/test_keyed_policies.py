"""A word keeps its noise whatever is done with the other words of its text: kept, redacted, dropped or
perturbed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable import Keyed, Multivariate, Privatizer
from deniable.arrays import Ids
from deniable.interfaces import Mechanism
from deniable.noise.keyed import KeyedTokens
from tests.support.strategies import random_embedding

KEY = bytes(range(32))
EMBEDDING = random_embedding(60, 5)
UNKNOWN = ["zorblatt", "qwertz", "12-AB-34"]
POLICIES: list[dict[str, Any]] = [
    {},
    {"keep_words": ["w3"]},
    {"keep_words": ["w3", "w7", "w11", "nobody"]},
    {"unknown": "redact"},
    {"unknown": "drop"},
    {"unknown": "drop", "keep_words": ["w3", "w7"]},
    {"unknown": "redact", "keep_words": ["w7"]},
]
WORDS = st.sampled_from([*(f"w{number}" for number in range(14)), *UNKNOWN])


class AmongDrawn(Keyed):
    """Counts positions among the words that are drawn, as version 1 did."""

    def bind(self, mechanism: Mechanism, ids: Ids, **rest: Any) -> KeyedTokens:
        places = np.concatenate([np.arange(length) for length in rest["lengths"]])
        return super().bind(mechanism, ids, **rest | {"positions": places})


class PlaceLeftOut(Keyed):
    def bind(self, mechanism: Mechanism, ids: Ids, **rest: Any) -> KeyedTokens:
        return super().bind(mechanism, ids, **rest | {"positions": np.zeros_like(ids)})


def private(keyed: Keyed, **policy: Any) -> Privatizer:
    return Privatizer(Multivariate(EMBEDDING, epsilon=0.1), randomness=keyed, **policy)


def drawn_by_place(keyed: Keyed, policy: Mapping[str, Any], words: list[str]) -> dict[int, str]:
    """Return the released word at each place of a text whose word is drawn under the policy."""
    released = private(keyed, **policy)(" ".join(words), record_id="r").split()
    dropped = policy.get("unknown") == "drop"
    places = [place for place, word in enumerate(words) if not (dropped and word in UNKNOWN)]
    made = dict(zip(places, released, strict=True))
    kept = {*policy.get("keep_words", ()), *(UNKNOWN if policy.get("unknown") == "redact" else ())}
    return {place: word for place, word in made.items() if words[place] not in kept}


def differing(keyed: Keyed, words: list[str], first: Mapping[str, Any], second: Mapping[str, Any]) -> int:
    """Return how many words that are drawn under both policies come out otherwise."""
    one, other = (drawn_by_place(keyed, policy, words) for policy in (first, second))
    return sum(one[place] != other[place] for place in one.keys() & other.keys())


@settings(max_examples=60)
@given(st.lists(WORDS, min_size=1, max_size=12), st.sampled_from(POLICIES), st.sampled_from(POLICIES))
def test_words_that_are_drawn_under_two_policies_come_out_the_same(
    words: list[str], first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert differing(Keyed(KEY), words, first, second) == 0


LONG = [word for number in range(40) for word in (f"w{number}", "w3", UNKNOWN[number % 3])]


@pytest.mark.parametrize("policy", POLICIES[1:])
def test_one_policy_more_redraws_nothing(policy: dict[str, Any]) -> None:
    assert differing(Keyed(KEY), LONG, {}, policy) == 0
    assert len(drawn_by_place(Keyed(KEY), policy, LONG)) >= 35, "there was something to redraw"


@pytest.mark.parametrize("policy", POLICIES[1:])
def test_counting_among_drawn_words_is_caught(policy: dict[str, Any]) -> None:
    assert differing(AmongDrawn(KEY), LONG, {}, policy) > 20


def test_equal_words_at_different_places_have_noise_of_their_own() -> None:
    def different(keyed: Keyed, **policy: Any) -> int:
        return len(set(private(keyed, **policy)("w5 zorblatt " * 40, record_id=1).split()[::2]))

    assert different(Keyed(KEY)) > 10
    assert different(Keyed(KEY), unknown="redact") > 10
    assert different(PlaceLeftOut(KEY)) == 1, "leaving the place out is caught"
    assert different(PlaceLeftOut(KEY), unknown="redact") == 1


@pytest.mark.parametrize("policy", [{"keep_words": ["w3"]}, {"unknown": "redact"}])
def test_consistent_replacement_never_looked_at_places(policy: dict[str, Any]) -> None:
    assert differing(Keyed(KEY, consistent=True), LONG, {}, policy) == 0
    assert Keyed(KEY, consistent=True).version == 1


def test_a_budget_per_record_draws_anew_when_the_number_of_words_changes_and_the_receipt_says_so() -> None:
    keyed = Privatizer(Multivariate(EMBEDDING, epsilon=4.0), record_epsilon=0.5, randomness=Keyed(KEY))
    text = " ".join(f"w{number}" for number in range(40))
    before, after = (keyed(text + more, record_id=1).split() for more in ("", " w1"))
    assert sum(one != other for one, other in zip(before, after, strict=False)) > 20
    assert keyed(text, record_id=1).split() == before
    assert "drawn anew as a whole" in keyed.receipt().randomness["repeated"]
    assert "drawn anew as a whole" in keyed.receipt().summary()
    assert "drawn anew as a whole" not in private(Keyed(KEY)).receipt().randomness["repeated"]


def test_the_receipt_says_the_version_of_the_noise() -> None:
    assert private(Keyed(KEY)).receipt().to_dict()["randomness"]["version"] == 2
    assert private(Keyed(KEY, consistent=True)).receipt().to_dict()["randomness"]["version"] == 1
