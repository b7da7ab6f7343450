"""The child process of one contestant: load it once, then time releases on request.

The parent writes one number of texts a line; the child answers with one JSON object a line. A process of its
own keeps the contestants' memory, crashes and libraries apart, and staying alive between rounds lets the
parent alternate them.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.peers.material import load_embedding

Release = Callable[[list[str]], list[str]]


def deniable(folder: Path, epsilon: float) -> tuple[str, Release]:
    """Return the paper's mechanism of deniable, through its public interface."""
    from deniable import Embedding, Multivariate, Privatizer

    mechanism = Multivariate(Embedding(*load_embedding(folder)), epsilon=epsilon)
    private = Privatizer(mechanism)
    search = f"exact ({type(mechanism.neighbours).__name__})"
    return search, lambda texts: [text for text in private.many(texts) if text is not None]


def mldp_text(folder: Path, epsilon: float, *, use_faiss: bool = True) -> tuple[str, Release]:
    """Return mldp-text 0.1.2: one word at a time, FAISS ``IndexIVFFlat`` (50 of 100 lists) by default."""
    words, vectors = load_embedding(folder)
    embedding = importlib.import_module("gensim.models").KeyedVectors(vectors.shape[1])
    embedding.add_vectors(words, vectors)
    mechanism = importlib.import_module("mldp_text").MultivariateCalibrated(
        epsilon, embedding_matrix=embedding, dim=vectors.shape[1], use_faiss=use_faiss
    )

    def release(texts: list[str]) -> list[str]:
        return [" ".join(mechanism.replace_word(word) for word in text.split(" ")) for text in texts]

    return "approximate (FAISS IVF)" if use_faiss else "exact (NumPy)", release


def pypantera(folder: Path, epsilon: float) -> tuple[str, Release]:
    """Return pyPANTERA 1.0.2: one text at a time, all distances of a text as one array.

    Its wheel installs the package under the name ``src``; it takes an embedding only as a text file without a
    header line.
    """
    mechanism_class = importlib.import_module("src.EmbeddingPerturbationMechanism.cmp").CMP
    pandas = importlib.import_module("pandas")
    words, vectors = load_embedding(folder)
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{value:.6g}' for value in vector.tolist())}\n")
        file.flush()
        mechanism = mechanism_class({"embPath": file.name, "epsilon": epsilon})

    def release(texts: list[str]) -> list[str]:
        # A new frame for each call: it renames the columns of its frame and turns the texts into lists.
        frame = pandas.DataFrame({"id": range(len(texts)), "text": texts})
        return [versions[0] for versions in mechanism.obfuscateText(frame, 1)["obfuscatedText"]]

    return "exact (NumPy)", release


CONTESTANTS: dict[str, Callable[[Path, float], tuple[str, Release]]] = {
    "deniable": deniable,
    "mldp-text": mldp_text,
    "mldp-text-exact": lambda folder, epsilon: mldp_text(folder, epsilon, use_faiss=False),
    "pypantera": pypantera,
}


def peak_memory() -> int:
    """Return the most bytes that this process held.

    ``getrusage`` also counts what the parent held before this program began, so the process's own mark is
    read where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"^VmHWM:\s*(\d+) kB$", status.read_text(), re.MULTILINE)[0]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure(release: Release, texts: list[str]) -> dict[str, float]:
    """Release the texts and return the seconds it took, the words, the share that stayed, and the peak
    memory.

    :raises ValueError: if the release does not hold as many words as the texts.
    """
    began = time.perf_counter()
    released = release(texts)
    seconds = time.perf_counter() - began
    before, after = ([word for text in each for word in text.split(" ")] for each in (texts, released))
    if len(before) != len(after):
        raise ValueError(f"{len(before)} words went in, {len(after)} came out")
    # A jittered copy counts as the word itself, so that the share can be compared between vocabulary sizes.
    same = sum(a == b.partition("~")[0] for a, b in zip(before, after, strict=True)) / len(before)
    return {"seconds": seconds, "words": len(before), "unchanged": same, "peak_mb": peak_memory() / 1e6}


def main(name: str, folder: Path, epsilon: float) -> None:
    """Load the contestant and answer the parent's requests until it closes the pipe."""
    # What a library prints goes to stderr, so that stdout carries answers only.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    texts = (folder.parent / "texts.txt").read_text(encoding="utf-8").split("\n")
    began = time.perf_counter()
    search, release = CONTESTANTS[name](folder, epsilon)
    took = time.perf_counter() - began
    ready = {"search": search, "load_seconds": took, "peak_mb": peak_memory() / 1e6}
    print(json.dumps(ready), file=answers, flush=True)
    for line in sys.stdin:
        chosen = list(itertools.islice(itertools.cycle(texts), int(line)))
        print(json.dumps(measure(release, chosen)), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))
