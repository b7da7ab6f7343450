"""Look closer at what scripts/calibration/measure.py found, and keep what docs/experiments/calibration.md
says of it.

    python -m scripts.calibration.examine glove-6b-50d found.npz --title "GloVe 6B, 50 dimensions" --claim 5
    -o calibration-50d.json

The values of all words become histograms. Added are what example words become, the largest ε that all words
bear and, with ``--claim ε``, the words that are returned in more than half of the draws at this ε or give
fewer than 300 distinct words: how many, which, why, and whether protection (guarantee.md, rule 10) mends it.
Everything written is small enough to be committed.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding, Multivariate
from deniable.arrays import Floats, Ids
from deniable.calibration.by_rays import RayCalibration, measure_by_rays, measure_protected
from deniable.calibration.choice import choose
from deniable.calibration.protection import protect
from deniable.calibration.report.examples import sample_outputs
from deniable.calibration.result import Targets
from deniable.channel.rays.statistics import average_unchanged
from deniable.mechanisms.base import radial_noise
from deniable.neighbours import best_neighbours

MOST_UNCHANGED, FEWEST_DISTINCT = 0.5, 300
"""The paper's sentence: no word is returned more than 500 times in 1,000, none yields fewer than 300 distinct
words."""

SUSPECT = 0.3
"""Distinct words are counted for every word that stays itself more often; of the others the random sample
speaks."""

BINS = 25
_SPREAD_WORDS = 2048
_NAMED = 15


def main() -> None:
    """Examine, and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("embedding", help="the name of an installed embedding")
    parser.add_argument("found", type=Path, help="the .npz of measure.py; its .json lies beside it")
    parser.add_argument("--title", required=True)
    parser.add_argument("--machine", required=True, help="what it was measured on, in words")
    parser.add_argument(
        "--claim", type=float, help="hold the paper's sentence against this ε, one of those measured"
    )
    parser.add_argument("--output", "-o", type=Path, required=True)
    options = parser.parse_args()
    embedding = Embedding.open(options.embedding)
    summary: dict[str, Any] = json.loads(options.found.with_suffix(".json").read_text(encoding="utf-8"))
    values = np.load(options.found, allow_pickle=False)
    if summary["words"] != len(embedding):
        raise SystemExit(
            f"{options.found} is of {summary['words']:,} words, {options.embedding} has {len(embedding):,}"
        )
    measured = values["measured"] if "measured" in values else np.arange(len(embedding))
    some = measure_by_rays(embedding, rays=summary["rays"], ids=_spread(measured))
    content: dict[str, Any] = {
        "title": options.title,
        "words": len(embedding),
        "words_measured": len(measured),
        "dimension": embedding.dimension,
        "fingerprint": embedding.fingerprint,
        "rays": summary["rays"],
        "sampled_words": summary["sampled_words"],
        "machine": options.machine,
        "threads": summary["threads"],
        "seconds_for_n_w": summary["seconds_for_n_w"],
        "seconds_for_s_w_of_the_sample": summary["seconds_for_s_w_of_the_sample"],
        "largest_memory_bytes": summary["largest_memory_bytes"],
        "table": _table(summary, values, some),
        "outputs": asdict(sample_outputs(some)),
        "all_words": _largest_for_all(embedding, values["n_w"], some)
        if len(measured) == len(embedding)
        else None,
    }
    if options.claim is not None:
        content["claim"] = _claim(embedding, options.claim, measured, values, summary["rays"])
    lines = [f"{json.dumps(key)}: {_compact(value)}" for key, value in content.items()]
    options.output.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


def _compact(value: Any) -> str:
    """Return JSON with five digits, and a line for each ε of a table."""
    rounded = json.loads(json.dumps(value), parse_float=lambda text: float(f"{float(text):.5g}"))
    return json.dumps(rounded, ensure_ascii=False, separators=(",", ":")).replace(
        '},{"average"', '},\n{"average"'
    )


def _spread(ids: Ids) -> Ids:
    """Return some of the words, evenly."""
    return ids[np.unique(np.linspace(0, len(ids) - 1, min(_SPREAD_WORDS, len(ids))).astype(np.int64))]


def _table(summary: dict[str, Any], values: Any, some: RayCalibration) -> list[dict[str, Any]]:
    """Return a row per ε: the numbers, and how many words fall into each bin of N_w, S_w and distinct
    words."""
    rows = []
    for place, (stays, spreads) in enumerate(zip(summary["n_w"], summary["s_w"], strict=True)):
        row = {key: value for key, value in (stays | spreads).items() if key != "most_frequent_above_half"}
        row["error_of_average"] = average_unchanged(some.radii, stays["epsilon"], some.length)[1]
        row["histograms"] = {
            "n_w": np.histogram(values["n_w"][:, place].astype(np.float64), bins=BINS, range=(0.0, 1.0))[
                0
            ].tolist(),
            "distinct": np.histogram(values["distinct"][:, place], bins=BINS, range=(0.0, summary["rays"]))[
                0
            ].tolist(),
            "support": np.histogram(
                values["support"][:, place], bins=BINS, range=(0.0, float(values["support"].max()))
            )[0].tolist(),
            "largest_support": int(values["support"].max()),
        }
        rows.append(row)
    return rows


