"""Bayes' rule and the iterative update are those of their definitions; wrong ones are told apart."""

from __future__ import annotations

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, InvalidParameter
from deniable.arrays import Floats
from deniable.channel.channel import Channel
from deniable.channel.making import make_channel
from deniable.decoding.posterior import make_posterior
from deniable.decoding.shares import learn_shares, select_seen, update
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.channel.test_channel import dense
from tests.decoding import direct
from tests.support.strategies import random_embedding

WORDS = 30
EMBEDDING = random_embedding(WORDS, 3)
CLOSE = 1e-6


@pytest.fixture(params=["multivariate", "santext", "line", "randomized-response", "vickrey"])
def channel(request: pytest.FixtureRequest) -> Channel:
    return make_channel(EMBEDDING, ChosenMechanism(name=request.param), epsilon=2.0, directions=200)


def uneven(count: int) -> Floats:
    shares = np.random.default_rng(1).dirichlet(np.full(count, 0.5))
    return np.asarray(shares, dtype=np.float64)


def full_posterior(channel: Channel, prior: Floats) -> Floats:
    """Return P(x | y) with what the candidates leave out, in the order of the ids."""
    found = make_posterior(channel, prior)
    listed = found.matrix.toarray()
    others = np.where(
        listed > 0.0, 0.0, found.unlisted
    )  # what is left belongs to words that are no candidates
    by_row = listed + found.rest[:, None] * others / np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
    answer: Floats = np.zeros_like(by_row)
    answer[:, channel.inputs] = by_row
    return answer


def test_the_posterior_is_that_of_the_definition(channel: Channel) -> None:
    prior = uneven(len(channel))
    expected = direct.posterior(dense(channel), _by_id(channel, prior))
    # A row lists all but a thousandth, and by few draws all but what was drawn once.
    assert np.abs(full_posterior(channel, prior) - expected).max() < (
        1e-2 if channel.method == "simulation" else 3e-3
    )
    listed = make_posterior(channel, prior)
    for output in range(WORDS):
        words, chances = listed.of(output)
        assert chances == pytest.approx(expected[output, words], abs=CLOSE)
        assert (np.diff(chances) <= 0).all()


@pytest.mark.parametrize("candidates", [1, 3, 20, 200])
@pytest.mark.parametrize("columns", [1, 7, 256])
def test_candidates_are_the_first_of_all_inputs_in_order(
    monkeypatch: pytest.MonkeyPatch, candidates: int, columns: int
) -> None:
    monkeypatch.setattr("deniable.decoding.posterior.COLUMNS_AT_ONCE", columns)
    monkeypatch.setattr("deniable.decoding.posterior.EVERYWHERE", 4)
    channel = many_alike()
    prior = np.random.default_rng(8).choice([0.0, 0.25, 0.5], len(channel))
    found = make_posterior(channel, prior, candidates=candidates)
    prior = prior / prior.sum()
    expected, spread = channel.output_shares(prior), np.outer(channel.rest, channel.background)
    listed = channel.by_output.toarray().astype(np.float64)
    everywhere = np.argsort(-prior * channel.rest, kind="stable")[:4]
    for output in range(WORDS):
        behind = prior * (listed[:, output] + spread[:, output]) / expected[output]
        possible = np.union1d(np.flatnonzero(listed[:, output]), everywhere)
        possible = possible[behind[possible] > 0.0]
        order = possible[np.lexsort((possible, -behind[possible]))][:candidates]
        part = slice(found.starts[output], found.starts[output + 1])
        assert found.rows[part].tolist() == order.tolist()
        assert found.chances[part].tolist() == behind[order].tolist()


def many_alike() -> Channel:
    """Return a channel whose rows list words with one of few chances, so that many candidates are as likely
    as one another."""
    random = np.random.default_rng(7)
    lengths = random.integers(0, 25, WORDS + 1)
    outputs = np.concatenate([random.permutation(WORDS)[:length] for length in lengths]).astype(np.int32)
    return Channel(
        embedding=EMBEDDING,
        epsilon=1.0,
        method="exact",
        directions=0,
        inputs=np.arange(WORDS + 1),
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        outputs=outputs,
        chances=random.choice(np.array([1 / 64, 1 / 32], dtype=np.float32), len(outputs)),
    )


