"""Counts what the mechanisms of mldp-text and pyPANTERA release for a word. Run by agreement.py in the
environment of the peers.

``python -m benchmarks.peers.distributions FOLDER EPSILON DRAWS`` writes the counts as JSON to standard
output.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers.material import load_embedding

LAM = 0.8
"""A strong shape, so that noise of another shape shows."""

TEM_EPSILON = 10.0
"""So large that some words lie beyond γ, where TEM treats all words alike."""

Release = Callable[[str, int], list[str]]
"""Given a word and a number of draws, return the words released."""


def of_mldp_text(folder: Path, epsilon: float) -> dict[str, Release]:
    """Return its mechanisms with the exact search."""
    words, vectors = load_embedding(folder)
    embedding = importlib.import_module("gensim.models").KeyedVectors(vectors.shape[1])
    embedding.add_vectors(words, vectors)
    package = importlib.import_module("mldp_text")
    common: dict[str, Any] = {"embedding_matrix": embedding, "dim": vectors.shape[1], "use_faiss": False}
    made = {
        "multivariate": package.MultivariateCalibrated(epsilon, **common),
        "mahalanobis": package.Mahalanobis(epsilon, lambd=LAM, **common),
        "vickrey": package.VickreyMechanism(epsilon, **common),
        "tem": package.TEM(TEM_EPSILON, **common),
    }
    return {name: _one_by_one(mechanism.replace_word) for name, mechanism in made.items()}


def of_pypantera(folder: Path, epsilon: float) -> dict[str, Release]:
    """Return its mechanisms; the wheel installs its package under the name ``src``."""
    words, vectors = load_embedding(folder)
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(repr(value) for value in vector.tolist())}\n")
        file.flush()
        base = {"embPath": file.name, "epsilon": epsilon}
        by_noise, by_sampling = "src.EmbeddingPerturbationMechanism", "src.SamplingPerturbationMechanism"
        made = {
            "multivariate": importlib.import_module(f"{by_noise}.cmp").CMP(base),
            "mahalanobis": importlib.import_module(f"{by_noise}.mahalanobis").Mahalanobis(
                {**base, "lam": LAM}
            ),
            "vickrey": importlib.import_module(f"{by_noise}.vickrey").VickreyCMP({**base, "t": 0.75}),
            "santext": importlib.import_module(f"{by_sampling}.santext").SanText(base),
            "tem": importlib.import_module(f"{by_sampling}.tem").TEM(
                {**base, "epsilon": TEM_EPSILON, "beta": 0.001}
            ),
            "custext": importlib.import_module(f"{by_sampling}.custext").CusText(
                {**base, "k": 20, "distance": "euclidean"}
            ),
        }
    if any(len(mechanism.vocab.embeddings) != len(words) for mechanism in made.values()):
        raise RuntimeError("pyPANTERA's loader lost a word at a chunk boundary; change the number of words")
    return {name: _as_text(mechanism) for name, mechanism in made.items()}


def _one_by_one(replace: Callable[[str], str]) -> Release:
    return lambda word, draws: [replace(word) for _ in range(draws)]


def _as_text(mechanism: Any) -> Release:
    pandas = importlib.import_module("pandas")

    def release(word: str, draws: int) -> list[str]:
        frame = pandas.DataFrame(
            {"id": range(draws // 100), "text": [" ".join([word] * 100)] * (draws // 100)}
        )
        return [
            one
            for versions in mechanism.obfuscateText(frame, 1)["obfuscatedText"]
            for one in versions[0].split(" ")
        ]

    return release


def main(folder: Path, epsilon: float, draws: int) -> None:
    """Write the counts of every mechanism and word."""
    words = load_embedding(folder)[0][:3]
    counts = {}
    with contextlib.redirect_stdout(sys.stderr):
        for peer, load in (("mldp-text", of_mldp_text), ("pyPANTERA", of_pypantera)):
            for name, release in load(folder, epsilon).items():
                counts[f"{peer} {name}"] = {word: dict(Counter(release(word, draws))) for word in words}
                print(f"{peer} {name}", file=sys.stderr, flush=True)
    print(json.dumps(counts))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
