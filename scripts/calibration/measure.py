"""Look at every word of a large embedding once, and keep what docs/research/calibration.md says of it.

    python -m scripts.calibration.measure glove-6b-50d --epsilon 3 --epsilon 5 --sample 20000 \\
        --title "GloVe 6B, 50 dimensions" --machine "2 cores" --claim 5 -o calibration-50d.json

N_w of all words at every ε comes from the first breakpoints, S_w and the distinct words of a random sample
from whole walks; ``--only`` looks at some random words instead of all. Added are what example words become,
the largest ε that all words bear and, with ``--claim ε``, the words that are returned in more than half of
the draws at this ε or give fewer than 300 distinct words: how many, which, why, and whether protection
(guarantee.md, rule 10) helps. An interrupted run goes on where it was.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding
from deniable.arrays import Floats, Ids
from deniable.calibration.by_rays import RayCalibration, measure_by_rays
from deniable.calibration.calibration import public_sample
from deniable.calibration.choice import Targets, choose, protect
from deniable.calibration.result import row_at
from deniable.channel.outputs import output_distribution
from deniable.channel.rays.statistics import average_unchanged, unchanged
from deniable.interfaces import Mechanism
from deniable.neighbours import best_neighbours
from deniable.neighbours.threads import threads
from deniable.progress import Progress
from scripts.pages import options_of

MOST_UNCHANGED, FEWEST_DISTINCT = 0.5, 0.3
"""The paper's sentence: no word is returned more than 500 times in 1,000, none yields fewer than 300 distinct
words."""

SUSPECT = 0.3
"""Distinct words are counted for every word that stays itself more often; of the others the random sample
speaks."""

NAMED = 15
WORDS, AVERAGES, LIKELIEST = ("encryption", "hockey", "spacecraft"), (0.05, 0.1, 0.2, 0.3), 8
_SPREAD_WORDS, _WORDS_AT_ONCE = 2048, 4096


def main() -> None:
    """Measure, and write the file."""
    parser = options_of(__doc__)
    parser.add_argument("embedding", help="the name of an installed embedding")
    parser.add_argument("--epsilon", type=float, action="append", required=True)
    parser.add_argument("--rays", type=int, default=1000)
    parser.add_argument("--sample", type=int, default=20_000, help="how many words S_w is measured for")
    parser.add_argument("--only", type=int, help="measure N_w of this many random words only")
    parser.add_argument("--title", required=True)
    parser.add_argument("--machine", required=True, help="what it is measured on, in words")
    parser.add_argument("--claim", type=float, help="hold the paper's sentence against this ε")
    parser.add_argument("--output", "-o", type=Path, required=True)
    options = parser.parse_args()
    embedding, epsilons = Embedding.open(options.embedding), np.array(sorted(options.epsilon))
    seconds: dict[str, float] = {}
    with _timed(embedding, "N_w", seconds) as progress:
        chosen = None if options.only is None else public_sample(len(embedding), options.only, seed=5)
        whole = measure_by_rays(embedding, rays=options.rays, ids=chosen, report=progress.report)
    ids, shares = unchanged_of(whole, epsilons)
    with _timed(embedding, "S_w", seconds) as progress:
        sample = measure_by_rays(
            embedding,
            rays=options.rays,
            ids=public_sample(ids, options.sample, seed=4),
            epsilons=epsilons,
            support=True,
            report=progress.report,
        )
    some = measure_by_rays(embedding, rays=options.rays, ids=_spread(ids))
    content: dict[str, Any] = {
        "title": options.title,
        "words": len(embedding),
        "words_measured": len(ids),
        "dimension": embedding.dimension,
        "fingerprint": embedding.fingerprint,
        "rays": options.rays,
        "sampled_words": len(sample.ids),
        "machine": options.machine,
        "threads": threads(),
        "seconds_for_n_w": seconds["N_w"],
        "seconds_for_s_w_of_the_sample": seconds["S_w"],
        "largest_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "table": [table_row(whole, sample, epsilon) for epsilon in epsilons.tolist()],
        "outputs": outputs_of(some),
        "all_words": largest_for_all(embedding, shares, some) if options.only is None else None,
    }
    if options.claim is not None:
        place = int(np.flatnonzero(epsilons == options.claim)[0])
        content["claim"] = claim(embedding, place, epsilons, ids, shares[:, place], sample)
    lines = [f"{json.dumps(key)}: {_compact(value)}" for key, value in content.items()]
    options.output.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


@contextmanager
def _timed(embedding: Embedding, what: str, seconds: dict[str, float]) -> Iterator[Progress]:
    started = time.monotonic()
    with Progress(f"{what} of {embedding.name}", unit="words") as progress:
        yield progress
    seconds[what] = round(time.monotonic() - started, 1)


def unchanged_of(whole: RayCalibration, epsilons: Floats) -> tuple[Ids, Floats]:
    """Return the words in their order, and N_w of each, a column for each ε."""
    order = np.argsort(whole.ids)
    parts = [
        unchanged(np.asarray(whole.radii[part]), epsilons, whole.length)[0]
        for part in np.array_split(order, -(-len(order) // _WORDS_AT_ONCE))
    ]
    return np.asarray(whole.ids)[order], np.concatenate(parts)


def table_row(whole: RayCalibration, sample: RayCalibration, epsilon: float) -> dict[str, Any]:
    """Return the row of one ε."""
    row, spread = row_at(whole, epsilon), sample.spread_at(epsilon)
    assert spread is not None
    distinct, (median, p95, p99, worst) = spread["distinct"], row.quantiles
    return {
        "average": row.average,
        "median": median,
        "p95": p95,
        "p99": p99,
        "worst": worst,
        "words_above_half": row.words_above_half,
        "epsilon": epsilon,
        "average_distinct": float(distinct.mean()),
        "fewest_distinct": int(distinct.min()),
        "words_below_300_distinct": int((distinct < 300).sum()),
        "average_support": float(spread["support"].mean()),
        "error_of_average": row.error,
    }


def largest_for_all(embedding: Embedding, shares: Floats, some: RayCalibration) -> dict[str, float]:
    """Return the largest ε at which no word stays itself in more than half of the cases, to five digits.

    N_w grows with ε. So only words that stay more often at the first measured ε where any does have to be
    looked at again.
    """
    first = int(np.argmax((shares > MOST_UNCHANGED).any(axis=0)))
    worst = np.flatnonzero(shares[:, first] > MOST_UNCHANGED)
    again = measure_by_rays(embedding, rays=some.draws, ids=worst, keep=False)
    choice = choose(again, Targets(max_unchanged=MOST_UNCHANGED))
    return {
        "epsilon": choice.epsilon,
        "worst": float(choice.unchanged.max()),
        "average": average_unchanged(some.radii, choice.epsilon, some.length)[0],
        "words_looked_at": len(worst),
    }


def claim(
    embedding: Embedding, place: int, epsilons: Floats, ids: Ids, shares: Floats, sample: RayCalibration
) -> dict[str, Any]:
    """Return how the paper's sentence fares at one ε; ``shares`` are the N_w of the measured words there."""
    epsilon, rays = float(epsilons[place]), sample.draws
    suspects, fewest = ids[shares > SUSPECT], int(FEWEST_DISTINCT * rays)
    looked_at = _at(embedding, epsilon, suspects, rays)
    stays, distinct = np.zeros(len(embedding)), np.full(len(embedding), rays)
    assert looked_at.distinct is not None
    assert sample.distinct is not None
    stays[looked_at.ids], distinct[looked_at.ids] = looked_at.unchanged(epsilon)[0], looked_at.distinct[:, 0]
    too_often, too_few = stays > MOST_UNCHANGED, distinct < fewest
    exposed = np.flatnonzero(too_often | too_few)
    others = sample.distinct[shares[np.searchsorted(ids, sample.ids)] <= SUSPECT, place]
    ranks = [up_to for up_to in (100, 1_000, 10_000, 100_000) if up_to < len(embedding)]

    def describe(words: Ids) -> list[dict[str, Any]]:
        numbers = zip(words.tolist(), _nearest(embedding, words), _norms(embedding, words), strict=True)
        return [
            {
                "word": embedding.words[i],
                "rank": i + 1,
                "unchanged": float(stays[i]),
                "distinct": int(distinct[i]),
                "nearest_at": float(near),
                "norm": float(norm),
            }
            for i, near, norm in numbers
        ]

    return {
        "epsilon": epsilon,
        "above_half": int(too_often.sum()),
        "too_few_distinct": int(too_few.sum()),
        "either": len(exposed),
        "unchanged_in_999_of_1000": int((stays >= 0.999).sum()),
        "suspect_above": SUSPECT,
        "suspects": len(suspects),
        "sampled_others": len(others),
        "sampled_others_with_too_few": int((others < fewest).sum()),
        "fewest_distinct_of_sampled_others": int(others.min()),
        "by_rank": [
            {"up_to": up_to, "words": int((exposed < up_to).sum())} for up_to in (*ranks, len(embedding))
        ],
        "frequent": describe(exposed[:NAMED]),
        "worst": describe(np.lexsort((distinct, -stays))[:NAMED]),
        "why": why(embedding, exposed),
        "protected": protected(embedding, exposed, epsilon, rays),
    }


