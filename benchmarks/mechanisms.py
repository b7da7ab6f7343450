"""Words per second and memory of every mechanism on one large embedding.

    python -m benchmarks.mechanisms --data DATA [--size 400000] [--tokens 3000] [--json mechanisms.json]

Every mechanism runs in a process of its own. In brackets stands what the processors worked for it, for
machines that have other work. The words are those of film reviews in their order, so that frequent words come
often, as in any text. The second half of the words shows what is gained once the sums of frequent words are
kept (softmax family).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.child import peak_memory_mb
from benchmarks.peers.material import GLOVE, REVIEWS, enlarge, read_glove, review_texts
from deniable.arrays import Ids

EPSILON = 10.0
NAMES = [
    "multivariate",
    "mahalanobis",
    "gaussian",
    "vickrey",
    "rank-smoothing",
    "tem",
    "santext",
    "custext",
    "line",
    "randomized-response",
]


def prepare(data: Path, folder: Path, size: int, tokens: int) -> None:
    """Write the vectors and the word ids that every process reads."""
    words, vectors = read_glove(data / GLOVE)
    ids = {word: i for i, word in enumerate(words)}
    texts = review_texts(data / REVIEWS, frozenset(words), 100, -(-2 * tokens // 100))
    np.save(
        folder / "ids.npy", np.array([ids[word] for text in texts for word in text.split(" ")][: 2 * tokens])
    )
    np.save(folder / "vectors.npy", enlarge(words, vectors, size)[1])


def _timed(work: Callable[[], Ids]) -> tuple[Ids, float, float]:
    """Return what came out, the seconds that passed and those that the processors worked for this process."""
    wall, processor = time.perf_counter(), time.process_time()
    released = work()
    return released, time.perf_counter() - wall, time.process_time() - processor


def measure(name: str, folder: Path) -> dict[str, Any]:
    """Release the words by one mechanism, in two halves."""
    from deniable import Embedding, SecureRandomness
    from deniable.mechanisms.catalogue import make_mechanism

    vectors = np.load(folder / "vectors.npy")
    ids = np.load(folder / "ids.npy")
    nothing = np.array([], dtype=np.int64)  # jittered copies share no vector
    embedding = Embedding.from_checked(
        [str(i) for i in range(len(vectors))],
        vectors,
        vectors[:1000].mean(axis=0),
        name="large",
        shadowed=nothing,
    )
    loaded = peak_memory_mb()
    mechanism, source = make_mechanism(name, embedding, epsilon=EPSILON), SecureRandomness()
    _, *ready = _timed(partial(mechanism.perturb, np.array([len(embedding)]), source))
    halves = [_timed(partial(mechanism.perturb, half, source)) for half in np.split(ids, 2)]
    return {
        "name": name,
        "words": len(vectors),
        "dimension": vectors.shape[1],
        "tokens": len(ids),
        "distinct": len(np.unique(ids)),
        "ready_seconds": ready[0],
        "ready_processor_seconds": ready[1],
        "words_per_second": [len(ids) / 2 / wall for _, wall, _ in halves],
        "words_per_processor_second": [len(ids) / 2 / processor for _, _, processor in halves],
        "unchanged": float((np.concatenate([released for released, _, _ in halves]) == ids).mean()),
        "loaded_mb": loaded,
        "peak_mb": peak_memory_mb(),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Write the results as Markdown."""
    lines = [
        "| mechanism | ready after | words a second, first half | second half | memory above the vectors, MB "
        "| unchanged |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['name']} | {row['ready_seconds']:.1f} s ({row['ready_processor_seconds']:.1f} s) "
        f"| {row['words_per_second'][0]:,.0f} ({row['words_per_processor_second'][0]:,.0f}) "
        f"| {row['words_per_second'][1]:,.0f} ({row['words_per_processor_second'][1]:,.0f}) "
        f"| {row['peak_mb'] - row['loaded_mb']:,.0f} | {row['unchanged']:.0%} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Run every mechanism and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--size", type=int, default=400_000)
    parser.add_argument("--tokens", type=int, default=3_000, help="Words in each half.")
    parser.add_argument("--only", nargs="*", default=NAMES)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(options.child[0], Path(options.child[1]))))
        return
    if options.data is None:
        parser.error("--data is needed: the folder of the data sets")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        prepare(options.data, Path(folder), options.size, options.tokens)
        for name in options.only:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.mechanisms", "--child", name, folder],
                check=True,
                capture_output=True,
                text=True,
            )
            rows.append(json.loads(done.stdout))
            print(table(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    print(table(rows))
    one = rows[0]
    print(
        f"\n{one['words']:,} words x {one['dimension']}, ε = {EPSILON:g}; {one['tokens']:,} words released, "
        f"{one['distinct']:,} distinct"
    )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
