"""Words per second and memory of every mechanism on one large embedding.

    python -m benchmarks.mechanisms --data DATA

Every mechanism runs in a process of its own. In brackets stands what the processors worked for it, for
machines that have other work. The words are those of film reviews in their order, so that frequent words come
often, as in any text. The second half of the words shows what is gained once the sums of frequent words are
kept (softmax family).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scripts.pages import options_of, table

from benchmarks.machine import in_a_process, timed
from benchmarks.peers.child import peak_memory
from benchmarks.peers.material import GLOVE, REVIEWS, SHARED, embedding_of, enlarge, read_glove, review_words
from deniable.arrays import Ids
from deniable.mechanisms.catalogue import CATALOGUE, make_mechanism
from deniable.noise.randomness import SecureRandomness

EPSILON = 10.0


def prepare(data: Path, folder: Path, size: int, tokens: int) -> None:
    """Write the vectors and the word ids that every process reads."""
    words, vectors = read_glove(data / GLOVE)
    ids = {word: i for i, word in enumerate(words)}
    running = islice(review_words(data / REVIEWS, ids), 2 * tokens)
    np.save(folder / "ids.npy", np.array([ids[word] for word in running]))
    np.save(folder / "vectors.npy", enlarge(words, vectors, size)[1])


def measure(name: str, folder: Path) -> list[Any]:
    """Release the words by one mechanism, in two halves; return the cells of its row."""
    embedding, ids = embedding_of(np.load(folder / "vectors.npy")), np.load(folder / "ids.npy")
    loaded = peak_memory()
    mechanism, source = make_mechanism(name, embedding, epsilon=EPSILON), SecureRandomness()
    wall, processor = timed(partial(mechanism.perturb, np.array([len(embedding)]), source))
    cells, same = [name, f"{wall:.1f} s ({processor:.1f} s)"], 0

    def release(half: Ids) -> None:
        nonlocal same
        same += int((mechanism.perturb(half, source) == half).sum())

    for half in np.split(ids, 2):
        wall, processor = timed(partial(release, half))
        cells.append(f"{len(half) / wall:,.0f} ({len(half) / processor:,.0f})")
    return [*cells, f"{(peak_memory() - loaded) / 1e6:,.0f}", f"{same / len(ids):.0%}"]


def main() -> None:
    """Run every mechanism and print the table."""
    parser = options_of(__doc__)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder of the data sets")
    parser.add_argument("--size", type=int, default=400_000)
    parser.add_argument("--tokens", type=int, default=3_000, help="words in each half")
    parser.add_argument("--child", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(options.child[0], Path(options.child[1]))))
        return
    rows = []
    names = [n for n, entry in CATALOGUE.items() if all(each.default is not None for each in entry.options)]
    with tempfile.TemporaryDirectory() as folder:
        prepare(options.data, Path(folder), options.size, options.tokens)
        for name in names:
            rows.append(in_a_process("benchmarks.mechanisms", "--child", name, folder))
            print(rows[-1], flush=True)
    head = ["mechanism", "ready after", "words a second, first half", "second half"]
    print(table([*head, "memory above the vectors, MB", "unchanged"], rows))
    print(f"\n{options.size:,} words, ε = {EPSILON:g}; {2 * options.tokens:,} words released")


if __name__ == "__main__":
    main()