def why(embedding: Embedding, exposed: Ids) -> dict[str, dict[str, float]]:
    """Return the median norm and distance to the nearest word, of the exposed words and of words spread
    evenly."""
    others = np.setdiff1d(_spread(np.arange(len(embedding))), exposed)
    return {
        name: {
            "norm": float(np.median(_norms(embedding, ids))),
            "nearest_at": float(np.median(_nearest(embedding, ids))),
        }
        for name, ids in (("exposed", exposed), ("others", others))
    }


def protected(embedding: Embedding, exposed: Ids, epsilon: float, rays: int) -> dict[str, Any]:
    """Return what the exposed words have once others stand in for them; everything else is as it was.

    Not every word was measured: a word that was to stand in and is exposed itself is protected too.
    """
    known = exposed
    while True:
        safe = protect(embedding, known)
        after = _at(safe, epsilon, exposed, rays)
        assert after.distinct is not None
        stays, distinct = after.unchanged_or_stand_in(epsilon), after.distinct[:, 0]
        missed = after.ids[(stays > MOST_UNCHANGED) | (distinct < int(FEWEST_DISTINCT * rays))]
        if not len(missed):
            break
        known = np.union1d(known, safe.stands_in(missed))
    return {
        "words": len(exposed),
        "found_on_the_way": len(known) - len(exposed),
        "largest_unchanged": float(stays.max()),
        "fewest_distinct": int(distinct.min()),
        "largest_released_as_itself": float(after.protected_unchanged(epsilon).means.max()),
    }


