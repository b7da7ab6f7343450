from __future__ import annotations

import numpy as np
import pytest

from deniable.arrays import Ids
from deniable.channel.making import make_channel
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.noise.randomness import InsecureSeededRandomness
from deniable.purposes import shape
from deniable.tuning.receiver import READINGS, Told, tell_labels, tell_labels_by, tell_original
from deniable.tuning.texts import PublicAttributes, known_texts, take_texts
from tests.support.made_purpose import made_embedding, public_texts


def test_mean_vectors_tell_what_a_space_was_shaped_for() -> None:
    # The label hangs on the mean vector, and 400 texts are too few to learn what each of 250 words says of
    # it.
    space = shape(made_embedding(), [public_texts(300, seed=8)], dimension=2, strength=4.0)
    cut = known_texts(PublicAttributes(label="mood", public=public_texts(800), others={}), space)[1]
    learn, judge = take_texts(cut, np.arange(400)), take_texts(cut, np.arange(400, 800))
    channel = make_channel(space, epsilon=0.5, directions=60, keep=False)
    mechanism, randomness = ChosenMechanism()(space, epsilon=0.5), InsecureSeededRandomness(insecure_seed=1)

    def draw(ids: Ids) -> Ids:
        return mechanism.perturb(ids, randomness)

    found = tell_labels(draw, channel, learn, judge)
    assert found.mean_vectors > found.as_released + 0.05
    for reading in READINGS:
        randomness = InsecureSeededRandomness(insecure_seed=1)
        assert tell_labels_by(reading, draw, channel, learn, judge) == found.by(reading)
    original = tell_original(made_embedding(), learn, judge)
    assert original.decoded is None
    assert original.mean_vectors > 0.9


def test_the_best_reading_is_the_one_with_the_largest_share() -> None:
    told = Told(as_released=0.5, decoded=0.7, mean_vectors=0.6)
    assert (told.best, told.by("as released"), told.by("decoded"), told.by("mean vectors")) == (
        "decoded",
        0.5,
        0.7,
        0.6,
    )
    assert Told(as_released=0.5, mean_vectors=0.6).best == "mean vectors"


@pytest.mark.parametrize("labels", [["a", "b", "c"] * 100])
def test_labels_that_nothing_tells_are_told_by_chance(labels: list[str]) -> None:
    cut = known_texts(PublicAttributes(label="mood", public=public_texts(300), others={}), made_embedding())[
        1
    ]
    learn, judge = take_texts(cut, np.arange(150), labels), take_texts(cut, np.arange(150, 300), labels)
    found = tell_original(made_embedding(), learn, judge)
    assert max(found.as_released, found.mean_vectors) < 0.5
