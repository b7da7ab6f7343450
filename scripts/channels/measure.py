"""Measure how near the channel of a mechanism comes: by draws of each word, and by points that all words
share, as the product has it.

    python -m scripts.channels.measure sst2.jsonl.xz          # writes docs/research/channels.json

A way is judged by words that were released and not learnt from: by the mean of log P(y | x) in nats a word,
of which the truth has the largest, and by how many words of a text an attacker names who knows the channel
and the true frequencies. Input words are those of the text. The shaped space is installed by
scripts/purpose/measure.py. Draws are counted here, directly.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding, Multivariate
from deniable.arrays import Ids
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.lab.passages import passages_of
from deniable.release.policies import TextPolicy
from deniable.words.cutter import Cutter
from deniable.words.public_text import read_lines
from scripts.pages import EXPERIMENTS

Chances = np.ndarray[Any, np.dtype[np.float32]]
"""P(y | x), a row an input word."""
AT = {"default": 4.843, "sentiment-16-2": 3.033}
DRAWS, WORDS_OF_A_TEXT = 1_000, 100


def main() -> None:
    """Measure each space at its ε, and write what was found."""
    measured = [json.dumps(measure(Path(sys.argv[1]), name, epsilon)) for name, epsilon in AT.items()]
    content = "[\n" + ",\n".join(measured) + "\n]\n"
    (EXPERIMENTS / "channels.json").write_text(content, encoding="utf-8")


def measure(data: Path, name: str, epsilon: float) -> dict[str, Any]:
    """Return what each way reaches in one space at one ε, and in how many seconds."""
    embedding = Embedding.open(name)
    cutter = Cutter(embedding)
    texts = [json.loads(line)["text"] for line in read_lines(data)]
    cut = [" ".join(cutter.words(text)[:WORDS_OF_A_TEXT]) for text in texts]
    text = passages_of(cut, embedding, TextPolicy()).ids.astype(np.int64)
    inputs, places, counts = np.unique(text, return_inverse=True, return_counts=True)
    draws = Draws(Multivariate(embedding, epsilon=epsilon), seed=0)
    released, ways = draws.of_each(text), {}

    def judge(way: str, make: Callable[[], Chances]) -> None:
        began = time.time()
        chances = make()
        seconds = round(time.time() - began)
        nats = float(np.log(np.maximum(chances[places, released], 1e-12)).mean())
        chances *= counts[:, None].astype(np.float32)
        named = float((chances.argmax(axis=0)[released] == places).mean())
        ways[way] = {"nats": round(nats, 3), "named": round(named, 4), "seconds": seconds}
        print(name, way, ways[way], flush=True)

    drawn = np.stack([draws.of(word, DRAWS) for word in inputs.tolist()])
    judge(f"{DRAWS:,} draws of each word", lambda: by_draws(drawn, len(embedding)))
    judge("shared points, as `deniable decode` has it", lambda: by_product(embedding, inputs, epsilon))
    return {
        "data": data.name.partition(".")[0],
        "space": name,
        "dimension": embedding.dimension,
        "epsilon": epsilon,
        "words": len(text),
        "inputs": len(inputs),
        "blind": float(counts.max() / len(text)),
        "ways": ways,
    }


def by_draws(drawn: Ids, words: int) -> Chances:
    """Return chances by counting; what was drawn once says how much was missed, which is spread as rows have
    it on average."""
    chances = np.zeros((len(drawn), words), dtype=np.float32)
    missed = np.zeros(len(drawn), dtype=np.float32)
    for place, row in enumerate(drawn):
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