def test_wrong_posteriors_are_told_apart(channel: Channel) -> None:
    prior = uneven(len(channel))
    matrix, by_id = dense(channel), _by_id(channel, prior)
    right = direct.posterior(matrix, by_id)
    square = matrix[:WORDS]
    mutants = {
        "an even prior": direct.posterior(matrix, np.full(len(by_id), 1.0 / len(by_id))),
        "the prior the wrong way round": direct.posterior(matrix, by_id[::-1]),
    }
    exchanged = np.abs(direct.posterior(square.T, by_id[:WORDS])[:, :WORDS] - right[:, :WORDS]).max()
    assert exchanged > 0.01 or np.allclose(square, square.T, atol=1e-4), (
        "rows and columns exchanged"
    )  # randomised response is symmetric
    for name, wrong in mutants.items():
        assert np.abs(full_posterior(channel, prior) - wrong).max() > 0.01, name


def test_another_epsilon_gives_another_posterior() -> None:
    prior = uneven(WORDS + 1)
    right = make_channel(EMBEDDING, epsilon=2.0, directions=1000)
    off = make_channel(EMBEDDING, epsilon=2.1, directions=1000)
    ids = np.argsort(right.inputs), np.argsort(off.inputs)
    difference = full_posterior(right, prior[right.inputs]) - full_posterior(off, prior[off.inputs])
    assert ids[0].shape == ids[1].shape
    assert np.abs(difference).max() > 3e-3  # beyond what the check of the right one allows


def test_a_step_is_that_of_the_definition_and_the_likelihood_never_falls(channel: Channel) -> None:
    observed = np.random.default_rng(2).integers(0, 50, WORDS).astype(np.float64)
    matrix = dense(channel)
    shares, before = uneven(len(channel)), -np.inf
    for _ in range(4):
        made, likelihood = update(channel, observed, shares)
        assert _by_id(channel, made) == pytest.approx(
            direct.updated(matrix, _by_id(channel, shares), observed), abs=CLOSE
        )
        assert likelihood >= before - 1e-12
        shares, before = made, likelihood


def test_public_shares_count_as_words_that_were_seen(channel: Channel) -> None:
    observed, public = np.ones(WORDS), uneven(len(channel))
    shares = np.full(len(channel), 1.0 / len(channel))
    plain, _ = update(channel, observed, shares)
    mixed, _ = update(channel, observed, shares, public=public, weight=10.0)
    assert mixed == pytest.approx((WORDS * plain + 10.0 * public) / (WORDS + 10.0))


def test_shares_are_found_again_behind_many_released_words() -> None:
    mechanism, truth = ChosenMechanism(), uneven(WORDS)
    channel = make_channel(EMBEDDING, mechanism, epsilon=4.0, directions=1000)
    random = np.random.default_rng(3)
    words = random.choice(WORDS, 60_000, p=truth)
    released = mechanism(EMBEDDING, epsilon=4.0).perturb(words, InsecureSeededRandomness(insecure_seed=1))
    observed = np.bincount(released, minlength=WORDS).astype(np.float64)
    learnt = _by_id(channel, learn_shares(channel, observed).shares)
    raw = observed / observed.sum()
    assert 0.5 * np.abs(learnt[:WORDS] - truth).sum() < 0.3 * 0.5 * np.abs(raw - truth).sum()


def test_held_out_records_stop_the_update_before_it_explains_chance() -> None:
    mechanism, truth = ChosenMechanism(), np.full(WORDS, 1.0 / WORDS)
    channel = make_channel(EMBEDDING, mechanism, epsilon=1.0, directions=500)
    random = np.random.default_rng(4)
    draws = [
        mechanism(EMBEDDING, epsilon=1.0).perturb(
            random.choice(WORDS, n, p=truth), InsecureSeededRandomness(insecure_seed=n)
        )
        for n in (80, 20)
    ]
    learn, hold = (np.bincount(each, minlength=WORDS).astype(np.float64) for each in draws)
    stopped, whole = learn_shares(channel, learn, held_out=hold), learn_shares(channel, learn + hold)
    assert stopped.steps < whole.steps
    far = [0.5 * np.abs(_by_id(channel, found.shares)[:WORDS] - truth).sum() for found in (stopped, whole)]
    assert far[0] < far[1]


