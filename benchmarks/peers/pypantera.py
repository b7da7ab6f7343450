"""pyPANTERA 1.0.2: one text at a time, all distances of a text as one array of words x vocabulary x
dimension."""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path

from benchmarks.peers.contestant import Contestant
from benchmarks.peers.material import load_embedding


def load(folder: Path, epsilon: float) -> Contestant:
    """Return its CMP mechanism; it takes an embedding only as a text file without a header line."""
    # The wheel installs its package under the name ``src``.
    cmp = importlib.import_module("src.EmbeddingPerturbationMechanism.cmp").CMP
    pandas = importlib.import_module("pandas")
    words, vectors = load_embedding(folder)
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{value:.6g}' for value in vector.tolist())}\n")
        file.flush()
        mechanism = cmp({"embPath": file.name, "epsilon": epsilon})

    def release(texts: list[str]) -> list[str]:
        # A new frame for each call: it renames the columns of the frame it gets and turns the texts into
        # lists.
        frame = pandas.DataFrame({"id": range(len(texts)), "text": texts})
        return [versions[0] for versions in mechanism.obfuscateText(frame, 1)["obfuscatedText"]]

    return Contestant("exact (NumPy)", release)
