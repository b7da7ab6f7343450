"""How long it takes to read a release back, by command and from an empty cache, as a multiple of one fixed
matrix product in the same run.

    python -m benchmarks.sizing.reading --json docs/data/reading.json python -m benchmarks.sizing.reading
    --python ../before/.venv/bin/python      # the same commands of another checkout

``decode`` and ``frequencies`` read a release of examples/reviews.csv; ``audit inversion`` attacks 1,000 short
records, ``utility`` reads 1,000 labelled texts at five ε, and ``tune`` 2,000. These texts are made of words
as frequent as their rank says, and a label turns a part of them. Every part runs in a process of its own; the
processor time of a product stands for the machine, so that runs on two machines, or on a busy and a quiet
one, compare.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.machine import busy, machine, processor_seconds
from deniable import Embedding

_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "reviews.csv"
_PRODUCT = """
import numpy as np, time
matrix = np.random.default_rng(0).standard_normal((2_000, 2_000)).astype(np.float32)
taken = []
for _ in range(5):
    began = time.process_time()
    matrix @ matrix
    taken.append(time.process_time() - began)
print(sorted(taken)[2])
"""
_WORDS_PER_TEXT = 12
_TOPIC = 0.3


def main() -> None:
    """Measure the parts, print them, and write them where it was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter of the checkout that is measured"
    )
    parser.add_argument(
        "--parts", nargs="+", metavar="PART", help="the parts that are measured, by name; all without it"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {
        "setting": f"{options.threads} threads of {machine()}",
        **busy(),
        "product": product(options.python),
        "rows": [],
    }
    with tempfile.TemporaryDirectory(prefix="deniable-") as folder:
        for name, command in commands(Path(folder), options).items():
            if options.parts is not None and name not in options.parts:
                continue
            home = Path(folder) / "home"
            environment = os.environ | {
                "DENIABLE_HOME": str(home / name.replace(" ", "-")),
                "OMP_NUM_THREADS": str(options.threads),
            }
            began, spent = time.perf_counter(), processor_seconds()
            subprocess.run(
                [options.python, "-m", "deniable", *command],
                check=True,
                env=environment,
                cwd=folder,
                stdout=subprocess.DEVNULL,
            )
            seconds, spent = time.perf_counter() - began, processor_seconds() - spent
            row = {
                "part": name,
                "seconds": round(seconds, 1),
                "processor": round(spent, 1),
                "products": round(spent / found["product"]),
            }
            found["rows"].append(row)
            print(row, flush=True)
    found["product_after"] = product(options.python)
    print(
        f"one product: {found['product']:.3f} processor seconds before, {found['product_after']:.3f} after; "
        f"{found['setting']}"
    )
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def commands(folder: Path, options: argparse.Namespace) -> dict[str, list[str]]:
    """Return the command of each part, after its files are made."""
    labelled(folder / "labelled.csv", 1_000, seed=1)
    labelled(folder / "more.csv", 2_000, seed=2)
    lines = [row["text"] for row in csv.DictReader((folder / "labelled.csv").open(encoding="utf-8"))]
    (folder / "records.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    released = folder / "released.csv"
    privatize = [
        "privatize",
        str(_EXAMPLE),
        "--column",
        "review",
        "--epsilon",
        "6",
        "-q",
        "--insecure-seed",
        "3",
        "--output",
        str(released),
    ]
    subprocess.run(
        [options.python, "-m", "deniable", *privatize], check=True, cwd=folder, capture_output=True
    )
    purpose = ["--text", "text", "--label", "label"]
    return {
        "decode": ["decode", str(released), "--column", "review", "--output", "decoded.csv", "-q"],
        "frequencies": ["frequencies", str(released), "--column", "review", "--json", "-q"],
        "audit inversion": [
            "audit",
            "inversion",
            "--epsilon",
            "6",
            "--public",
            "records.txt",
            "--json",
            "-q",
        ],
        "utility": [
            "utility",
            "labelled.csv",
            *purpose,
            *(f"--epsilon={each}" for each in (4, 5, 6, 8, 10)),
            "--json",
            "-q",
        ],
        "tune": ["tune", "more.csv", *purpose, "--as", "tuned", "--json", "-q"],
    }


def labelled(path: Path, texts: int, *, seed: int) -> None:
    """Write texts of frequent words; in each a part comes from one of two halves of the vocabulary, as its
    label says."""
    words, rng = Embedding.open().words, np.random.default_rng(seed)
    shares = 1.0 / (np.arange(20_000) + 2.7)
    shares /= shares.sum()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for label in rng.integers(2, size=texts).tolist():
            ids = rng.choice(len(shares), _WORDS_PER_TEXT, p=shares)
            turned = rng.random(_WORDS_PER_TEXT) < _TOPIC
            ids[turned] = ids[turned] // 2 * 2 + label
            writer.writerow([" ".join(words[i] for i in ids.tolist()), f"class {label}"])


def product(python: str) -> float:
    """Return the processor seconds of the fixed product, by the libraries of that interpreter."""
    return float(subprocess.run([python, "-c", _PRODUCT], check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
