"""The attacker names what Bayes' rule names, and kinds and context help it where they should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deniable.arrays import Floats, Ids
from deniable.audit.named import Named
from deniable.channel.channel import Channel
from deniable.channel.making import make_channel
from deniable.decoding.ngrams import Bigrams, count_bigrams
from deniable.embeddings.kinds import make_kinds
from deniable.measures.texts import Texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.noise.randomness import InsecureSeededRandomness
from tests.support.strategies import random_embedding

SPACE = random_embedding(300, 4, seed=3)
EXACT = ChosenMechanism(name="santext")


def text(words: int = 60_000, *, seed: int = 0) -> Ids:
    shares = 1.0 / np.arange(1, 301)
    return np.random.default_rng(seed).choice(300, words, p=shares / shares.sum())


def released(mechanism: ChosenMechanism, ids: Ids, epsilon: float) -> Ids:
    return mechanism(SPACE, epsilon=epsilon).perturb(ids, InsecureSeededRandomness(insecure_seed=4))


def exact_matrix(channel: Channel) -> Floats:
    matrix = np.multiply.outer(channel.rest, channel.background)
    for rows, block in channel.blocks():
        matrix[rows] += block.toarray()
    return matrix


def attacker_of(ids: Ids, length: int = 0, *, context: Bigrams | None = None) -> Named:
    offsets = np.arange(0, len(ids) + 1, length or len(ids))
    return Named.by_ids(Texts(ids=ids, offsets=offsets), make_kinds(SPACE, clusters=10), context=context)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_words_are_named_as_often_as_the_exact_rule_names_them(epsilon: float) -> None:
    ids = text()
    attacker = attacker_of(ids)
    channel = make_channel(SPACE, EXACT, epsilon=epsilon, keep=False)
    matrix, prior = exact_matrix(channel), attacker.counts[channel.inputs]
    best = float((matrix * (prior / prior.sum())[:, None]).max(axis=0).sum())
    found = attacker.alone(channel, released(EXACT, ids, epsilon))
    assert found.words == pytest.approx(best, abs=4 * found.words_error)
    assert found.words >= attacker.blind.words - 4 * found.words_error


def test_kinds_are_named_as_often_as_the_exact_rule_names_them() -> None:
    ids, kinds = text(), make_kinds(SPACE, clusters=10)
    attacker = attacker_of(ids)
    channel = make_channel(SPACE, EXACT, epsilon=4.0, keep=False)
    prior = np.where(kinds.of >= 0, attacker.counts, 0.0)[channel.inputs]
    joint = exact_matrix(channel) * (prior / prior.sum())[:, None]
    by_kind = np.stack(
        [
            joint[channel.inputs < 300][kinds.of[channel.inputs[channel.inputs < 300]] == kind].sum(axis=0)
            for kind in range(10)
        ]
    )
    found = attacker.alone(channel, released(EXACT, ids, 4.0))
    assert found.kinds == pytest.approx(float(by_kind.max(axis=0).sum()), abs=4 * found.kinds_error)
    assert found.kinds > attacker.blind.kinds + 0.05
    assert found.judged_kinds == int((kinds.of[ids] >= 0).sum()) < 50_000


def test_unknown_words_are_neither_named_nor_counted() -> None:
    ids = text(20_000)
    ids[::2] = SPACE.unknown_id
    attacker = attacker_of(ids)
    channel = make_channel(SPACE, EXACT, epsilon=50.0, inputs=attacker.inputs(300), keep=False)
    found = attacker.alone(channel, released(EXACT, ids, 50.0))
    assert found.judged == 10_000
    assert found.words > 0.95


def test_an_attacker_in_context_names_more_where_words_follow_one_another() -> None:
    # Every word is followed by one of two others, so that context says almost everything.
    rng = np.random.default_rng(1)
    ids = np.empty(10_000, dtype=np.int64)
    ids[0] = 7
    for place in range(1, len(ids)):
        ids[place] = (2 * ids[place - 1] + rng.integers(0, 2)) % 300
    model = count_bigrams(ids.reshape(500, 20), 301)
    assert model is not None
    attacker = attacker_of(ids, 20, context=model)
    mechanism = ChosenMechanism()
    channel = make_channel(SPACE, mechanism, epsilon=3.0, directions=100, keep=False)
    seen = released(mechanism, ids, 3.0)
    alone, context = attacker.alone(channel, seen), attacker.in_context(channel, seen)
    assert context is not None
    assert attacker.success("named", channel, seen).words == alone.words
    assert attacker.success("context", channel, seen).words == context.words
    assert attacker.success("kinds", channel, seen).kinds == context.kinds
    some = attacker.in_context(channel, seen[:5_000], texts=attacker.first_texts(5_000))
    assert some is not None
    assert some.judged == 5_000
    assert some.words == pytest.approx(context.words, abs=4 * some.words_error)
    without = replace(attacker, context=None)
    assert without.in_context(channel, seen) is None
    assert without.success("context", channel, seen).words == alone.words
    assert without.success("kinds", channel, seen).kinds == alone.kinds
    assert context.words > alone.words + 0.2
    assert context.kinds > alone.kinds + 0.1
    assert (context.judged, context.judged_kinds) == (alone.judged, alone.judged_kinds)