def _largest_for_all(embedding: Embedding, shares: Any, some: RayCalibration) -> dict[str, float]:
    """Return the largest ε at which no word stays itself in more than half of the cases, to five digits.

    N_w grows with ε. So only words that stay more often at the first measured ε where any does have to be
    looked at again.
    """
    first = int(np.argmax((shares > MOST_UNCHANGED).any(axis=0)))
    worst = np.flatnonzero(shares[:, first] > MOST_UNCHANGED - 0.01)  # they were rounded
    found = choose(
        measure_by_rays(embedding, rays=some.draws, ids=worst, keep=False),
        Targets(max_unchanged=MOST_UNCHANGED),
    )
    average, _ = average_unchanged(some.radii, found.epsilon, some.length)
    return {
        "epsilon": found.epsilon,
        "worst": float(found.unchanged.max()),
        "average": average,
        "words_looked_at": len(worst),
    }


def _claim(embedding: Embedding, epsilon: float, measured: Ids, values: Any, rays: int) -> dict[str, Any]:
    """Return how the paper's sentence fares at this ε."""
    place = int(np.flatnonzero(values["epsilons"] == epsilon)[0])
    shares, fewest = values["n_w"][:, place].astype(np.float64), FEWEST_DISTINCT * rays // 1000
    suspects = measured[shares > SUSPECT]
    found = measure_by_rays(
        embedding, rays=rays, ids=suspects, epsilons=np.array([epsilon]), support=True, keep=False
    )
    unchanged, distinct = np.zeros(len(embedding)), np.full(len(embedding), rays)
    assert found.distinct is not None
    unchanged[found.ids], distinct[found.ids] = found.unchanged(epsilon)[0], found.distinct[:, 0]
    too_often, too_few = unchanged > MOST_UNCHANGED, distinct < fewest
    exposed = np.flatnonzero(too_often | too_few)
    calm = shares[np.searchsorted(measured, values["ids"])] <= SUSPECT
    sampled = values["distinct"][calm, place]
    return {
        "epsilon": epsilon,
        "above_half": int(too_often.sum()),
        "too_few_distinct": int(too_few.sum()),
        "either": len(exposed),
        "unchanged_in_999_of_1000": int((unchanged >= 0.999).sum()),
        "suspect_above": SUSPECT,
        "suspects": len(suspects),
        "sampled_others": int(calm.sum()),
        "sampled_others_with_too_few": int((sampled < fewest).sum()),
        "fewest_distinct_of_sampled_others": int(sampled.min()),
        "by_rank": [
            {"up_to": up_to, "words": int((exposed < up_to).sum())}
            for up_to in (100, 1_000, 10_000, 100_000, len(embedding))
            if up_to <= len(embedding)
        ],
        "frequent": _describe(embedding, exposed[:_NAMED], unchanged, distinct),
        "worst": _describe(embedding, np.lexsort((distinct, -unchanged))[:_NAMED], unchanged, distinct),
        "why": _why(embedding, exposed),
        "protected": _protected(embedding, exposed, epsilon, rays),
    }


def _describe(embedding: Embedding, ids: Ids, unchanged: Floats, distinct: Ids) -> list[dict[str, Any]]:
    return [
        {
            "word": embedding.words[i],
            "rank": int(i) + 1,
            "unchanged": float(unchanged[i]),
            "distinct": int(distinct[i]),
            "nearest_at": float(near),
            "norm": float(norm),
        }
        for i, near, norm in zip(ids, _nearest(embedding, ids), _norms(embedding, ids), strict=True)
    ]


def _why(embedding: Embedding, exposed: Ids) -> dict[str, dict[str, float]]:
    """Return the median norm and distance to the nearest word, of the exposed words and of words spread
    evenly."""
    spread = np.setdiff1d(_spread(np.arange(len(embedding))), exposed)
    return {
        name: {
            "norm": float(np.median(_norms(embedding, ids))),
            "nearest_at": float(np.median(_nearest(embedding, ids))),
        }
        for name, ids in (("exposed", exposed), ("others", spread))
    }


def _norms(embedding: Embedding, ids: Ids) -> Floats:
    norms: Floats = np.linalg.norm(embedding.vectors[ids].astype(np.float64), axis=1)
    return norms


def _nearest(embedding: Embedding, ids: Ids) -> Floats:
    _, distances = best_neighbours(embedding).nearest_k(embedding.rows(ids), 2)
    nearest: Floats = distances[:, 1]
    return nearest


def _protected(embedding: Embedding, exposed: Ids, epsilon: float, rays: int) -> dict[str, Any]:
    """Return what the exposed words have once others stand in for them; everything else is as it was.

    Not every word was measured: a word that was to stand in and is exposed itself is protected too.
    """
    fewest, known = FEWEST_DISTINCT * rays // 1000, exposed
    while True:
        safe = protect(embedding, known)
        after = measure_by_rays(
            safe, rays=rays, ids=exposed, epsilons=np.array([epsilon]), support=True, keep=False
        )
        assert after.distinct is not None
        unchanged, distinct = after.unchanged_or_stand_in(epsilon), after.distinct[:, 0]
        missed = after.ids[(unchanged > MOST_UNCHANGED) | (distinct < fewest)]
        if not len(missed):
            break
        known = np.union1d(known, safe.stands_in(missed))
    noise = radial_noise(Multivariate(safe, epsilon=epsilon))
    assert noise is not None  # the paper's mechanism has it
    return {
        "words": len(exposed),
        "found_on_the_way": len(known) - len(exposed),
        "largest_unchanged": float(unchanged.max()),
        "fewest_distinct": int(distinct.min()),
        "largest_released_as_itself": float(
            measure_protected(safe, noise, exposed, [epsilon], rays=rays)[epsilon].means.max()
        ),
    }


if __name__ == "__main__":
    main()
