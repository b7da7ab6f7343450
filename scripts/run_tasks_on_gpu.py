"""Runs the three tasks of the paper on a bare machine with a GPU: only Python, numpy and PyTorch need to be there.

A folder brings the rest: ``wheels/`` (our dependencies), ``data/`` (the data sets), ``embedding/`` (one GloVe or word2vec text
file packed by bzip2) and, to continue, ``results.tgz`` of an earlier call. The embedding is read here by plain Python, since
the product's reader needs Arrow. All commands are those of the product; this script only starts them side by side.

    python3 scripts/run_tasks_on_gpu.py device-data --work /tmp/work --out "$OUT" --minutes 9 --epsilon 5.82 --epsilon 11.65
"""

from __future__ import annotations

import argparse
import bz2
import os
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = {"imdb": "imdb_50k.jsonl.xz", "enron": "enron_pan11.jsonl.xz", "insuranceqa": "."}


def main() -> None:
    """Set up, run until done or until the time is over, and pack the results."""
    options = _options()
    started = time.monotonic()
    packages, home, work = options.work / "packages", options.work / "home", options.work / "reproduced"
    for wheel in sorted((options.folder / "wheels").glob("*.whl")):
        zipfile.ZipFile(wheel).extractall(packages)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{packages}", "DENIABLE_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    carried = options.folder / "results.tgz"
    if carried.exists():
        with tarfile.open(carried) as archive:
            archive.extractall(work, filter="data")
    source = next((options.folder / "embedding").glob("*.bz2"))
    name = source.name.partition(".txt")[0].removesuffix(".w2v").replace(".", "-")
    subprocess.run([sys.executable, __file__, "install", str(source), name, str(options.first)], env=environment, check=True)
    print(f"set up after {time.monotonic() - started:.0f} s", flush=True)
    running = [_start(task, options, environment, work, name) for task in options.task]
    try:
        while any(process.poll() is None for process in running):
            if time.monotonic() - started > 60 * options.minutes:
                print("time is over", flush=True)
                break
            time.sleep(1)
    finally:
        for process in running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        with tarfile.open(options.out / "results.tgz", "w:gz") as archive:
            for file in sorted(work.glob("*/*/results/*.json")):
                archive.add(file, arcname=str(file.relative_to(work)))
    finished = len(list(work.glob("*/*/results/*.json")))
    print(f"{finished} results after {time.monotonic() - started:.0f} s", flush=True)


def install(source: Path, name: str, first: int) -> None:
    """Install a text embedding without Arrow; ``first`` words only, unless it is 0."""
    import numpy as np

    from deniable.embeddings import store
    from deniable.embeddings.embedding import Embedding

    if any(info.name == name for info in store.installed()):
        return
    words, rows = [], []
    with bz2.open(source, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            fields = line.rstrip("\n").split(" ")
            if len(fields) == 2:
                continue  # word2vec's header
            dimension = 300 if len(fields) > 300 else 50
            words.append(" ".join(fields[:-dimension]))
            rows.append(np.array(fields[-dimension:], dtype=np.float32))
            if len(words) == first:
                break
    store.save(Embedding(words, np.stack(rows), name=name), name, source=source.name)
    print(f"{name}: {store.info(name)}", flush=True)


def _start(task: str, options: argparse.Namespace, environment: dict[str, str], work: Path, name: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "deniable", "lab", "reproduce", task, "--data", str(options.folder / "data" / DATA[task])]
    command += [
        "--embedding",
        name,
        "--work",
        str(work),
        "--device",
        options.device,
        "--runs",
        str(options.runs),
        "--results-only",
        "--at",
        options.at,
    ]
    command += ["--jobs", str(options.jobs.get(task, 4))]
    command += [part for epsilon in options.epsilon for part in ("--epsilon", epsilon)]
    command += ["--texts", options.texts] if options.texts else []
    command += ["--epochs", options.epochs] if options.epochs else []
    command += ["--after-tan"] if options.after_tan else []
    return subprocess.Popen(command, env=environment, start_new_session=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--epsilon", action="append", required=True)
    parser.add_argument("--at", default="both")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--task", action="append", choices=list(DATA))
    parser.add_argument("--jobs", default="imdb=5,insuranceqa=6,enron=2", help="models trained at once for each task")
    parser.add_argument("--first", type=int, default=0, help="use only the first words of the embedding; 0 for all")
    parser.add_argument("--texts")
    parser.add_argument("--epochs")
    parser.add_argument("--after-tan", action="store_true", help="insuranceqa: the recipe of Tan et al.")
    options = parser.parse_args()
    options.task = options.task or list(DATA)
    options.jobs = {name: int(count) for name, count in (part.split("=") for part in options.jobs.split(","))}
    return options


if __name__ == "__main__":
    if sys.argv[1:2] == ["install"]:
        install(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    else:
        main()