def test_what_was_not_released_has_no_say(channel: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    learn, hold = np.zeros((2, WORDS))
    learn[[2, 3, 17]], hold[[3, 8]] = [5.0, 9.0, 30.0], [4.0, 1.0]
    start = uneven(len(channel))
    part, seen = select_seen(channel, learn + hold)
    assert seen.tolist() == [2, 3, 8, 17]
    assert part.output_shares(start) == pytest.approx(channel.output_shares(start)[seen], rel=1e-12)
    few = learn_shares(channel, learn, held_out=hold, start=start)
    monkeypatch.setattr("deniable.decoding.shares.NUMBERS_TO_HOLD", 0)
    assert select_seen(channel, learn + hold)[0] is channel
    whole = learn_shares(channel, learn, held_out=hold, start=start)
    assert few.shares == pytest.approx(whole.shares, rel=1e-9)
    assert few.steps == whole.steps


@pytest.mark.parametrize("weight", [0.0, 3.0])
@pytest.mark.parametrize("possible", [0.0, 4.0])
def test_words_that_are_never_released_teach_nothing(possible: float, weight: float) -> None:
    """Mutant: shares of 0 brought to a sum of 1 were none, of a text whose every word is another's double and
    never comes out."""
    vectors = np.random.default_rng(0).standard_normal((WORDS, 3))
    vectors[-2:] = vectors[:2]
    twice = Embedding(EMBEDDING.words, vectors)
    assert twice.shadowed.tolist() == [WORDS - 2, WORDS - 1]
    channel = make_channel(twice, epsilon=2.0, directions=50, keep=False)
    start = uneven(len(channel))
    never, other = np.zeros((2, WORDS))
    never[-2:], other[5] = (7.0, 1.0), possible
    for learn, hold in ((never, None), (never, other), (other, never), (never + other, never)):
        found = learn_shares(
            channel, learn if learn.any() else never, held_out=hold, start=start, weight=weight
        )
        assert found.shares.sum() == pytest.approx(1.0)
        if not possible:
            assert found.shares == pytest.approx(start)
    moved, _ = update(channel, never + other, start)
    assert np.allclose(moved, start) == (possible == 0.0)


def test_what_cannot_be_learnt_from_is_refused(channel: Channel) -> None:
    with pytest.raises(InvalidParameter, match="no released word"):
        learn_shares(channel, np.zeros(WORDS))
    with pytest.raises(InvalidParameter, match="must be 30 numbers"):
        learn_shares(channel, np.ones(WORDS + 1))
    with pytest.raises(InvalidParameter, match="must be 31 numbers"):
        make_posterior(channel, np.ones(3))


def _by_id(channel: Channel, by_row: Floats) -> Floats:
    answer = np.zeros(len(channel.embedding) + 1)
    answer[channel.inputs] = by_row
    return answer


def test_the_most_frequent_word_is_the_best_guess_where_the_release_says_nothing() -> None:
    # At so small an ε every output is as likely as any other, whatever went in.
    channel = make_channel(EMBEDDING, ChosenMechanism(name="randomized-response"), epsilon=0.01)
    prior = uneven(len(channel))
    assert (make_posterior(channel, prior).best == channel.inputs[int(np.argmax(prior))]).all()
    assert (make_posterior(channel, prior, candidates=1).best == channel.inputs[int(np.argmax(prior))]).all()


def test_a_row_that_is_even_but_for_one_word_lists_that_word_alone() -> None:
    channel = make_channel(EMBEDDING, ChosenMechanism(name="randomized-response"), epsilon=2.0)
    assert np.diff(channel.starts).tolist() == [1] * WORDS + [0]
    assert dense(channel).sum(axis=1) == pytest.approx(np.ones(WORDS + 1))
