"""A channel of the outputs that were asked for: the columns of the whole channel, from far fewer points."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from deniable import Multivariate
from deniable.arrays import Floats, Ids
from deniable.channel import making, points, rows
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.channel.points import draws_for_outputs, draws_of_inputs
from deniable.decoding.channel_decoder import ChannelDecoder
from deniable.errors import InvalidParameter
from tests.support.strategies import random_embedding

WORDS, EPSILON = 400, 3.0
EMBEDDING = random_embedding(WORDS, 4)
ASKED = np.array([3, 17, 90, 250, 399])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    monkeypatch.setattr(rows, "FEWEST_INPUTS", 100)
    monkeypatch.setattr(points, "SPREAD_DRAWS", 100_000)
    monkeypatch.setattr(points, "PILOT_DRAWS", 5_000)
    return tmp_path


def columns(channel: Channel, outputs: Ids) -> Floats:
    """Return P(y | x): a row for each output, a column for each input."""
    found: Floats = channel.by_output[:, outputs].toarray().T.astype(np.float64)
    return found + channel.rest * channel.background[outputs][:, None]


def counted(outputs: Ids, draws: int = 20_000) -> Floats:
    """Return the same by counting draws of every input."""
    source, found = (
        Draws(Multivariate(EMBEDDING, epsilon=EPSILON), seed=77),
        np.empty((len(outputs), WORDS + 1)),
    )
    for word in range(WORDS + 1):
        found[:, word] = np.bincount(source.of(word, draws), minlength=WORDS)[outputs] / draws
    return found


def mean_log_chance(likely: Floats, truth: Floats) -> float:
    """Return the mean log-probability that a reader gives to the word that went in, weighted as draws of an
    even prior fall."""
    posterior = likely / likely.sum(axis=1, keepdims=True)
    return float((truth * np.log(np.maximum(posterior, 1e-12))).sum() / truth.sum())


def test_columns_are_those_that_draws_give_and_wrong_ones_are_not() -> None:
    channel = make_channel(EMBEDDING, epsilon=EPSILON, outputs=ASKED)
    assert channel.method == "points"
    assert channel.asked is not None
    assert channel.asked.tolist() == ASKED.tolist()
    truth, ours = counted(ASKED), columns(channel, ASKED)
    best = mean_log_chance(truth, truth)
    assert np.abs(ours - truth).sum(axis=1) / truth.sum(axis=1) == pytest.approx(0.0, abs=0.2)
    assert mean_log_chance(ours, truth) > best - 0.03
    assert mean_log_chance(np.roll(ours, 1, axis=0), truth) < best - 0.5, "the columns of other outputs"
    assert mean_log_chance(np.ones_like(ours), truth) < best - 0.5, "nothing known"
    assert channel.output_shares(np.full(len(channel), 1.0 / len(channel)))[ASKED] == pytest.approx(
        truth.mean(axis=1), rel=0.2
    )


def test_seldom_outputs_get_points_around_the_words_near_them(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, inputs = Multivariate(EMBEDDING, epsilon=EPSILON), np.arange(WORDS + 1)
    spread = draws_of_inputs(EMBEDDING, inputs, points.SPREAD_DRAWS)
    monkeypatch.setattr(points, "LEAST_MET", 0)
    assert (draws_for_outputs(mechanism, inputs, ASKED, seed=8) == spread).all()
    monkeypatch.setattr(points, "LEAST_MET", 1 << 30)
    monkeypatch.setattr(points, "NEAR", 7)
    more = draws_for_outputs(mechanism, inputs, ASKED[:1], seed=8) - spread
    vectors = EMBEDDING.rows(inputs).astype(np.float64)
    nearest = np.argsort(((vectors - vectors[ASKED[0]]) ** 2).sum(axis=1), kind="stable")[:7]
    assert sorted(np.flatnonzero(more).tolist()) == sorted(nearest.tolist())
    assert set(more[nearest].tolist()) == {points.DRAWS_AROUND}


def test_it_stays_off_the_disk_and_many_outputs_get_the_whole_channel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert make_channel(EMBEDDING, epsilon=EPSILON, outputs=ASKED).asked is not None
    assert not EMBEDDING.work_folder("channels").exists() or not list(
        EMBEDDING.work_folder("channels").iterdir()
    )
    many = make_channel(
        EMBEDDING, epsilon=EPSILON, outputs=np.arange(WORDS // 2 + 1), directions=20, keep=False
    )
    assert many.asked is None
    assert many.knows(np.arange(WORDS)).all()
    monkeypatch.setattr(making, "MOST_ASKED", len(ASKED) - 1)
    assert make_channel(EMBEDDING, epsilon=EPSILON, outputs=ASKED, directions=20, keep=False).asked is None


def test_a_decoder_refuses_words_that_were_not_asked_for() -> None:
    decoder = ChannelDecoder(make_channel(EMBEDDING, epsilon=EPSILON, outputs=ASKED))
    known, other = EMBEDDING.words[17], EMBEDDING.words[18]
    assert decoder(known)
    for ask in (
        decoder,
        decoder.candidates,
        lambda text: decoder.expected_counts([text]),
        lambda text: decoder.expected_vectors([text]),
    ):
        with pytest.raises(InvalidParameter, match="every_word=True"):
            ask(other)


def test_kept_words_still_come_out_as_they_are() -> None:
    channel = make_channel(EMBEDDING, epsilon=EPSILON, outputs=ASKED).keeping(np.array([17]))
    outputs, chances = channel.row(17)
    assert outputs.tolist() == [17]
    assert chances.tolist() == [1.0]
    assert channel.rest[17] < 1e-6


def test_what_rows_do_not_list_of_the_asked_outputs_is_spread_over_these(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = make_channel(EMBEDDING, epsilon=EPSILON, outputs=ASKED)
    monkeypatch.setattr(rows, "MOST_OUTPUTS", 2)
    cut = make_channel(EMBEDDING, epsilon=EPSILON, outputs=ASKED)
    even = np.full(len(cut), 1.0 / len(cut))
    assert np.diff(cut.starts).max() == 2
    assert cut.output_shares(even)[ASKED].sum() == pytest.approx(
        whole.output_shares(even)[ASKED].sum(), rel=0.02
    )
    listed_alone = dataclasses.replace(cut, dropped=None)
    assert listed_alone.output_shares(even)[ASKED].sum() < 0.97 * whole.output_shares(even)[ASKED].sum()
