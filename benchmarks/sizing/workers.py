"""How much faster several processes release a file than one: ``--workers`` 1, 2, … in turns in one run, one
thread each.

    python -m benchmarks.sizing.workers          # writes docs/data/workers.json

Processor time tells what the sharing itself costs: it hardly depends on who else uses the machine, where
words per second do.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from scripts.pages import DATA, options_of, write_json

from benchmarks.machine import busy, in_turns, machine
from deniable import Embedding, Multivariate, Privatizer
from deniable.neighbours.threads import set_threads
from deniable.records import privatize_file

VOCABULARY, DIMENSION, LINES, WORDS_PER_LINE = 34_000, 300, 10_000, 15


def main() -> None:
    """Measure, and write the result."""
    parser = options_of(__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    now = busy()
    setting = f"{VOCABULARY:,} x {DIMENSION}, {options.rounds} rounds in turns; {machine()}"
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((VOCABULARY, DIMENSION), dtype=np.float32)
    private = Privatizer(Multivariate(Embedding([f"w{i}" for i in range(VOCABULARY)], vectors), epsilon=20.0))
    private("w1")
    set_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.txt"), Path(folder, "out.txt")
        lines = rng.integers(0, VOCABULARY, (LINES, WORDS_PER_LINE)).tolist()
        source.write_text("".join(" ".join(f"w{i}" for i in line) + "\n" for line in lines))
        contestants = {
            workers: partial(privatize_file, private, source, target, workers=workers, force=True)
            for workers in options.workers
        }
        rows = in_turns(contestants, LINES * WORDS_PER_LINE, options.rounds, called="workers")
    write_json(DATA / "workers.json", {"setting": setting, **now, "rows": rows})


if __name__ == "__main__":
    main()
