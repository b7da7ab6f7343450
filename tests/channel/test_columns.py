"""Columns of a channel by rays have the sums that draws give them: nearer to the truth, rows still rows, kept on the disk and checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deniable import Multivariate
from deniable.arrays import Floats
from deniable.channel import making
from deniable.channel.channel import Channel
from deniable.channel.columns import shrunken
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.channel.store import COLUMNS
from deniable.embeddings.places import work_folder
from deniable.errors import DamagedChannel
from tests.support.strategies import random_embedding

WORDS, EPSILON = 300, 2.0
EMBEDDING = random_embedding(WORDS, 10)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    monkeypatch.setattr(making, "FEWEST_INPUTS", 100)
    return tmp_path


def made(*, keep: bool = False) -> Channel:
    return make_channel(EMBEDDING, epsilon=EPSILON, directions=30, keep=keep)


def test_sums_over_words_come_nearer_to_those_of_draws_with_another_seed() -> None:
    drawn = Draws(Multivariate(EMBEDDING, epsilon=EPSILON), seed=3).of_each(np.repeat(np.arange(WORDS), 2_000))
    true = np.bincount(drawn, minlength=WORDS) / len(drawn)
    even = np.append(np.full(WORDS, 1.0 / WORDS), 0.0)  # words are drawn by rank for the factors, and here all alike

    def distance(channel: Channel) -> float:
        prior = np.zeros(len(channel))
        prior[channel.places(np.arange(WORDS + 1))] = even
        shares: Floats = channel.output_shares(prior)
        return 0.5 * float(np.abs(shares - true).sum())

    channel = made()
    assert channel.factors is not None
    rays_alone = distance(replace(channel, factors=None))
    assert distance(channel) < 0.6 * rays_alone
    assert distance(replace(channel, factors=1.0 / channel.factors)) > rays_alone, "a factor the wrong way round"
    assert distance(replace(channel, factors=np.roll(channel.factors, 1))) > 0.9 * rays_alone, "factors of other words"


def test_all_ways_to_read_a_channel_have_the_factors_by_the_definition() -> None:
    channel = made()
    assert channel.factors is not None
    plain = replace(channel, factors=None)
    blocks = np.concatenate([block.toarray() for _, block in channel.blocks()])
    for place in (0, 17, len(channel) - 1):
        word = int(channel.inputs[place])
        outputs, before = plain.row(word)
        expected = before * channel.factors[outputs]
        expected *= before.sum() / expected.sum()
        assert channel.row(word)[1] == pytest.approx(expected)
        assert blocks[place][outputs] == pytest.approx(expected)
        assert channel.by_output[:, outputs].toarray()[place] == pytest.approx(expected, rel=1e-6)
        assert channel.keeping(np.array([int(channel.inputs[5])])).row(word)[1] == pytest.approx(expected, rel=1e-6)
    assert channel.rest == pytest.approx(plain.rest)
    kept = int(channel.inputs[5])
    assert channel.keeping(np.array([kept])).row(kept)[1].tolist() == [1.0]


def test_few_words_stay_as_their_rays_are() -> None:
    assert make_channel(EMBEDDING, epsilon=EPSILON, inputs=np.arange(99), directions=30, keep=False).factors is None


def test_factors_are_kept_and_a_damaged_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    first = made(keep=True).factors
    monkeypatch.setattr(making, "column_factors", lambda *_: pytest.fail("they were there"))
    again = made(keep=True).factors
    assert first is not None
    assert again is not None
    assert np.array_equal(first, again)
    (path,) = work_folder(EMBEDDING, "channels").glob(f"*/{COLUMNS}")
    whole = path.read_bytes()
    for wrong in (whole[:-8], b"00000000" + whole[8:], whole + b"12345678"):
        path.write_bytes(wrong)
        with pytest.raises(DamagedChannel, match="columns"):
            made(keep=True)


def test_chance_alone_changes_nothing_and_errors_of_rows_are_mended() -> None:
    random = np.random.default_rng(1)
    expected = random.gamma(1.0, 50.0, 5_000)
    assert np.abs(shrunken(random.poisson(expected).astype(float), expected) - 1.0).max() < 0.05
    true = random.gamma(4.0, 0.25, 5_000)
    counts = random.poisson(true * expected).astype(float)
    found, plain = shrunken(counts, expected), counts / expected
    assert ((found - true) ** 2).mean() < 0.8 * ((plain - true) ** 2).mean()
    assert ((found - true) ** 2).mean() < 0.8 * ((1.0 - true) ** 2).mean()
    assert (shrunken(np.zeros(3), np.zeros(3)) == 1.0).all()
