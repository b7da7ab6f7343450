"""What a receiver notices in the words alone: good releases pass whatever text went in, wrong ones are
noticed from so many words on."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from deniable import Embedding
from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.decoding import likeness
from deniable.decoding.likeness import MOST_EVIDENCE, evidence_against
from deniable.mechanisms.catalogue import ChosenMechanism

WORDS = 600
SPACE = Embedding(
    [f"word{i:03d}x" for i in range(WORDS)],
    np.random.default_rng(0).standard_normal((WORDS, 6)).astype(np.float32),
    name="middle",
)
ZIPF = 1.0 / np.arange(1, WORDS + 1) / (1.0 / np.arange(1, WORDS + 1)).sum()
MECHANISMS = {"multivariate": 5.0, "randomized-response": 5.0, "santext": 3.0}
TEXTS: dict[str, Floats] = {
    "frequent words": ZIPF,
    "rare words": ZIPF[::-1].copy(),
    "one word": np.eye(WORDS)[400],
    "three words": (np.eye(WORDS)[3] + np.eye(WORDS)[77] + np.eye(WORDS)[590]) / 3.0,
    "thirty words": np.where(np.arange(WORDS) % 20 == 0, 1 / 30, 0.0),
}


@pytest.fixture(scope="module")
def channels() -> dict[str, Channel]:
    return {name: channel_of(name, epsilon) for name, epsilon in MECHANISMS.items()}


def channel_of(mechanism: str, epsilon: float) -> Channel:
    # With 1,000 rays the room for their errors is as large as what tells a release at twice the ε.
    return make_channel(SPACE, ChosenMechanism(name=mechanism), epsilon=epsilon, directions=1_000, keep=False)


def original(words: int, seed: int, shares: Floats = ZIPF) -> Ids:
    return np.random.default_rng(seed).choice(WORDS, words, p=shares)


def release(words: Ids, mechanism: str, epsilon: float, seed: int = 0) -> Ids:
    # Not the seed of the text: one generator for both would choose words and what they become by the same
    # numbers.
    return Draws(ChosenMechanism(name=mechanism)(SPACE, epsilon=epsilon), seed=1_000 + seed).of_each(words)


def evidence(channel: Channel, words: Ids, *, seed: int = 0) -> float:
    return evidence_against(
        channel, np.bincount(words, minlength=len(channel.embedding)).astype(np.float64), seed=seed
    )


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_good_releases_pass(mechanism: str, text: str, channels: dict[str, Channel]) -> None:
    for seed, words in enumerate([1, 2, 3, 10, 50, 400, 5_000, 20_000]):
        released = release(original(words, seed, TEXTS[text]), mechanism, MECHANISMS[mechanism], seed=seed)
        assert evidence(channels[mechanism], released) < 0.5 * MOST_EVIDENCE, words


@pytest.mark.parametrize("text", ["one word", "three words", "frequent words"])
def test_what_an_estimated_channel_gets_wrong_is_no_alarm(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant: without room for the errors of a channel good releases of a few words are refused."""
    for directions in (10, 20, 50):
        rough = make_channel(SPACE, epsilon=5.0, directions=directions, keep=False)
        released = [
            release(original(20_000, seed, TEXTS[text]), "multivariate", 5.0, seed=seed) for seed in range(3)
        ]
        with monkeypatch.context() as patched:
            assert max(evidence(rough, words) for words in released) < MOST_EVIDENCE
            patched.setattr(likeness, "ERRORS", 0.0)
            assert (max(evidence(rough, words) for words in released) > MOST_EVIDENCE) == (
                text != "frequent words"
            )


