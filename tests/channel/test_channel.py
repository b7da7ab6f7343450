"""The channel as one matrix: equal to each mechanism's own distribution, on disk as in memory, and continued
where it was cut off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, InvalidParameter
from deniable.arrays import Floats
from deniable.calibration.choice import protect
from deniable.channel import rows
from deniable.channel.channel import LEFT_OUT, Channel
from deniable.channel.making import make_channel, make_channels
from deniable.channel.outputs import output_distribution
from deniable.channel.store import JOURNAL
from deniable.errors import DamagedChannel
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.support.strategies import random_embedding

WORDS = 40
EMBEDDING = random_embedding(WORDS, 3)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    return tmp_path


def dense(channel: Channel) -> Floats:
    """Return P(y | x) in the order of the ids: all words, then the unknown one."""
    matrix = np.zeros((len(channel), len(channel.embedding)))
    for place, word in enumerate(channel.inputs.tolist()):
        outputs, chances = channel.row(word)
        matrix[word, outputs] = chances
        matrix[word] += channel.rest[place] * channel.background
    return matrix


@pytest.mark.parametrize(
    "name",
    ["multivariate", "mahalanobis", "gaussian", "santext", "tem", "custext", "line", "randomized-response"],
)
def test_rows_are_what_the_mechanism_says_of_a_word(name: str) -> None:
    mechanism = ChosenMechanism(name=name, options={"k": 5} if name == "custext" else {})
    channel = make_channel(EMBEDDING, mechanism, epsilon=2.0, directions=300)
    matrix = dense(channel)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(WORDS + 1))
    for word in (0, 7, EMBEDDING.unknown_id):
        expected = np.zeros(WORDS)
        found = output_distribution(mechanism(EMBEDDING, epsilon=2.0), word, draws=300)
        expected[found.words] = found.probabilities
        listed, chances = channel.row(word)
        kept = chances.sum()
        assert chances == pytest.approx(expected[listed] * kept / expected[listed].sum(), rel=1e-5)
        if channel.method == "exact":
            assert np.abs(matrix[word] - expected).max() <= 2 * LEFT_OUT


@pytest.mark.parametrize("name", ["vickrey", "rank-smoothing"])
def test_rows_by_draws_are_shares_of_fresh_draws(name: str) -> None:
    mechanism = ChosenMechanism(name=name)
    matrix = dense(make_channel(EMBEDDING, mechanism, epsilon=2.0, directions=4_000))
    released = mechanism(EMBEDDING, epsilon=2.0).perturb(
        np.full(40_000, 3), InsecureSeededRandomness(insecure_seed=5)
    )
    wrong = mechanism(EMBEDDING, epsilon=1.0).perturb(
        np.full(40_000, 3), InsecureSeededRandomness(insecure_seed=5)
    )
    apart, too_far = (
        np.abs(matrix[3] - np.bincount(each, minlength=WORDS) / len(each)).sum() / 2
        for each in (released, wrong)
    )
    assert apart < 0.06 < too_far


@pytest.mark.parametrize("method", ["rays", "points"])
def test_several_epsilons_are_those_of_one_each(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "FEWEST_INPUTS", 10 if method == "points" else 1_000)
    together = make_channels(EMBEDDING, epsilons=[4.0, 1.0, 4.0], directions=100, keep=False)
    assert [(channel.epsilon, channel.method) for channel in together] == [
        (e, method) for e in (4.0, 1.0, 4.0)
    ]
    for channel in together:
        alone = make_channel(EMBEDDING, epsilon=channel.epsilon, directions=100, keep=False)
        assert (dense(channel) == dense(alone)).all()


@pytest.mark.parametrize("wrong", [float("inf"), float("nan"), 0.0, "2"])
def test_every_epsilon_is_looked_at_before_any_work(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.channel.making.RowMaker", pytest.fail)
    with pytest.raises(InvalidParameter):
        make_channels(EMBEDDING, epsilons=[1.0, wrong])


def test_sums_over_inputs_and_outputs_are_those_of_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = make_channel(EMBEDDING, epsilon=2.0, directions=100)
    matrix, random = dense(channel), np.random.default_rng(0)
    prior, weights = random.random(WORDS + 1), random.random((WORDS, 3))
    for numbers, parts in (
        (1 << 22, 16),
        (7, 16),
        (7, 1),
        (100, 5),
    ):  # a few rows at a time, by several threads, give the same
        monkeypatch.setattr("deniable.channel.channel._NUMBERS_AT_ONCE", numbers)
        monkeypatch.setattr("deniable.channel.channel._PARTS", parts)
        assert channel.output_shares(prior[channel.inputs]) == pytest.approx(prior @ matrix, rel=1e-12)
        assert channel.pulled_back(weights) == pytest.approx((matrix @ weights)[channel.inputs], rel=1e-12)
        assert channel.pulled_back(weights[:, 0]) == pytest.approx(
            (matrix @ weights[:, 0])[channel.inputs], rel=1e-12
        )
    for output, column in zip((0, 11), channel.columns(np.array([0, 11])), strict=True):
        assert column == pytest.approx(matrix[channel.inputs, output])


def test_the_number_of_threads_changes_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.channel.channel._NUMBERS_AT_ONCE", 50)
    made = []
    for count in (1, 2, 5):
        monkeypatch.setenv("DENIABLE_THREADS", str(count))
        channel = make_channel(EMBEDDING, epsilon=2.0, directions=100)
        prior = np.random.default_rng(0).random(len(channel))
        made.append(
            (
                channel.rest,
                channel.background,
                channel.output_shares(prior),
                channel.pulled_back(prior[:WORDS]),
            )
        )
    for others in made[1:]:
        assert all((one == other).all() for one, other in zip(made[0], others, strict=True))


def test_rows_that_list_nothing_leave_everything_out() -> None:
    channel = make_channel(EMBEDDING, epsilon=2.0, inputs=np.array([3, 9, 12]), directions=100)
    ends = channel.starts[[0, 0, 2, 2]]  # the second row has what two had
    bare = replace(
        channel,
        starts=ends,
        outputs=channel.outputs[: ends[-1]],
        chances=channel.chances[: ends[-1]] * np.float32(0.5),
    )
    assert bare.rest[[0, 2]].tolist() == [1.0, 1.0]
    assert bare.pulled_back(np.ones(WORDS)) == pytest.approx(np.ones(3), rel=1e-12)
    none = replace(
        channel, starts=np.zeros(4, dtype=np.int64), outputs=channel.outputs[:0], chances=channel.chances[:0]
    )
    assert none.rest.tolist() == [1.0, 1.0, 1.0]


def test_some_rows_are_those_of_the_whole() -> None:
    channel = make_channel(EMBEDDING, epsilon=2.0, directions=100)
    some = np.array([5, 0, WORDS, 5])
    assert (channel.listed(some).toarray() == channel.by_output.toarray()[some]).all()
    assert channel.listed(some[:0]).shape == (0, WORDS)


def test_sparse_matrices_hold_outputs_as_the_disk_does() -> None:
    channel = make_channel(EMBEDDING, epsilon=2.0, directions=100)
    found = [channel.by_output, channel.listed(np.arange(3)), *(block for _, block in channel.blocks())]
    assert {each.indices.dtype for each in found} == {
        np.dtype(np.int32)
    }  # in 64 bits they take a copy, and a third more memory


def test_only_the_inputs_that_are_asked_for_have_rows() -> None:
    channel = make_channel(
        EMBEDDING, epsilon=2.0, inputs=np.array([9, 3, 3, EMBEDDING.unknown_id]), directions=100
    )
    assert sorted(channel.inputs.tolist()) == [3, 9, EMBEDDING.unknown_id]
    whole = make_channel(EMBEDDING, epsilon=2.0, directions=100)
    assert channel.row(9)[0].tolist() == whole.row(9)[0].tolist()
    with pytest.raises(InvalidParameter, match="not an input word"):
        channel.row(4)
    with pytest.raises(InvalidParameter, match="from 0 to 40"):
        make_channel(EMBEDDING, epsilon=2.0, inputs=np.array([41]))


@pytest.mark.parametrize("method", ["rays", "points"])
def test_a_protected_word_becomes_what_its_stand_in_becomes(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "FEWEST_INPUTS", 10 if method == "points" else 1_000)
    safe = protect(EMBEDDING, np.array([4]))
    channel = make_channel(safe, epsilon=2.0, directions=100)
    matrix = dense(channel)
    assert channel.method == method
    assert (matrix[4] == matrix[int(safe.stands_in(np.array([4]))[0])]).all()
    assert np.abs(matrix[4] - matrix[5]).max() > 0.01


@pytest.mark.parametrize(("name", "method"), [("vickrey", "simulation"), ("santext", "exact")])
def test_other_mechanisms_share_no_points(name: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "FEWEST_INPUTS", 10)
    made = make_channel(EMBEDDING, ChosenMechanism(name=name), epsilon=2.0, directions=5, keep=False)
    assert made.method == method


def test_a_finished_channel_is_read_and_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = make_channel(EMBEDDING, epsilon=2.0, directions=50)

    def never(*_: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr("deniable.channel.rows.RowMaker.rows", never)
    assert (dense(make_channel(EMBEDDING, epsilon=2.0, directions=50)) == dense(first)).all()
    with pytest.raises(AssertionError, match="made again"):
        make_channel(EMBEDDING, epsilon=2.1, directions=50)


def only_folder(embedding: Embedding) -> Path:
    (folder,) = embedding.work_folder("channels").iterdir()
    return folder


def test_an_interrupted_channel_goes_on_to_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.channel.rows._WORDS_AT_ONCE", {"rays": 8})
    whole = dense(make_channel(EMBEDDING, epsilon=2.0, directions=50, keep=False))

    def stop(done: int, _total: int) -> None:
        if done >= 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_channel(EMBEDDING, epsilon=2.0, directions=50, report=stop)
    folder = only_folder(EMBEDDING)
    with (folder / "chances").open("ab") as file:  # what was written without its line in the journal
        file.write(b"abc")
    told: list[int] = []
    again = make_channel(EMBEDDING, epsilon=2.0, directions=50, report=lambda done, _total: told.append(done))
    assert told[0] == 16
    assert (dense(again) == whole).all()


@pytest.mark.parametrize("name", ["outputs", "chances", "lengths", JOURNAL])
def test_a_damaged_channel_is_refused(name: str) -> None:
    make_channel(EMBEDDING, epsilon=2.0, directions=50)
    path = only_folder(EMBEDDING) / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x55
    path.write_bytes(content)
    with pytest.raises(DamagedChannel, match="remove its folder"):
        make_channel(EMBEDDING, epsilon=2.0, directions=50)


@pytest.mark.parametrize("kept", [[], [0], [39], [3, 4, 11], list(range(40))])
def test_kept_words_stay_and_the_others_are_drawn_as_before(kept: list[int]) -> None:
    channel = make_channel(EMBEDDING, epsilon=1.5, directions=100)
    expected = dense(channel)
    expected[kept] = np.eye(WORDS)[kept]
    assert dense(channel.keeping(np.array(kept, dtype=np.int64))) == pytest.approx(expected, abs=2e-3)


def test_a_kept_word_outside_of_the_support_changes_nothing() -> None:
    channel = make_channel(EMBEDDING, epsilon=1.5, directions=100, inputs=np.array([1, 2]))
    same = channel.keeping(np.array([5]))
    assert (same.outputs == channel.outputs).all()
    assert (same.starts == channel.starts).all()
