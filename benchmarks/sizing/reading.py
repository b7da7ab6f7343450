"""What commands that read releases or attack text cost from an empty cache, as a multiple of one fixed matrix
product in the same run.

    python -m benchmarks.sizing.reading          # writes docs/data/reading.json
    python -m benchmarks.sizing.reading --before ../before/.venv/bin/python    # another as well

``decode`` and ``frequencies`` read a release of examples/reviews.csv; ``audit inversion`` attacks 1,000 short
records, ``utility`` reads 1,000 labelled texts at five ε, and ``tune`` 2,000. These texts are made of words
as frequent as their rank says, and a label turns a part of them. Every part runs in a process of its own; the
processor time of a product stands for the machine, so that runs on two machines, or on a busy and a quiet
one, compare. With ``--only`` the other parts stay as they were measured before.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scripts.pages import DATA, ROOT, options_of, read_json, write_json

from benchmarks.machine import busy, machine, product_seconds
from deniable import Embedding

THREADS, WORDS_PER_TEXT, TOPIC = 2, 12, 0.3
PARTS = {
    "decode of 243 released words": "decode released.csv --column review --output decoded.csv -q",
    "frequencies of 243 released words": "frequencies released.csv --column review --json -q",
    "decode of 12,000 released words": "decode many.txt --output decoded.txt -q",
    "frequencies of 12,000 released words": "frequencies many.txt --json -q",
    "audit inversion, 1,000 texts of 12 words, one ε": (
        "audit inversion --epsilon 6 --public records.txt --json -q"
    ),
    "utility, 1,000 texts of 12 words, five ε, three runs": (
        "utility labelled.csv --text text --label label -e 4 -e 5 -e 6 -e 8 -e 10 --json -q"
    ),
    "calibrate with both targets": (
        "calibrate --max-unchanged 0.5 --min-distinct 300 --quantile 0.95 --json -q"
    ),
    "tune, 2,000 texts of 12 words": "tune more.csv --text text --label label --as tuned --json -q",
}


def main() -> None:
    """Measure the parts, and write the result."""
    parser = options_of(__doc__)
    parser.add_argument("--before", help="the interpreter of another checkout, measured in the same run")
    parser.add_argument("--only", default="", help="only parts whose name holds this")
    options = parser.parse_args()
    before, product = read_json(DATA / "reading.json"), product_seconds()
    rows = {row["part"]: row for row in before["rows"]}
    setting = {"setting": f"{THREADS} threads of {machine()}", **busy(), "product": product}
    with tempfile.TemporaryDirectory(prefix="deniable-") as temporary:
        folder = Path(temporary)
        write_labelled(folder / "labelled.csv", 1_000, seed=1)
        write_labelled(folder / "more.csv", 2_000, seed=2)
        texts = csv.DictReader((folder / "labelled.csv").open(encoding="utf-8"))
        (folder / "records.txt").write_text("".join(f"{row['text']}\n" for row in texts), encoding="utf-8")
        release = f"{ROOT / 'examples' / 'reviews.csv'} --column review --output released.csv"
        _run(sys.executable, f"privatize {release} --epsilon 6 -q --insecure-seed 3", folder)
        _run(
            sys.executable, "privatize records.txt --output many.txt --epsilon 6 -q --insecure-seed 3", folder
        )
        for part in (each for each in PARTS if options.only in each):
            checkouts = {"before": options.before, "now": sys.executable}
            for name, python in ((name, python) for name, python in checkouts.items() if python):
                os.environ["DENIABLE_HOME"] = str(folder / f"home of {part}, {name}")
                spent, memory = _run(python, PARTS[part], folder)
                costs = {"processor": round(spent, 1), "products": round(spent / product)}
                row = {"part": part, **costs, "memory": round(memory)}
                print(name, row, flush=True)
            rows[part] = row
            measured = [rows[each] for each in PARTS if each in rows]
            write_json(DATA / "reading.json", {**before, **setting, "rows": measured})


def _run(python: str, command: str, folder: Path) -> tuple[float, float]:
    """Return the processor seconds of a command, and the most memory that it held, in MB."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(THREADS)}
    process = subprocess.Popen(
        [python, "-m", "deniable", *command.split()], env=environment, cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def write_labelled(path: Path, texts: int, *, seed: int) -> None:
    """Write texts of frequent words; in each a part comes from one of two halves of the vocabulary, as its
    label says."""
    words, rng = Embedding.open().words, np.random.default_rng(seed)
    shares = 1.0 / (np.arange(20_000) + 2.7)
    shares /= shares.sum()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for label in rng.integers(2, size=texts).tolist():
            ids = rng.choice(len(shares), WORDS_PER_TEXT, p=shares)
            turned = rng.random(WORDS_PER_TEXT) < TOPIC
            ids[turned] = ids[turned] // 2 * 2 + label
            writer.writerow([" ".join(words[i] for i in ids.tolist()), f"class {label}"])


if __name__ == "__main__":
    main()
