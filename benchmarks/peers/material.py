"""The embeddings and the texts that every contestant gets, written once to a folder that the child processes
read."""

from __future__ import annotations

import bz2
import json
import lzma
import re
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
GLOVE = Path("embeddings/glove.840B.300d.34k.w2v.txt.bz2")
REVIEWS = Path("datasets/imdb/imdb_50k.jsonl.xz")
JITTER = 0.05
"""Standard deviation of the noise on a copied coordinate, as a share of the standard deviation of all
coordinates."""


def read_glove(path: Path) -> tuple[list[str], Vectors]:
    """Return the words and vectors of a bzip2 word2vec text file.

    Words with white space inside (GloVe 840B has a few with a no-break space) are left out, because
    pyPANTERA's loader stops at them.
    """
    with bz2.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        count, dimension = map(int, next(lines).split())
        words: list[str] = []
        vectors = np.empty((count, dimension), dtype=np.float32)
        for line in lines:
            word, *values = line.rstrip("\n").split(" ")
            if len(word.split()) == 1:
                vectors[len(words)] = values
                words.append(word)
    return words, vectors[: len(words)]


def enlarge(words: list[str], vectors: Vectors, size: int) -> tuple[list[str], Vectors]:
    """Return ``size`` words and vectors: the given ones, then jittered copies named ``word~1``, ``word~2``
    and so on."""
    random, spread = np.random.default_rng(0), np.float32(JITTER * vectors.std())
    larger, names = np.empty((size, vectors.shape[1]), dtype=np.float32), list[str]()
    for generation in range(-(-size // len(words))):
        block = larger[len(names) : len(names) + len(words)]
        block[:] = vectors[: len(block)]
        if generation:
            block += spread * random.standard_normal(block.shape, dtype=np.float32)
        names += [f"{word}~{generation}" if generation else word for word in words[: len(block)]]
    return names, larger


def embedding_of(vectors: Vectors) -> Any:
    """Return an embedding of made names, without checks: copies with jitter hold no two equal vectors."""
    from deniable import Embedding

    words, none = [str(i) for i in range(len(vectors))], np.empty(0, dtype=np.int64)
    known: dict[str, Any] = {"fingerprint": "", "shadowed": none, "cased": False}
    return Embedding.from_checked(words, vectors, vectors[:1000].mean(axis=0), name="benchmark", **known)


def review_words(path: Path, vocabulary: Collection[str]) -> Iterator[str]:
    """Yield the words of film reviews that the vocabulary holds."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            text: str = json.loads(line)["text"]
            words = re.findall("[a-z]+", text.lower().replace("<br />", " "))
            yield from (word for word in words if word in vocabulary)


def prepare(data: Path, folder: Path, sizes: Collection[int], words_per_text: int, texts: int) -> None:
    """Write the embeddings of the given sizes, and texts of film reviews, one a line."""
    words, vectors = read_glove(data / GLOVE)
    running = review_words(data / REVIEWS, frozenset(words[: min(sizes)]))
    lines = [" ".join(islice(running, words_per_text)) for _ in range(texts)]
    (folder / "texts.txt").write_text("\n".join(lines), encoding="utf-8")
    for size in sizes:
        names, larger = enlarge(words, vectors, size)
        target = folder / f"embedding-{size}"
        target.mkdir()
        (target / "words.txt").write_text("\n".join(names), encoding="utf-8")
        np.save(target / "vectors.npy", larger)


def load_embedding(folder: Path) -> tuple[list[str], Vectors]:
    """Return the words and vectors that ``prepare`` wrote."""
    words = (folder / "words.txt").read_text(encoding="utf-8").split("\n")
    vectors: Vectors = np.load(folder / "vectors.npy")
    return words, vectors
