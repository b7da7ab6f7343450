"""What deniable, mldp-text and pyPANTERA do with an unknown word, and whether forked workers repeat noise.

    python -m venv peers && peers/bin/pip install mldp-text==0.1.2 pypantera==1.0.2
    PYTHONPATH=src peers/bin/python benchmarks/behaviour.py      # after: peers/bin/pip install randomgen regex msgspec platformdirs

Runs in the environment of the peers, with deniable on its path. Prints a Markdown table.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from peers import mldp_text, ours, pypantera
from peers.contestant import Contestant
from peers.material import save_embedding

SECRET = "pa55w0rd7"
EPSILON = 1.0  # so much noise that no two honest workers agree on twenty words by chance
WORDS, DIMENSION, WORKERS = 2_000, 20, 4

CONTESTANTS: dict[str, Callable[[Path, float], Contestant]] = {
    "deniable": ours.load,
    "mldp-text": mldp_text.load_approximate,
    "pyPANTERA": pypantera.load,
}


def in_forked_workers(release: Callable[[list[str]], list[str]], text: str) -> list[str]:
    """Return what each of several forked workers releases for one text."""
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()

    def work() -> None:
        queue.put(release([text])[0])

    processes = [context.Process(target=work) for _ in range(WORKERS)]
    for process in processes:
        process.start()
    released = [queue.get() for _ in processes]
    for process in processes:
        process.join()
    return released


def main() -> None:
    """Print the table."""
    words = [f"word{i}" for i in range(WORDS)]
    vectors = np.random.default_rng(0).standard_normal((WORDS, DIMENSION)).astype(np.float32)
    text = " ".join(words[:20])
    print("| | an unknown word comes out verbatim | different texts released by forked workers |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        save_embedding(Path(folder), words, vectors)
        for name, load in CONTESTANTS.items():
            release = load(Path(folder), EPSILON).release
            verbatim = sum(SECRET in release([f"{words[0]} {SECRET} {words[1]}"])[0] for _ in range(20))
            different = len(set(in_forked_workers(release, text)))
            print(f"| {name} | {verbatim} of 20 times | {different} of {WORKERS} |", flush=True)


if __name__ == "__main__":
    main()
