"""How often words stay themselves at each ε, on the built-in embedding. Prints Markdown; takes a few minutes.

    python -m scripts.embedding.epsilon

Three views: words drawn at random from the whole vocabulary, a few draws each (a sharp mean); some of them
with many draws each (what the single word can expect); and the running words of ``examples/reviews.csv``,
where frequent words count as often as people write them. The noise comes from a seed, so that the table can
be made again; releases never do that.
"""

from __future__ import annotations

import csv

import numpy as np

from deniable import Embedding, InsecureSeededRandomness, Multivariate
from deniable.arrays import Floats, Ids
from deniable.words.cutter import Cutter
from scripts.pages import ROOT, table

EPSILONS = (2, 3, 4, 5, 6, 7, 8, 9, 12)
WORDS, CLOSELY = 4_000, 300
DRAWS_FOR_THE_MEAN, DRAWS_FOR_A_WORD, DRAWS_FOR_RUNNING_WORDS = 5, 50, 20


def review_ids(embedding: Embedding) -> Ids:
    """Return the ids of the running words of the example reviews, unknown words left out."""
    cutter = Cutter(embedding)
    with (ROOT / "examples" / "reviews.csv").open(encoding="utf-8", newline="") as file:
        ids = [i for row in csv.DictReader(file) for i in cutter.ids(cutter.words(row["review"]))]
    return np.array([i for i in ids if i != embedding.unknown_id], dtype=np.int64)


def main() -> None:
    """Measure and print."""
    embedding = Embedding.open()
    randomness = InsecureSeededRandomness(insecure_seed=2020)
    sample = np.random.default_rng(2020).choice(len(embedding), WORDS, replace=False)
    running, rows = review_ids(embedding), []

    def unchanged(mechanism: Multivariate, ids: Ids, draws: int) -> Floats:
        released = mechanism.perturb(np.repeat(ids, draws), randomness)
        shares: Floats = (released.reshape(len(ids), draws) == ids[:, None]).mean(axis=1)
        return shares

    for epsilon in EPSILONS:
        mechanism = Multivariate(embedding, epsilon=epsilon)
        mean = unchanged(mechanism, sample, DRAWS_FOR_THE_MEAN).mean()
        each = unchanged(mechanism, sample[:CLOSELY], DRAWS_FOR_A_WORD)
        text = unchanged(mechanism, running, DRAWS_FOR_RUNNING_WORDS).mean()
        closely = [f"{np.median(each):.0%}", f"{each.max():.0%}", f"{(each > 0.5).mean():.1%}"]
        rows.append([f"{epsilon:g}", f"{mean:.1%}", *closely, f"{text:.1%}"])
    counts = f"{WORDS:,} random words, {len(running):,} running words"
    print(f"{embedding.name} ({embedding.fingerprint[:12]}): {counts}\n")
    of = f"of {CLOSELY:,} words"
    head = ["ε", "a random word stays", f"median {of}", f"worst {of}", f"{of}, stay in over half"]
    print(table([*head, "a running word stays"], rows))


if __name__ == "__main__":
    main()
