"""How often words stay themselves at each ε, on the built-in embedding. Prints Markdown; takes a few minutes.

Usage: python -m scripts.embedding.epsilon

Three views: words drawn at random from the whole vocabulary, a few draws each (a sharp mean); some of them
with many draws each (what the single word can expect); and the running words of ``examples/reviews.csv``,
where frequent words count as often as people write them. The noise comes from a seed, so that the table can
be made again; releases never do that.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from deniable import Embedding, InsecureSeededRandomness, Multivariate
from deniable.arrays import Floats, Ids
from deniable.words.cutter import Cutter, Lookup

REVIEWS = Path(__file__).resolve().parents[2] / "examples" / "reviews.csv"
DRAWS_FOR_THE_MEAN, DRAWS_FOR_A_WORD, DRAWS_FOR_RUNNING_WORDS = 5, 50, 20


def review_ids(embedding: Embedding) -> Ids:
    """Return the ids of the running words of the example reviews, unknown words left out."""
    cutter, lookup = Cutter(embedding), Lookup(embedding)
    with REVIEWS.open(encoding="utf-8", newline="") as file:
        words = [word for row in csv.DictReader(file) for word in cutter.words(row["review"])]
    return np.array(
        [word_id for word_id in lookup.ids(words) if word_id != embedding.unknown_id], dtype=np.int64
    )


def unchanged(mechanism: Multivariate, ids: Ids, draws: int, randomness: InsecureSeededRandomness) -> Floats:
    """Return, for each word, the share of the draws in which it stays itself."""
    released = mechanism.perturb(np.repeat(ids, draws), randomness)
    shares: Floats = (released.reshape(len(ids), draws) == ids[:, None]).mean(axis=1)
    return shares


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epsilons", type=float, nargs="+", default=[2, 3, 4, 5, 6, 7, 8, 9, 12])
    parser.add_argument(
        "--words", type=int, default=4_000, help=f"random words for the mean, {DRAWS_FOR_THE_MEAN} draws each"
    )
    parser.add_argument(
        "--closely",
        type=int,
        default=300,
        help=f"of these, words looked at with {DRAWS_FOR_A_WORD} draws each",
    )
    options = parser.parse_args()
    embedding = Embedding.open()
    randomness = InsecureSeededRandomness(insecure_seed=2020)
    sample = np.random.default_rng(2020).choice(len(embedding), options.words, replace=False)
    running = review_ids(embedding)
    print(
        f"{embedding.name} ({embedding.fingerprint[:12]}): {options.words:,} random words, "
        f"{DRAWS_FOR_THE_MEAN} draws each;"
    )
    print(
        f"{options.closely:,} of them, {DRAWS_FOR_A_WORD} draws each; {len(running):,} running words, "
        f"{DRAWS_FOR_RUNNING_WORDS} each.\n"
    )
    of = f"of {options.closely:,} words"
    heads = (
        "ε",
        "a random word stays",
        f"median {of}",
        f"worst {of}",
        f"{of}, stay in over half",
        "a running word stays",
    )
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|")
    for epsilon in options.epsilons:
        mechanism = Multivariate(embedding, epsilon=epsilon)
        mean = unchanged(mechanism, sample, DRAWS_FOR_THE_MEAN, randomness).mean()
        each = unchanged(mechanism, sample[: options.closely], DRAWS_FOR_A_WORD, randomness)
        text = unchanged(mechanism, running, DRAWS_FOR_RUNNING_WORDS, randomness).mean()
        cells = (
            f"{epsilon:g}",
            f"{mean:.1%}",
            f"{np.median(each):.0%}",
            f"{each.max():.0%}",
            f"{(each > 0.5).mean():.1%}",
            f"{text:.1%}",
        )
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
