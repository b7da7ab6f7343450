"""Look at every word of a large embedding once and keep what the documentation says of it.

    python -m scripts.calibration.measure glove-6b-50d --epsilon 3 --epsilon 5 --rays 1000 --sample 20000 -o
    found.npz

N_w of all words at every ε comes from the first breakpoints, S_w and the distinct words of a random sample
from whole walks. ``--only`` looks at some random words instead of all. The .npz holds the values, the .json
beside it the summary, the time and the memory; both are written as soon as N_w is known and again at the end.
An interrupted run goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding
from deniable.arrays import Floats, Ids
from deniable.calibration.by_rays import measure_by_rays
from deniable.channel.rays.statistics import unchanged
from deniable.neighbours.threads import threads
from deniable.progress import Progress

_WORDS_AT_ONCE = 4096
_NAMED = 200


def main() -> None:
    """Measure, and write both files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("embedding", help="the name of an installed embedding")
    parser.add_argument("--epsilon", type=float, action="append", required=True)
    parser.add_argument("--rays", type=int, default=1000)
    parser.add_argument(
        "--sample", type=int, default=20_000, help="how many random words S_w is measured for"
    )
    parser.add_argument(
        "--only", type=int, help="measure N_w of this many random words only, for a quick look"
    )
    parser.add_argument("--output", "-o", type=Path, required=True)
    options = parser.parse_args()
    embedding = Embedding.open(options.embedding)
    epsilons = np.array(sorted(options.epsilon))
    summary: dict[str, Any] = {
        "embedding": options.embedding,
        "words": len(embedding),
        "dimension": embedding.dimension,
    }
    summary |= {"rays": options.rays, "threads": threads(), "epsilons": epsilons.tolist()}

    started = time.monotonic()
    with Progress(f"N_w of {embedding.name}", unit="words") as progress:
        measured = None if options.only is None else _some(embedding, options.only)
        found = measure_by_rays(embedding, rays=options.rays, ids=measured, report=progress.follow)
    summary["seconds_for_n_w"] = round(time.monotonic() - started, 1)
    summary["words_measured"] = len(found.ids)
    shares = np.empty((len(embedding), len(epsilons)))
    for start in range(0, len(found.ids), _WORDS_AT_ONCE):
        part = slice(start, start + _WORDS_AT_ONCE)
        shares[found.ids[part]] = unchanged(np.asarray(found.radii[part]), epsilons, found.length)[0]
    looked_at = np.sort(found.ids)
    shares = shares[looked_at]
    summary["n_w"] = [
        _of_shares(embedding, looked_at, column) | {"epsilon": float(e)}
        for e, column in zip(epsilons, shares.T, strict=True)
    ]
    known = {"epsilons": epsilons, "measured": looked_at, "n_w": shares.astype(np.float16)}
    _write(options.output, summary, **known)

    started = time.monotonic()
    sample = np.random.Generator(np.random.PCG64(4)).choice(
        looked_at, min(options.sample, len(looked_at)), replace=False
    )
    with Progress(f"S_w of {embedding.name}", unit="words") as progress:
        some = measure_by_rays(
            embedding,
            rays=options.rays,
            ids=np.sort(sample),
            epsilons=epsilons,
            support=True,
            report=progress.follow,
        )
    summary["seconds_for_s_w_of_the_sample"] = round(time.monotonic() - started, 1)
    assert some.distinct is not None and some.support is not None  # noqa: PT018 - they were asked for
    summary["sampled_words"] = len(some.ids)
    summary["s_w"] = [
        {
            "epsilon": float(e),
            "average_distinct": float(some.distinct[:, i].mean()),
            "fewest_distinct": int(some.distinct[:, i].min()),
            "words_below_300_distinct": int((some.distinct[:, i] < 300).sum()),
            "average_support": float(some.support[:, i].mean()),
        }
        for i, e in enumerate(epsilons)
    ]
    _write(options.output, summary, **known, ids=some.ids, distinct=some.distinct, support=some.support)


def _write(output: Path, summary: dict[str, Any], **values: Any) -> None:
    summary["largest_memory_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    np.savez_compressed(output, **values)
    output.with_suffix(".json").write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n")


def _some(embedding: Embedding, count: int) -> Ids:
    return np.sort(
        np.random.Generator(np.random.PCG64(5)).choice(
            len(embedding), min(count, len(embedding)), replace=False
        )
    )


def _of_shares(embedding: Embedding, ids: Ids, shares: Floats) -> dict[str, Any]:
    exposed = ids[shares > 0.5]
    return {
        "average": float(shares.mean()),
        "median": float(np.median(shares)),
        "p95": float(np.quantile(shares, 0.95)),
        "p99": float(np.quantile(shares, 0.99)),
        "worst": float(shares.max()),
        "words_above_half": len(exposed),
        "most_frequent_above_half": [embedding.words[i] for i in exposed[:_NAMED]],
    }


if __name__ == "__main__":
    main()
