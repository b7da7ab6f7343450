from __future__ import annotations

import numpy as np
import pytest

from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.purposes import shape
from deniable.tuning.search import OF_ORIGINAL, READINGS, best_reading, tell_labels
from deniable.tuning.texts import PublicAttributes, known_texts, take_texts
from deniable.utility.accuracy import Version
from tests.support.made_purpose import made_embedding, public_texts


def test_mean_vectors_tell_what_a_space_was_shaped_for() -> None:
    # The label hangs on the mean vector, and 400 texts are too few to learn what each of 250 words says of
    # it.
    space = shape(made_embedding(), [public_texts(300, seed=8)], dimension=2, strength=4.0)
    cut = known_texts(PublicAttributes(public_texts(800), {}), space)[1]
    channel = make_channel(space, epsilon=0.5, directions=60, keep=False)
    released = Draws(ChosenMechanism()(space, epsilon=0.5), seed=1).of_each(cut.ids)
    version = Version(cut.released(released, space), space, channel)
    shares = tell_labels(version, 400)
    assert list(shares) == list(READINGS)
    assert shares["mean vectors"] > shares["as released"] + 0.05
    assert best_reading(shares) == max(shares, key=shares.__getitem__)
    for reading in READINGS:
        assert tell_labels(version, 400, [reading]) == {reading: shares[reading]}
    assert tell_labels(Version(cut, made_embedding()), 400, OF_ORIGINAL)["mean vectors"] > 0.9


@pytest.mark.parametrize("labels", [["a", "b", "c"] * 100])
def test_labels_that_nothing_tells_are_told_by_chance(labels: list[str]) -> None:
    cut = known_texts(PublicAttributes(public_texts(300), {}), made_embedding())[1]
    texts = take_texts(cut, np.arange(300), labels)
    assert max(tell_labels(Version(texts, made_embedding()), 150, OF_ORIGINAL).values()) < 0.5
