"""A channel whose sums over points are made on a device has the numbers of the processor."""

from __future__ import annotations

import numpy as np
import pytest

from deniable import Embedding, Multivariate
from deniable.channel.columns import columns_of
from deniable.channel.making import make_channel
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours import set_device
from tests.channel.test_channel import dense
from tests.gpu.made_gpu import MadeGpu
from tests.support.strategies import random_embedding

pytest.importorskip("torch")

WORDS, EPSILON = 40, 2.0
EMBEDDING = random_embedding(WORDS, 3)

pytestmark = pytest.mark.usefixtures("gpus")


@pytest.mark.parametrize("name", ["multivariate", "gaussian"])
def test_sums_over_points_are_those_of_the_processor(
    gpus: dict[Embedding, MadeGpu], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.channel.rows.FEWEST_INPUTS", 10)
    mechanism = ChosenMechanism(name=name)
    set_device(None)
    on_processor = make_channel(EMBEDDING, mechanism, epsilon=EPSILON, directions=50, keep=False)
    set_device("cpu")
    monkeypatch.setattr(
        "deniable.channel.point_sums.ProcessorSums", lambda *_: pytest.fail("the device was asked for")
    )
    monkeypatch.setattr("deniable.gpu.sums._PAIRS_AT_ONCE", 7 * WORDS)
    on_gpu = make_channel(EMBEDDING, mechanism, epsilon=EPSILON, directions=50, keep=False)
    assert on_gpu.method == on_processor.method == "points"
    assert dense(on_gpu) == pytest.approx(dense(on_processor), rel=1e-4, abs=1e-8)
    assert not sum(gpu.draws for gpu in gpus.values())  # the points come from the public seed


def test_columns_are_summed_on_the_device_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.channel.rows.FEWEST_INPUTS", 10)
    outputs = np.array([3, 5, 8])
    set_device(None)
    columns = columns_of(Multivariate(EMBEDDING, epsilon=EPSILON), outputs, seed=1)
    on_processor = np.stack(list(columns.columns(outputs)))
    set_device("cpu")
    monkeypatch.setattr(
        "deniable.channel.point_sums.ProcessorSums", lambda *_: pytest.fail("the device was asked for")
    )
    assert np.stack(list(columns.columns(outputs))) == pytest.approx(on_processor, rel=1e-4, abs=1e-8)
