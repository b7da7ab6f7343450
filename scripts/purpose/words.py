"""Measures what a map of the space does to single words: how many keep themselves, and what sample texts
become.

    python -m scripts.purpose.words docs/experiments/purpose.json -o docs/experiments/purpose-words.json

It takes the spaces of ``purpose.measure spaces`` and, from its results, the ε at which the attacker names 8
and 33 % of the words, where they were measured. N_w is the share of releases of a word that are the word
itself: a word without neighbours keeps itself at every ε.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from deniable import Embedding, Multivariate, Privatizer
from deniable.arrays import Floats
from deniable.lab.passages import Passages
from deniable.lab.perturbation import draw
from deniable.neighbours.threads import threads

SPACES = {
    "sst2": ("default", "glove-840b", "reduced-16", "sentiment-16-2", "sentiment-16-4"),
    "agnews": ("default", "glove-840b", "reduced-16", "topic-16-2", "topic-16-4"),
}
LEVELS = (0.08, 0.33)
SAMPLES = {
    "sst2": [
        "a warm and funny film with a splendid cast",
        "the plot is dull and the jokes are awful",
        "my doctor in Boston said that the treatment had failed",
    ],
    "agnews": [
        "the striker scored twice as the home side won the final",
        "shares of the software company fell after a weak quarter",
        "my doctor in Boston said that the treatment had failed",
    ],
}
WORDS_AT_ONCE = 4096


def main() -> None:
    """Measure every space at every level, and write after each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    results = json.loads(given.results.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = (
        json.loads(given.output.read_text(encoding="utf-8")) if given.output.exists() else []
    )
    done = {(each["data"], each["space"], each["level"]) for each in found}
    for data, spaces in SPACES.items():
        for space in spaces:
            for level in LEVELS:
                if (data, space, level) in done:
                    continue
                there = at_level(results, data, space, level)
                if there is None:
                    continue
                epsilon, named = there
                found.append(
                    measure(data, space, epsilon, given.draws) | {"level": level, "named": round(named, 4)}
                )
                given.output.write_text(
                    "[\n" + ",\n".join(json.dumps(each) for each in found) + "\n]\n", encoding="utf-8"
                )
                print(json.dumps(found[-1]), flush=True)


def at_level(
    results: list[dict[str, Any]], data: str, space: str, level: float
) -> tuple[float, float] | None:
    """Return the ε at which the attacker names this share of the words, and what it named of the releases;
    None if it was not measured."""
    for result in results:
        if (result["name"], result["embedding"]["name"], result["mechanism"], result["level"]) == (
            data,
            space,
            "multivariate",
            level,
        ):
            return result["epsilon"], mean(release["named"] for release in result["releases"])
    return None


def measure(data: str, space: str, epsilon: float, draws: int) -> dict[str, Any]:
    """Return how many words keep themselves in one space at one ε, which do most, and what the sample texts
    become."""
    embedding = Embedding.open(space)
    kept = share_kept(embedding, epsilon, draws)
    worst = np.argsort(-kept, kind="stable")[:10]
    privatizer = Privatizer(Multivariate(embedding, epsilon=epsilon))
    return {
        "data": data,
        "space": space,
        "epsilon": epsilon,
        "draws": draws,
        "words": len(embedding),
        "mean": round(float(kept.mean()), 4),
        "largest": round(float(kept.max()), 4),
        "above_half": round(float((kept > 0.5).mean()), 5),
        "worst": [embedding.words[i] for i in worst.tolist()],
        "samples": [[text, privatizer(text)] for text in SAMPLES[data]],
    }


def share_kept(embedding: Embedding, epsilon: float, draws: int) -> Floats:
    """Return for each word the share of its releases that are itself."""
    mechanism = Multivariate(embedding, epsilon=epsilon)
    kept = np.zeros(len(embedding))
    for first in range(0, len(embedding), WORDS_AT_ONCE):
        words = np.arange(first, min(first + WORDS_AT_ONCE, len(embedding)), dtype=np.int32)
        ids = np.repeat(words, draws)
        one = Passages(
            ids=ids, offsets=np.array([0, len(ids)], dtype=np.int64), drawn=np.ones(len(ids), dtype=np.bool_)
        )
        kept[words] = (draw(one, mechanism, threads=threads()).ids == ids).reshape(-1, draws).mean(axis=1)
    return kept


if __name__ == "__main__":
    main()
