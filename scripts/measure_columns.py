"""Compares the channel of the released words alone with the whole channel: what a reader gains from each, and
what each costs.

Both have the same input words: the 20,000 first of the built-in embedding and ⊥. Pairs of a word and what it
became, drawn afresh by rank from another seed, say how likely each channel's reader holds the true word
(``nats``), and how often it names it. Costs are processor seconds over those of a fixed matrix product in the
same run, so that machines compare.

    python scripts/measure_columns.py 6
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from deniable import Embedding
from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.mechanisms.catalogue import ChosenMechanism

_SUPPORT, _RELEASED, _HELD_OUT = 20_000, 243, 300_000


def main() -> None:
    """Print one line a channel."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("epsilon", type=float)
    epsilon = asked.parse_args().epsilon
    embedding = Embedding.open()
    mechanism = ChosenMechanism()(embedding, epsilon=epsilon)
    inputs = np.append(np.arange(_SUPPORT), embedding.unknown_id)
    prior: Floats = np.reciprocal(np.arange(len(inputs), dtype=np.float64) + 10.0)
    prior /= prior.sum()
    rng = np.random.default_rng(5)
    released = np.unique(Draws(mechanism, seed=99).of_each(rng.choice(inputs, _RELEASED, p=prior)))
    entering = rng.choice(len(inputs), _HELD_OUT, p=prior)
    came_out = Draws(mechanism, seed=1234).of_each(inputs[entering])
    held = np.isin(came_out, released)
    pairs = entering[held], np.searchsorted(released, came_out[held])
    unit = product_seconds()
    print(f"built-in embedding, ε = {epsilon:g}: {len(released)} released words, {held.sum():,} fresh pairs")
    print(f"one product of two 2,000 × 2,000 matrices takes {unit:.3f} processor seconds")
    for name, outputs in (("released words", released), ("whole channel", None)):
        began = time.process_time()
        channel = make_channel(embedding, epsilon=epsilon, inputs=inputs, outputs=outputs, keep=False)
        cost = time.process_time() - began
        nats, named = judge(channel, prior, released, *pairs)
        print(
            f"{name}: {nats:.3f} nats, {100 * named:.1f} % named, {cost:.1f} processor seconds, "
            f"{cost / unit:,.0f} products"
        )


def judge(channel: Channel, prior: Floats, released: Ids, entered: Ids, place: Ids) -> tuple[float, float]:
    """Return the mean logarithm of the true word's probability, and how often it is the likeliest."""
    columns = (
        channel.by_output[:, released].toarray().T.astype(np.float64)
        + channel.rest * channel.background[released][:, None]
    )
    posterior = columns * prior
    posterior /= posterior.sum(axis=1, keepdims=True)
    held = posterior[place, entered]
    return float(np.log(np.maximum(held, 1e-12)).mean()), float(
        (posterior.argmax(axis=1)[place] == entered).mean()
    )


def product_seconds() -> float:
    """Return the processor seconds of the fixed product, the median of five."""
    matrix = np.random.default_rng(0).standard_normal((2_000, 2_000)).astype(np.float32)
    taken = []
    for _ in range(5):
        began = time.process_time()
        matrix @ matrix
        taken.append(time.process_time() - began)
    return float(np.median(taken))


if __name__ == "__main__":
    main()
