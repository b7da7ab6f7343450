"""dp-diffractor 0.2.1 (1-Diffractor): one list for each embedding, and one call to a pool of processes for
each word."""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.peers.contestant import Contestant
from benchmarks.peers.material import load_embedding

STOP_WORDS = ["a", "and", "of", "the", "to"]
"""A few of NLTK's English stop words: its own list has to be downloaded."""


class _StopWords:
    def words(self, _language: str) -> list[str]:
        return STOP_WORDS


def load(folder: Path, epsilon: float) -> Contestant:
    """Return it as it comes, with five lists, all of them made from the embedding in ``folder``."""
    # A worker takes the list of its number, and below a forked process that of the process: fewer lists than
    # those would hang.
    return _load(folder, epsilon, lists=5)


def load_one_list(folder: Path, epsilon: float) -> Contestant:
    """Return it with one list. With several, which worker is faster decides which list's noise a word
    gets."""
    return _load(folder, epsilon, lists=1)


def _load(folder: Path, epsilon: float, *, lists: int) -> Contestant:
    """Return it with its own seed, over the embedding in ``folder`` in place of those that it downloads.

    NLTK's tokeniser and stop words have to be downloaded too: here words are cut at white space.
    """
    nltk: Any = importlib.import_module("nltk")
    nltk.word_tokenize = str.split
    nltk.corpus.stopwords = _StopWords()
    core: Any = importlib.import_module("diffractor.core")
    words, vectors = load_embedding(folder)
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{value:.6g}' for value in vector.tolist())}\n")
        file.flush()
        core.ensure_embeddings = lambda _names: [file.name] * lists
        with contextlib.redirect_stdout(sys.stderr):
            mechanism = core.Diffractor(core.DiffractorConfig(epsilon=epsilon, verbose=False))

    def release(texts: list[str]) -> list[str]:
        private: list[str] = mechanism.rewrite(texts)
        return private

    return Contestant("none (a list)", release)
