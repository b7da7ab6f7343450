"""Measures how near the channel of a mechanism comes: by draws of each word, and by points that all words
share, as the product has it.

    python -m scripts.channels.measure sst2.jsonl.xz --at default 4.843 --at sentiment-16-2 3.033 -o
    docs/experiments/channels.json

A way is judged by words that were released and not learnt from: by the mean of log P(y | x) in nats a word,
of which the truth has the largest, and by how many words of a text an attacker names who knows the channel
and the true frequencies. Input words are those of the text. Spaces are installed embeddings
(scripts/purpose/measure.py makes the shaped ones).

What shared points are is said in ``deniable.channel.points``. Draws are counted here, directly.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding
from deniable.arrays import Ids
from deniable.channel.making import make_channel
from deniable.lab.passages import passages_of
from deniable.neighbours import best_neighbours
from deniable.release.policies import TextPolicy
from deniable.words.cutter import Cutter
from deniable.words.public_text import read_lines

Chances = np.ndarray[Any, np.dtype[np.float32]]
"""P(y | x), a row an input word."""

_DRAWS_AT_ONCE = 1 << 18
_WORDS_OF_A_TEXT = 100


def main() -> None:
    """Measure each space at its ε, and write what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="records with a column text")
    parser.add_argument("--at", nargs=2, action="append", required=True, metavar=("EMBEDDING", "EPSILON"))
    parser.add_argument("--draws", type=int, default=1_000, help="draws of a word")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    found = []
    for name, epsilon in given.at:
        found.append(measure(name, float(epsilon), given))
        given.output.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n", encoding="utf-8")


def measure(name: str, epsilon: float, given: argparse.Namespace) -> dict[str, Any]:
    """Return what each way reaches in one space at one ε, and in how many seconds."""
    embedding, rng = Embedding.open(name), np.random.default_rng(0)
    text = words_of(given.data, embedding)
    inputs, places, counts = np.unique(text, return_inverse=True, return_counts=True)
    released = draw(embedding, text, epsilon, 1, rng)
    found: dict[str, Any] = {
        "data": given.data.name.partition(".")[0],
        "space": name,
        "dimension": embedding.dimension,
    }
    found |= {
        "epsilon": epsilon,
        "words": len(text),
        "inputs": len(inputs),
        "blind": float(counts.max() / len(text)),
        "ways": {},
    }

    def judge(way: str, make: Callable[[], Chances]) -> None:
        began = time.time()
        chances = make()
        seconds = round(time.time() - began)
        nats = float(np.log(np.maximum(chances[places, released[:, 0]], 1e-12)).mean())
        for row, count in zip(chances, counts.tolist(), strict=True):
            row *= count
        named = float((chances.argmax(axis=0)[released[:, 0]] == places).mean())
        found["ways"][way] = {"nats": round(nats, 3), "named": round(named, 4), "seconds": seconds}
        print(name, f"{epsilon:g}", way, found["ways"][way], flush=True)

    began = time.time()
    drawn = draw(embedding, inputs, epsilon, given.draws, rng)
    print(f"{time.time() - began:.0f} s for draws", flush=True)
    judge(f"{given.draws:,} draws of each word", lambda: by_draws(drawn, len(embedding)))
    judge("shared points, as `deniable decode` has it", lambda: by_product(embedding, inputs, epsilon))
    return found


def words_of(path: Path, embedding: Embedding) -> Ids:
    """Return the words of the texts, the first hundred of each."""
    cutter = Cutter(embedding)
    texts = [" ".join(cutter.words(json.loads(line)["text"])[:_WORDS_OF_A_TEXT]) for line in read_lines(path)]
    return passages_of(texts, embedding, TextPolicy()).ids.astype(np.int64)


def draw(embedding: Embedding, inputs: Ids, epsilon: float, draws: int, rng: np.random.Generator) -> Ids:
    """Return what each word becomes in so many draws, a row a word; from a seed, and released to nobody."""
    released, dimension = np.empty((len(inputs), draws), dtype=np.int64), embedding.dimension
    at_once = max(1, _DRAWS_AT_ONCE // draws)
    for start in range(0, len(inputs), at_once):
        rows = embedding.rows(inputs[start : start + at_once]).astype(np.float32)
        noise = rng.standard_normal((len(rows) * draws, dimension), dtype=np.float32)
        noise *= (rng.gamma(dimension, 1.0 / epsilon, len(noise)) / np.linalg.norm(noise, axis=1))[
            :, None
        ].astype(np.float32)
        noise += np.repeat(rows, draws, axis=0)
        released[start : start + at_once] = (
            best_neighbours(embedding).nearest(noise).reshape(len(rows), draws)
        )
    return released


def by_draws(released: Ids, words: int) -> Chances:
    """Return chances by counting; what was drawn once says how much was missed, which is spread as rows have
    it on average."""
    chances = np.zeros((len(released), words), dtype=np.float32)
    missed = np.zeros(len(released), dtype=np.float32)
    for place, row in enumerate(released):
        counts = np.bincount(row, minlength=words)
        missed[place] = (counts == 1).sum() / len(row)
        chances[place] = counts * (1.0 - missed[place]) / len(row)
    average = chances.sum(axis=0, dtype=np.float64)
    background = (0.9 * average / average.sum() + 0.1 / words).astype(np.float32)
    for row, share in zip(chances, missed, strict=True):
        row += share * background
    return chances


def by_product(embedding: Embedding, inputs: Ids, epsilon: float) -> Chances:
    """Return chances as the product makes them."""
    channel = make_channel(embedding, epsilon=epsilon, inputs=inputs, keep=False)
    places = channel.places(inputs)
    chances = np.outer(channel.rest[places].astype(np.float32), channel.background.astype(np.float32))
    for row, word in zip(chances, inputs.tolist(), strict=True):
        outputs, listed = channel.row(word)
        row[outputs] += listed
    return chances


if __name__ == "__main__":
    main()
