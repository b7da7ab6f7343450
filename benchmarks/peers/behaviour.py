"""What deniable, mldp-text, pyPANTERA and dp-diffractor do with an unknown word and a stop word, and which
noise they repeat.

    python -m venv peers && peers/bin/pip install mldp-text==0.1.2 pypantera==1.0.2 dp-diffractor==0.2.1
    PYTHONPATH=src peers/bin/python -m benchmarks.peers.behaviour      # after: peers/bin/pip install
    randomgen regex msgspec platformdirs

Runs in the environment of the peers, with deniable on its path. Prints a Markdown table.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.peers import diffractor, mldp_text, ours, pypantera
from benchmarks.peers.contestant import Contestant
from benchmarks.peers.material import save_embedding

SECRET, STOP_WORD = "pa55w0rd7", "the"
EPSILON = 1.0  # so much noise that no two honest workers agree on twenty words by chance
EPSILON_A_PLACE = 0.001  # the same for noise on places of a list
WORDS, DIMENSION, WORKERS = 2_000, 20, 4

CONTESTANTS: dict[str, Callable[[Path, float], Contestant]] = {
    "deniable": ours.load,
    "mldp-text": mldp_text.load_approximate,
    "pyPANTERA": pypantera.load,
    "dp-diffractor": lambda folder, _epsilon: diffractor.load(folder, EPSILON_A_PLACE),
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


def behave(name: str, folder: Path, how: str) -> list[str]:
    """Return what one contestant releases: ``once`` in this process, ``often`` with the secret and a stop
    word, or ``forked``."""
    text = " ".join(f"word{i}" for i in range(20))
    if name == "dp-diffractor" and how == "once":
        return diffractor.load_one_list(folder, EPSILON_A_PLACE).release([text])
    release = CONTESTANTS[name](folder, EPSILON).release
    if how == "forked":
        return in_forked_workers(release, text)
    return (
        release([text]) if how == "once" else [release([f"word0 {SECRET} {STOP_WORD}"])[0] for _ in range(20)]
    )


def in_a_run_of_its_own(name: str, folder: Path, how: str) -> list[str]:
    """Return what ``behave`` returns in a new process: nothing that one of them did before is left."""
    command = [sys.executable, "-m", "benchmarks.peers.behaviour", name, str(folder), how]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, timeout=120
    ).stdout.splitlines()[-20:]


def main() -> None:
    """Print the table."""
    words = [STOP_WORD, *(f"word{i}" for i in range(WORDS))]
    vectors = np.random.default_rng(0).standard_normal((len(words), DIMENSION)).astype(np.float32)
    print(
        f"| | an unknown word comes out verbatim | “{STOP_WORD}” does | texts that differ: {WORKERS} forked "
        f"workers | {WORKERS} runs |"
    )
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        save_embedding(folder, words, vectors)
        for name in CONTESTANTS:
            often = in_a_run_of_its_own(name, folder, "often")
            secret, stop = (sum(word in text.split(" ") for text in often) for word in (SECRET, STOP_WORD))
            different = len(set(in_a_run_of_its_own(name, folder, "forked")[-WORKERS:]))
            runs = len({in_a_run_of_its_own(name, folder, "once")[-1] for _ in range(WORKERS)})
            print(
                f"| {name} | {secret} of 20 times | {stop} of 20 times | {different} | {runs} |", flush=True
            )


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(*behave(sys.argv[1], Path(sys.argv[2]), sys.argv[3]), sep="\n")
    else:
        main()
