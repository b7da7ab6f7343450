"""Channels by shared points for attackers say what the product releases, rank smoothing too."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.channel.draws import Draws
from deniable.mechanisms.catalogue import parse_mechanism
from tests.support.strategies import random_embedding

DRAWS = 10_000


@pytest.mark.parametrize("typed", ["rank-smoothing", "rank-smoothing:c=0.2"])
def test_smoothing_an_exact_row_gives_the_ranks_that_the_product_draws(
    typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    from scripts.gpu.channels import listed, smooth_by_rank

    embedding = random_embedding(40, 3)
    made = parse_mechanism(typed)(
        embedding, epsilon=1e6
    )  # the word itself always comes out first, and c·ε is set below
    inputs = np.array([3, 17, 39])
    rows = torch.eye(40)[torch.tensor(inputs)]
    decay = 5.0 * made.c  # type: ignore[attr-defined]
    smooth_by_rank(rows, embedding, decay=decay)
    found = listed(rows, unknown=False)
    order = np.argsort(np.linalg.norm(embedding.vectors[:, None] - embedding.vectors[None], axis=2), axis=1)
    for place, word in enumerate(inputs):
        part = slice(found["starts"][place], found["starts"][place + 1])
        ranks = np.exp(-decay * np.arange(40))
        wanted = dict(zip(order[word].tolist(), (ranks / ranks.sum()).tolist(), strict=True))
        assert found["chances"][part].sum() > 0.998
        for output, chance in zip(
            found["outputs"][part].tolist(), found["chances"][part].tolist(), strict=True
        ):
            assert chance == pytest.approx(wanted[output], rel=1e-4)


@pytest.mark.parametrize("typed", ["multivariate", "rank-smoothing"])
@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_a_channel_by_points_says_what_the_product_releases(
    typed: str, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from scripts.gpu.channels import ChannelsOnGpu
    from scripts.gpu.points import Effort

    embedding = random_embedding(40, 3)
    made = ChannelsOnGpu(embedding, typed, effort=Effort(drawn=1_500, kept=500), device="cpu")
    channel = made.channel(np.arange(41), epsilon)
    # Half the sum of differences from a sample of this size is about 0.02; another ε gives far more.
    for spent, alike in ((epsilon, True), (4.0 * epsilon, False)):
        mechanism = parse_mechanism(typed)(embedding, epsilon=spent)
        for word in (5, 30, embedding.unknown_id):
            released = Draws(mechanism, seed=1).of_each(np.full(DRAWS, word))
            wanted, found = np.bincount(released, minlength=40) / DRAWS, np.zeros(40)
            outputs, chances = channel.row(word)
            found[outputs] = chances
            assert bool(0.5 * np.abs(wanted - found).sum() < 0.05) is alike


def test_chances_from_points_are_those_of_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from scripts.gpu import points as gpu_points

    monkeypatch.setattr(gpu_points, "_NUMBERS_AT_ONCE", 100)  # seven parts
    epsilon, words = 2.0, torch.randn(30, 4, generator=torch.Generator().manual_seed(0))
    released = torch.ones(30, dtype=torch.bool)
    weights, drawn = gpu_points.draws_of_each(20, 50, words.device, unknown=True)
    assert drawn[-1] == drawn[0] > drawn[1] >= drawn[-2]
    points = gpu_points._drawn(
        words[:20],
        drawn,
        epsilon,
        lambda each: torch.cdist(each, words).argmin(1),
        30,
        8,
        torch.Generator().manual_seed(1),
    )
    assert sorted(points.outputs.tolist()) == sorted(set(points.outputs.tolist()))
    found = gpu_points.chances_from(points, words[:20], weights, epsilon, released)
    direct = np.zeros((20, 30))
    for place, output in enumerate(points.outputs.tolist()):
        for slot in range(int(points.kept[place])):
            point = points.points[points.slots[slot, place]].double()
            assert int(torch.cdist(point[None], words.double()).argmin()) == output
            densities = torch.exp(-epsilon * (words[:20].double() - point).norm(dim=1)).numpy()
            density = densities @ weights.numpy()
            direct[:, output] += densities / density * float(points.shares[place]) / int(points.kept[place])
    direct = 0.999 * direct / direct.sum(axis=1, keepdims=True) + 0.001 / 30
    assert found.numpy() == pytest.approx(direct, rel=1e-4)


def test_mechanisms_without_points_on_a_gpu_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from scripts.gpu.channels import ChannelsOnGpu
    from scripts.gpu.points import Effort

    for typed in ("santext", "rank-smoothing:over=vickrey", "mahalanobis"):
        with pytest.raises(SystemExit, match="leave out --device"):
            ChannelsOnGpu(random_embedding(40, 3), typed, effort=Effort(), device="cpu")