def _at(embedding: Embedding, epsilon: float, ids: Ids, rays: int) -> RayCalibration:
    return measure_by_rays(
        embedding, rays=rays, ids=ids, epsilons=np.array([epsilon]), support=True, keep=False
    )


def _spread(ids: Ids) -> Ids:
    """Return some of the words, evenly."""
    return ids[np.unique(np.linspace(0, len(ids) - 1, min(_SPREAD_WORDS, len(ids))).astype(np.int64))]


def _norms(embedding: Embedding, ids: Ids) -> Floats:
    norms: Floats = np.linalg.norm(embedding.vectors[ids].astype(np.float64), axis=1)
    return norms


def _nearest(embedding: Embedding, ids: Ids) -> Floats:
    nearest: Floats = best_neighbours(embedding).nearest_k(embedding.rows(ids), 2)[1][:, 1]
    return nearest


def outputs_of(calibration: RayCalibration) -> dict[str, Any]:
    """Return what example words become, where the average word stays 50 to 300 times in 1,000."""
    embedding = calibration.embedding
    words = [word for word in WORDS if word in embedding.index]
    epsilons = [calibration.epsilon_reaching(average) for average in AVERAGES]
    return {
        "words": words,
        "epsilons": epsilons,
        "averages": [calibration.average(epsilon)[0] for epsilon in epsilons],
        "rows": [
            [
                _output(calibration.mechanism(embedding, epsilon=epsilon), word, calibration.draws)
                for word in words
            ]
            for epsilon in epsilons
        ],
    }


def _output(mechanism: Mechanism, word: str, draws: int) -> dict[str, Any]:
    """Return N_w and S_w of a word, and the likeliest other words with their probabilities."""
    embedding = mechanism.embedding
    found = output_distribution(mechanism, embedding.index[word], draws=draws)
    shares = list(zip((embedding.words[i] for i in found.words), found.probabilities.tolist(), strict=True))
    return {
        "word": word,
        "epsilon": mechanism.epsilon,
        "unchanged": sum(p for other, p in shares if other == word),
        "support": found.support(),
        "others": [pair for pair in shares if pair[0] != word][:LIKELIEST],
    }


def _compact(value: Any) -> str:
    """Return JSON with five digits, and a line for each ε of a table."""
    rounded = json.loads(json.dumps(value), parse_float=lambda text: float(f"{float(text):.5g}"))
    text = json.dumps(rounded, ensure_ascii=False, separators=(",", ":"))
    return text.replace('},{"average"', '},\n{"average"')


if __name__ == "__main__":
    main()
