"""Channels drawn for attackers say what the product releases, rank smoothing too."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from deniable.channel.draws import Draws
from deniable.mechanisms.catalogue import parse_mechanism
from tests.support.strategies import random_embedding

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
DRAWS = 20_000


@pytest.mark.parametrize("typed", ["rank-smoothing", "rank-smoothing:c=0.2"])
def test_smoothing_an_exact_row_gives_the_ranks_that_the_product_draws(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    from gpu_channels import smooth_by_rank

    embedding = random_embedding(40, 3)
    made = parse_mechanism(typed)(embedding, epsilon=1e6)  # the word itself always comes out first, and c·ε is set below
    inputs = np.array([3, 17, 39])
    sure = {"inputs": inputs, "starts": np.arange(4), "outputs": inputs.astype(np.int32), "chances": np.ones(3, dtype=np.float32)}
    decay = 5.0 * made.c  # type: ignore[attr-defined]
    found = smooth_by_rank(sure, embedding, decay=decay, device="cpu")
    order = np.argsort(np.linalg.norm(embedding.vectors[:, None] - embedding.vectors[None], axis=2), axis=1)
    for place, word in enumerate(inputs):
        part = slice(found["starts"][place], found["starts"][place + 1])
        ranks = np.exp(-decay * np.arange(40))
        wanted = dict(zip(order[word].tolist(), (ranks / ranks.sum()).tolist(), strict=True))
        assert found["chances"][part].sum() > 0.998
        for output, chance in zip(found["outputs"][part].tolist(), found["chances"][part].tolist(), strict=True):
            assert chance == pytest.approx(wanted[output], rel=1e-4)


@pytest.mark.parametrize("typed", ["multivariate", "rank-smoothing"])
def test_a_drawn_channel_says_what_the_product_releases(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    from gpu_channels import ChannelsOnGpu

    embedding, epsilon = random_embedding(40, 3), 3.0
    channel = ChannelsOnGpu(embedding, typed, draws=DRAWS, device="cpu").channel(np.array([5, 30, embedding.unknown_id]), epsilon)
    mechanism = parse_mechanism(typed)(embedding, epsilon=epsilon)
    for word in (5, 30):
        released = Draws(mechanism, seed=1).of_each(np.full(DRAWS, word))
        wanted, found = np.bincount(released, minlength=40) / DRAWS, np.zeros(40)
        outputs, chances = channel.row(word)
        found[outputs] = chances
        # Half the sum of differences between two samples of this size is about 0.02; another mechanism's is far larger.
        assert 0.5 * np.abs(wanted - found).sum() < 0.05
    assert len(channel.row(embedding.unknown_id)[0])


def test_mechanisms_without_draws_on_a_gpu_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    from gpu_channels import ChannelsOnGpu

    for typed in ("santext", "rank-smoothing:over=vickrey", "mahalanobis"):
        with pytest.raises(SystemExit, match="leave out --device"):
            ChannelsOnGpu(random_embedding(40, 3), typed, draws=10, device="cpu")
