"""Measure what a map of the space does to single words: how many keep themselves.

    python -m scripts.purpose.words          # writes docs/research/purpose-words.json

It takes the spaces of ``scripts.purpose.spaces`` and, from purpose.json, the ε at which the attacker names 8
and 33 % of the words, where they were measured. N_w is the share of releases of a word that are the word
itself: a word without neighbours keeps itself at every ε.
"""

from __future__ import annotations

from statistics import mean
from typing import Any

import numpy as np

from deniable import Embedding, Multivariate, SecureRandomness
from deniable.arrays import Floats
from scripts.pages import EXPERIMENTS, write_rows
from scripts.purpose.rows import PURPOSES, Result, key_of, read_results

LEVELS, DRAWS, WORDS_AT_ONCE = (0.08, 0.33), 50, 4096


def main() -> None:
    """Measure every space at every level."""
    results = {key_of(each): each for each in read_results()}
    measured = []
    for data in ("sst2", "agnews"):
        shaped = (f"{PURPOSES[data]}-16-{strength}" for strength in (2, 4))
        for space in ("default", "glove-840b", "reduced-16", *shaped):
            for level in LEVELS:
                if (result := results.get((data, space, "multivariate", level))) is not None:
                    measured.append(measure(data, space, level, result))
                    print(measured[-1], flush=True)
    write_rows(EXPERIMENTS / "purpose-words.json", measured)


def measure(data: str, space: str, level: float, result: Result) -> dict[str, Any]:
    """Return how many words keep themselves in one space at one ε, and which do most."""
    mechanism = Multivariate(Embedding.open(space), epsilon=result["epsilon"])
    kept, words = share_kept(mechanism), mechanism.embedding.words
    return {
        "data": data,
        "space": space,
        "epsilon": result["epsilon"],
        "draws": DRAWS,
        "words": len(words),
        "mean": round(float(kept.mean()), 4),
        "largest": round(float(kept.max()), 4),
        "above_half": round(float((kept > 0.5).mean()), 5),
        "worst": [words[i] for i in np.argsort(-kept, kind="stable")[:10].tolist()],
        "level": level,
        "named": round(mean(release["named"] for release in result["releases"]), 4),
    }


def share_kept(mechanism: Multivariate) -> Floats:
    """Return for each word the share of its releases that are itself."""
    kept, randomness = np.zeros(len(mechanism.embedding)), SecureRandomness()
    for words in np.array_split(np.arange(len(kept)), -(-len(kept) // WORDS_AT_ONCE)):
        ids = np.repeat(words, DRAWS)
        kept[words] = (mechanism.perturb(ids, randomness) == ids).reshape(-1, DRAWS).mean(axis=1)
    return kept


if __name__ == "__main__":
    main()
