"""Words per second of nearest-word searches, ours and others, in one run on the same noisy queries and
threads.

Contestants take turns in rounds, because a shared machine drifts: a figure is the median over the rounds, a
ratio the median of the ratios within a round. "Right words" is the share of queries with the word that the
exact search finds. The roofline compares our multiply-adds per second with the multiply instruction alone,
measured in the same round.

    pip install faiss-cpu usearch numkong scikit-learn matplotlib
    python -m benchmarks.search.run --peer-python peers/bin/python --json docs/data/search.json

``--peer-python`` is an environment with mldp-text and pypantera (see benchmarks/peers/release.py); without it
these are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.machine import machine

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DENIABLE_THREADS")
ROOT = Path(__file__).resolve().parents[2]


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the data sets"
    )
    parser.add_argument("--peer-python", help="interpreter of the environment with the peers")
    parser.add_argument(
        "--peer-sizes",
        nargs=2,
        type=int,
        default=[400_000, 400_000],
        help="vocabularies for mldp-text and pyPANTERA",
    )
    parser.add_argument(
        "--peer-text-words",
        type=int,
        default=2,
        help="words in a text; pyPANTERA takes 1 GB for each at 400k",
    )
    parser.add_argument(
        "--sizes", nargs="*", type=int, default=[100_000, 400_000], help="vocabularies at 300 dimensions"
    )
    parser.add_argument(
        "--only", default="", metavar="REGEX", help="searches whose name matches; ours always takes part"
    )
    parser.add_argument(
        "--shape", default="", metavar="REGEX", help="sets whose shape matches, e.g. '400,000 x 300'"
    )
    parser.add_argument("--epsilon", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="wanted length of one contestant's turn")
    parser.add_argument("--json", type=Path, help="file for the results as data")
    parser.add_argument("--note", default="", help="what a reader of the page should know about this run")
    parser.add_argument("--misses", default="", help="why targets were missed, for the page")
    return parser.parse_args()


def measure_peers(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return whole releases, one row per peer and one of ours at the same size, measured as release.py
    does."""
    from benchmarks.peers.material import prepare
    from benchmarks.peers.release import OURS, Child, Result, ratios

    results = []
    for peer, size in zip(("mldp-text", "pypantera"), options.peer_sizes, strict=True):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            prepare(options.data, folder, [size], words_per_text=options.peer_text_words, text_count=20_000)
            pair = [Result(OURS, size), Result(peer, size)]
            pythons = [sys.executable, options.peer_python]
            children = [
                Child(one, python, folder, options.epsilon, options.threads)
                for one, python in zip(pair, pythons, strict=True)
            ]
            for child in children:
                child.pilot(options.seconds * 2)
            for _ in range(options.rounds):
                for child in children:
                    child.measure()
            for child in children:
                child.close()
            for one in pair:
                row = {
                    "name": one.name,
                    "words": size,
                    "failure": one.failure,
                    "words_per_second": one.words_per_second,
                }
                row["peak_mb"] = one.peak_mb
                results.append(row | {"ratios": ratios(one, pair)})
            print(f"{peer} at {size:,}: {pair[1].failure or 'done'}", file=sys.stderr, flush=True)
    return results


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return everything that is measured, as data, and write it to ``--json`` after every step."""
    from benchmarks.search.measure import measure_set, search_share
    from benchmarks.search.sets import vector_sets

    setting = (
        f"epsilon {options.epsilon:g}, {options.threads} threads, {options.rounds} rounds of about "
        f"{options.seconds:g} s a contestant "
        f"in turn; {platform.machine()}, Python {platform.python_version()}"
    )
    found: dict[str, Any] = {"setting": setting, "machine": machine(), "text_words": options.peer_text_words}
    found |= {"note": options.note, "misses": options.misses, "searches": [], "shares": {}, "peers": []}

    def keep() -> None:
        # A run takes long, and what was measured should outlive a machine that does not.
        if options.json:
            options.json.write_text(json.dumps(found, indent=2) + "\n")

    for vectors in vector_sets(options.data, options.sizes):
        shape = "{:,} x {}".format(*vectors.vectors.shape)
        if not re.search(options.shape, shape):
            continue
        found["searches"] += measure_set(
            vectors,
            epsilon=options.epsilon,
            threads=options.threads,
            rounds=options.rounds,
            seconds=options.seconds,
            only=options.only,
        )
        found["shares"][shape] = search_share(vectors, options.epsilon)
        keep()
    if options.peer_python:
        found["peers"] += measure_peers(options)
        keep()
    return found


def main() -> None:
    """Run the benchmark, print the tables, and write data where asked."""
    options = arguments()
    threads = {name: str(options.threads) for name in THREAD_VARIABLES}
    if any(os.environ.get(name) != value for name, value in threads.items()):
        # Libraries read these when they are loaded, so they have to be there from the start.
        os.execve(
            sys.executable,
            [sys.executable, "-m", "benchmarks.search.run", *sys.argv[1:]],
            os.environ | threads,
        )
    from benchmarks.search.page import peer_lines, searches_table, verdicts

    found = measured(options)
    rows = found["searches"]
    print(
        f"{found['setting']}\n\n{searches_table(rows)}\n\n{verdicts(rows, found['shares'])}\n{peer_lines(found['peers'])}"  # noqa: E501
    )


if __name__ == "__main__":
    main()
