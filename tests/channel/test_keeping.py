"""The channel of a release that lets some words through."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable.channel.making import make_channel
from tests.channel.test_channel import dense
from tests.support.strategies import random_embedding

EMBEDDING = random_embedding(15, 3)


@pytest.mark.parametrize("kept", [[], [0], [14], [3, 4, 11], list(range(15))])
def test_kept_words_stay_and_the_others_are_drawn_as_before(
    kept: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    channel = make_channel(EMBEDDING, epsilon=1.5, directions=100)
    expected = dense(channel)
    expected[kept] = np.eye(15)[kept]
    assert dense(channel.keeping(np.array(kept, dtype=np.int64))) == pytest.approx(expected, abs=2e-3)


def test_a_kept_word_outside_of_the_support_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    channel = make_channel(EMBEDDING, epsilon=1.5, directions=100, inputs=np.array([1, 2]))
    same = channel.keeping(np.array([5]))
    assert (same.outputs == channel.outputs).all()
    assert (same.starts == channel.starts).all()
