"""The embeddings and the texts that every contestant gets, written once to a folder that the child processes
read."""

from __future__ import annotations

import bz2
import json
import lzma
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

GLOVE = Path("embeddings/glove.840B.300d.34k.w2v.txt.bz2")
REVIEWS = Path("datasets/imdb/imdb_50k.jsonl.xz")

JITTER = 0.05
"""Standard deviation of the noise on a copied coordinate, as a share of the standard deviation of all
coordinates."""

DESCRIPTION = (
    "GloVe 840B 300d (its 34k lower-case words, less the tokens with white space inside), enlarged with "
    "jittered copies: "
    f"each copy is a real vector plus Gaussian noise of {JITTER:.0%} of the coordinates' standard deviation."
)


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


def enlarge(words: list[str], vectors: Vectors, size: int, seed: int = 0) -> tuple[list[str], Vectors]:
    """Return ``size`` words and vectors: the given ones, then jittered copies named ``word~1``, ``word~2``
    and so on."""
    noise = np.random.default_rng(seed)
    spread = np.float32(JITTER * vectors.std())
    larger = np.empty((size, vectors.shape[1]), dtype=np.float32)
    names: list[str] = []
    generation = 0
    while len(names) < size:
        taken = min(size - len(names), len(words))
        block = larger[len(names) : len(names) + taken]
        block[:] = vectors[:taken]
        if generation:
            block += spread * noise.standard_normal(block.shape, dtype=np.float32)
        names += [f"{word}~{generation}" if generation else word for word in words[:taken]]
        generation += 1
    return names, larger


def review_texts(path: Path, vocabulary: Collection[str], words_per_text: int, count: int) -> list[str]:
    """Return ``count`` texts of exactly ``words_per_text`` words, cut from the reviews' words that the
    vocabulary holds.

    :raises ValueError: if the reviews hold too few words.
    """

    def words() -> Iterator[str]:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                text: str = json.loads(line)["text"]
                yield from (
                    word
                    for word in re.findall("[a-z]+", text.lower().replace("<br />", " "))
                    if word in vocabulary
                )

    texts: list[str] = []
    batch: list[str] = []
    for word in words():
        batch.append(word)
        if len(batch) == words_per_text:
            texts.append(" ".join(batch))
            batch = []
        if len(texts) == count:
            return texts
    raise ValueError(f"{path} gives {len(texts)} texts of {words_per_text} words, {count} were asked for")


def embedding_folder(folder: Path, size: int) -> Path:
    """Return the folder that holds the embedding of ``size`` words."""
    return folder / f"embedding-{size}"


def texts_file(folder: Path) -> Path:
    """Return the file that holds the texts, one a line."""
    return folder / "texts.txt"


def prepare(data: Path, folder: Path, sizes: Collection[int], words_per_text: int, text_count: int) -> None:
    """Write the embeddings of the given sizes and the texts to ``folder``."""
    words, vectors = read_glove(data / GLOVE)
    texts = review_texts(data / REVIEWS, frozenset(words[: min(sizes)]), words_per_text, text_count)
    texts_file(folder).write_text("\n".join(texts), encoding="utf-8")
    for size in sizes:
        names, larger = enlarge(words, vectors, size)
        target = embedding_folder(folder, size)
        target.mkdir()
        save_embedding(target, names, larger)


def save_embedding(folder: Path, words: list[str], vectors: Vectors) -> None:
    """Write words and vectors for ``load_embedding``."""
    (folder / "words.txt").write_text("\n".join(words), encoding="utf-8")
    np.save(folder / "vectors.npy", vectors)


def load_embedding(folder: Path) -> tuple[list[str], Vectors]:
    """Return the words and vectors that ``save_embedding`` wrote."""
    words = (folder / "words.txt").read_text(encoding="utf-8").split("\n")
    vectors: Vectors = np.load(folder / "vectors.npy")
    return words, vectors
