from __future__ import annotations

import pytest

from deniable import Embedding, Multivariate, Privatizer
from deniable.mechanisms import Vickrey

PUBLIC = [name for name in dir(Privatizer) if not name.startswith("_")] + [
    "mechanism",
    "policy",
    "record_epsilon",
]


@pytest.mark.parametrize("name", [*PUBLIC, "epsilon", "never_release", "unknown", "anything"])
def test_no_public_attribute_of_a_privatizer_can_be_assigned_or_deleted(
    embedding: Embedding, name: str
) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=7), record_epsilon=3)
    with pytest.raises(AttributeError, match=f"cannot change {name}: .* make a new Privatizer"):
        setattr(private, name, 0.1)
    with pytest.raises(AttributeError, match=f"cannot change {name}: .* make a new Privatizer"):
        delattr(private, name)
    assert (private.record_epsilon, private.mechanism.epsilon, private.settings.record_epsilon) == (3, 7, 3)


def test_the_list_of_public_attributes_is_whole(embedding: Embedding) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=7), record_epsilon=3)
    private("one text")
    assert {name for name in dir(private) if not name.startswith("_")} == set(PUBLIC)


@pytest.mark.parametrize("name", ["t", "epsilon", "embedding"])
def test_an_option_of_a_mechanism_cannot_be_assigned(embedding: Embedding, name: str) -> None:
    mechanism = Vickrey(embedding, epsilon=7, t=0.5)
    with pytest.raises(AttributeError, match=f"cannot change {name}: .* make a new Vickrey"):
        setattr(mechanism, name, 0.1)
    assert (mechanism.t, mechanism.epsilon, mechanism.embedding) == (0.5, 7, embedding)