@pytest.mark.parametrize(
    ("mechanism", "words", "dimension", "epsilon", "directions"),
    [
        ("vickrey", 600, 6, 4.0, 1_000),
        ("rank-smoothing", 600, 6, 4.0, 1_000),
        ("multivariate", 600, 50, 2.5, 1_000),  # by rays
        ("multivariate", 1_200, 20, 4.0, 100),  # by points
    ],
)
def test_releases_of_a_single_word_are_no_alarm(
    mechanism: str,
    words: int,
    dimension: int,
    epsilon: float,
    directions: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error of one row is seen as a whole. Mutant: without room for it good releases are refused."""
    vectors = np.random.default_rng(0).standard_normal((words, dimension)).astype(np.float32)
    space, chosen = (
        Embedding([f"word{i:04d}x" for i in range(words)], vectors, name="other"),
        ChosenMechanism(name=mechanism),
    )
    channel = make_channel(space, chosen, epsilon=epsilon, directions=directions, keep=False)
    assert (channel.method == "points") == (words >= 1_000)
    draws = Draws(chosen(space, epsilon=epsilon), seed=77)
    released = [
        draws.of(word, 20_000) for word in np.random.default_rng(5).choice(words, 8, replace=False).tolist()
    ]
    assert max(evidence(channel, each) for each in released) < MOST_EVIDENCE
    monkeypatch.setattr(likeness, "ERRORS", 0.0)
    assert max(evidence(channel, each) for each in released) > MOST_EVIDENCE


WRONG: dict[str, tuple[str, Callable[[Ids], Ids]]] = {
    "the original": ("multivariate", lambda words: words),
    "twice the ε": ("multivariate", lambda words: release(words, "multivariate", 10.0)),
    "randomised response": ("multivariate", lambda words: release(words, "randomized-response", 7.0)),
    "the original of randomised response": ("randomized-response", lambda words: words[:1_000]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_text_is_noticed(wrong: str, channels: dict[str, Channel]) -> None:
    mechanism, change = WRONG[wrong]
    for seed in range(4):
        assert evidence(channels[mechanism], change(original(5_000, seed))) > MOST_EVIDENCE, seed


def test_chance_exceeds_the_evidence_no_oftener_than_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant: words that are judged by their own frequencies seem to be no release far too often."""
    space = Embedding(
        [f"w{i}x" for i in range(60)],
        np.random.default_rng(1).standard_normal((60, 3)).astype(np.float32),
        name="sixty",
    )
    channel = make_channel(space, ChosenMechanism(name="santext"), epsilon=2.0, keep=False)
    monkeypatch.setattr(likeness, "CUT_ERROR", 0.0)  # this one is exact
    outputs, chances = channel.row(5)
    rng = np.random.default_rng(2)
    releases = [rng.choice(outputs, 200, p=chances / chances.sum()) for _ in range(200)]
    ratio = likeness.log_ratio
    found = np.array([evidence(channel, words, seed=seed) for seed, words in enumerate(releases)])
    assert np.exp(found).mean() < 1.0
    assert (found > math.log(20.0)).mean() <= 1 / 20
    monkeypatch.setattr(likeness, "log_ratio", lambda channel, told, _: ratio(channel, told, told))
    found = np.array([evidence(channel, words, seed=seed) for seed, words in enumerate(releases)])
    assert (found > math.log(20.0)).mean() > 0.9


def test_stopping_early_is_safe() -> None:
    """The evidence after any number of steps is no more than after all of them. Mutant: one that leaves out
    how far the best mix may be."""
    rng = np.random.default_rng(3)
    chances = rng.dirichlet(np.full(9, 0.1), size=50)
    judged, shares = rng.integers(1, 40, 9).astype(np.float64), rng.dirichlet(np.ones(9))
    given = by_steps(chances, judged, judged / judged.sum(), 20_000)
    for steps in (1, 3, 10, 100):
        assert by_steps(chances, judged, judged / judged.sum(), steps) <= given + likeness.CLOSE_ENOUGH
        assert (
            by_steps(chances, judged, shares, steps)
            <= by_steps(chances, judged, shares, 20_000) + likeness.CLOSE_ENOUGH
        )


def by_steps(chances: Floats, judged: Floats, shares: Floats, steps: int) -> float:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(likeness, "STEPS", steps)
        return likeness.beyond_any_text(chances, judged, shares, draws=math.inf)


def test_a_text_is_always_judged_alike_and_may_be_too_long_for_memory(channels: dict[str, Channel]) -> None:
    """Mutant: a list of all its words would have ten thousand million."""
    released = release(original(30_000, 6), "multivariate", 5.0)
    assert evidence(channels["multivariate"], released) == evidence(channels["multivariate"], released)
    counts = np.bincount(released, minlength=WORDS).astype(np.float64)
    assert evidence_against(channels["multivariate"], 350_000.0 * counts) < MOST_EVIDENCE


@pytest.fixture(scope="module")
def large() -> Embedding:
    vectors = np.random.default_rng(0).standard_normal((4_000, 10)).astype(np.float32)
    return Embedding([f"word{i:04d}x" for i in range(4_000)], vectors, name="large")


def asked(space: Embedding, words: Ids) -> Channel:
    """Return the channel of a release that knows the released words alone."""
    channel = make_channel(space, epsilon=6.0, outputs=np.unique(words))
    assert channel.asked is not None
    return channel


def text_of(shape: str, seed: int) -> Ids:
    shares = 1.0 / (np.arange(4_000) + 1.0) ** 1.5
    shares[{"one word": 1, "three words": 3, "many words": 4_000}[shape] :] = 0.0
    return np.random.default_rng(seed).choice(4_000, 600, p=shares / shares.sum())


@pytest.mark.parametrize("shape", ["one word", "three words", "many words"])
def test_a_channel_of_the_released_words_alone_judges_as_well(shape: str, large: Embedding) -> None:
    for seed in range(3):
        before = text_of(shape, seed)
        released = Draws(ChosenMechanism()(large, epsilon=6.0), seed=50 + seed).of_each(before)
        assert evidence(asked(large, released), released) < 0.5 * MOST_EVIDENCE
        assert shape != "many words" or evidence(asked(large, before), before) > MOST_EVIDENCE
