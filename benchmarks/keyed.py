"""What a key costs: words per second of ``Privatizer.many`` with keyed and with fresh noise, in turns in one
run.

Also the share of the time that goes into the search, which should stay nearly all of it. A ratio is the
median of the ratios within a round, because a shared machine drifts.

    python -m benchmarks.keyed --sizes 34000x300 400000x300 --rounds 5 --json keyed.json
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from deniable import Embedding, Keyed, Multivariate, Privatizer
from deniable.arrays import Ids, Vectors
from deniable.neighbours.threads import set_threads

_WORDS_PER_TEXT = 15


class TimedSearch:
    """A search that counts the seconds spent in it."""

    def __init__(self, mechanism: Multivariate) -> None:
        self._search = mechanism.neighbours
        self.seconds = 0.0

    def nearest(self, queries: Vectors) -> Ids:
        """Return what the search returns."""
        started = time.perf_counter()
        found = self._search.nearest(queries)
        self.seconds += time.perf_counter() - started
        return found


def measure(words: int, dimension: int, *, texts: int, rounds: int) -> dict[str, Any]:
    """Release the same texts with both sources in turns; the first round warms up and is not counted."""
    rng = np.random.default_rng(0)
    embedding = Embedding(
        [f"w{i}" for i in range(words)],
        rng.standard_normal((words, dimension), dtype=np.float32),
        name="random",
    )
    batch: list[str | None] = [
        " ".join(f"w{i}" for i in rng.integers(0, words, _WORDS_PER_TEXT)) for _ in range(texts)
    ]
    ids = list(range(texts))
    rates: dict[str, list[float]] = {"secure": [], "keyed": []}
    shares: dict[str, list[float]] = {"secure": [], "keyed": []}
    for turn in range(rounds + 1):
        for kind in rates:
            mechanism = Multivariate(embedding, epsilon=20.0)
            search = mechanism.__dict__["neighbours"] = TimedSearch(mechanism)
            private = Privatizer(mechanism, randomness=Keyed.new() if kind == "keyed" else None)
            started = time.perf_counter()
            private.many(batch, record_ids=ids if kind == "keyed" else None)
            seconds = time.perf_counter() - started
            if turn:
                rates[kind].append(texts * _WORDS_PER_TEXT / seconds)
                shares[kind].append(search.seconds / seconds)
    ratios = [keyed / secure for keyed, secure in zip(rates["keyed"], rates["secure"], strict=True)]
    return {
        "words": words,
        "dimension": dimension,
        "words_per_second": {kind: round(median(found)) for kind, found in rates.items()},
        "share_of_search": {kind: round(median(found), 3) for kind, found in shares.items()},
        "keyed_over_secure": {
            "median": round(median(ratios), 3),
            "lowest": round(min(ratios), 3),
            "highest": round(max(ratios), 3),
        },
    }


def main() -> None:
    """Measure every size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=["34000x300"], metavar="WORDSxDIMENSION")
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    set_threads(options.threads)
    results = []
    print(
        "| words x dimension | secure, words/s | keyed, words/s | keyed / secure [range] | search's share, "
        "secure | keyed |"
    )
    print("|---|---|---|---|---|---|", flush=True)
    for size in options.sizes:
        words, dimension = (int(part) for part in size.split("x"))
        made = measure(words, dimension, texts=options.texts, rounds=options.rounds)
        results.append(made)
        rate, share, ratio = made["words_per_second"], made["share_of_search"], made["keyed_over_secure"]
        print(
            f"| {words:,} x {dimension} | {rate['secure']:,} | {rate['keyed']:,} "
            f"| {ratio['median']} [{ratio['lowest']}–{ratio['highest']}] "
            f"| {share['secure']:.1%} | {share['keyed']:.1%} |",
            flush=True,
        )
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
