"""Runs the comparison of docs/experiments/comparison.md on a bare machine with many cores: every mechanism, two tasks, two embeddings.

A folder brings the data (``prepare`` makes it): ``sst2.jsonl.xz``, ``imdb.jsonl.xz`` and, to continue, ``kept.tgz`` of an earlier call.
All numbers come from ``deniable lab compare``, one process on one thread for each task, embedding and mechanism, all with one folder
of kept numbers: first two runs of everything, then five, then other constants. A task and embedding whose numbers are all there is
written by the same command, in one process. The kept numbers come out at the end, however it ends.

    python3 scripts/run_comparison.py prepare DATASETS FOLDER
    python3 scripts/run_comparison.py run FOLDER --embedding glove.840B.300d.34k.w2v.txt.bz2 --work WORK --out OUT --minutes 8 --jobs 12
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import random
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ["--target", "average=0.3", "--target", "worst=0.5", "--target", "adversary=0.3"]
REVIEWS, FIRST_WORDS = 8_000, 150
SIZES = {
    ("sst2", "default"): {"train": 5_000, "test": 4_000, "words": 500},
    ("imdb", "default"): {"train": 2_000, "test": 4_000, "words": 500},
    ("sst2", "glove-840b"): {"train": 4_000, "test": 4_000, "words": 500},
    ("imdb", "glove-840b"): {"train": 1_000, "test": 4_000, "words": 500},
}
COSTS = {
    "multivariate": 2.0,
    "mahalanobis": 2.0,
    "vickrey": 3.0,
    "gaussian": 2.0,
    "rank-smoothing": 3.0,
    "tem": 3.0,
    "santext": 3.0,
    "santext-plus": 2.0,
    "custext": 1.0,
    "line": 1.0,
    "randomized-response": 0.3,
}
"""Every mechanism with a rough idea of the time it takes: long ones start first."""
OTHER_CONSTANTS = ("rank-smoothing:c=0.02", "rank-smoothing:c=0.1", "vickrey:t=0.5")
RUNS = (2, 5)
TIME_TO_WRITE = 25.0


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a run finds its data, keeps its numbers and leaves its answers."""

    data: Path
    work: Path
    out: Path
    tiny: bool = False
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, setting: tuple[str, str], mechanisms: list[str], *, runs: int) -> list[str]:
        """Return the command that compares these mechanisms on one task in one embedding."""
        task, embedding = setting
        sizes = {"train": 300, "test": 300, "words": 40} if self.tiny else SIZES[setting]
        command = [
            sys.executable,
            "-m",
            "deniable",
            "lab",
            "compare",
            str(self.data / f"{task}.jsonl.xz"),
            "--embedding",
            embedding,
            "--quiet",
        ]
        for mechanism in mechanisms:
            rare = f":sensitive={self.work / f'rare-{embedding}.txt'}" if mechanism == "santext-plus" else ""
            command += ["--mechanism", mechanism + rare]
        command += [part for name, value in sizes.items() for part in (f"--{name}", str(value))]
        # What decoding gives back is measured by scripts/measure_decoding.py.
        return [*command, *TARGETS, "--longest", "100", "--runs", str(runs), "--no-decode", "--keep", str(self.work / "kept")]


@dataclass(kw_only=True)
class Job:
    """One process: one mechanism on one task in one embedding."""

    setting: tuple[str, str]
    mechanism: str
    runs: int
    process: subprocess.Popen[bytes]
    started: float = field(default_factory=time.monotonic)


def main() -> None:
    """Prepare the data, or set up, run until done or until the time is over, and pack what was measured."""
    options = _options()
    if options.what == "prepare":
        prepare(options.datasets, options.folder)
        return
    started = time.monotonic()
    place = Place(data=options.folder, work=options.work, out=options.out, tiny=options.tiny, environment=_set_up(options))
    print(f"set up after {time.monotonic() - started:.0f} s", flush=True)
    finished: dict[tuple[tuple[str, str], str], int] = {}
    try:
        _run_all(place, finished, jobs=options.jobs, until=started + 60 * options.minutes - TIME_TO_WRITE)
    finally:
        with tarfile.open(place.out / "kept.tgz", "w:gz") as archive:
            archive.add(place.work / "kept", arcname="kept")
    print(f"{len(finished)} mechanisms in their settings after {time.monotonic() - started:.0f} s", flush=True)
    _write_answers(place, finished)
    print(f"answers written after {time.monotonic() - started:.0f} s", flush=True)


def prepare(datasets: Path, folder: Path) -> None:
    """Write the data of the comparison: all SST-2 sentences, and the beginnings of some IMDb reviews drawn at random."""
    folder.mkdir(parents=True, exist_ok=True)
    with lzma.open(datasets / "short" / "sst2_sentences.jsonl.xz", "rt", encoding="utf-8") as file:
        sentences = [json.loads(line) for line in file]
    with lzma.open(datasets / "imdb" / "imdb_50k.jsonl.xz", "rt", encoding="utf-8") as file:
        reviews = [json.loads(line) for line in file]
    for name, records in (("sst2", sentences), ("imdb", random.Random(0).sample(reviews, REVIEWS))):
        with lzma.open(folder / f"{name}.jsonl.xz", "wt", encoding="utf-8") as file:
            for record in records:
                beginning = " ".join(record["text"].split()[:FIRST_WORDS])
                file.write(json.dumps({"label": record["label"], "text": beginning}, ensure_ascii=False) + "\n")


def _set_up(options: argparse.Namespace) -> dict[str, str]:
    """Install the package and the embedding, and return the environment of the commands: one thread each."""
    packages = options.work / "packages"
    options.work.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "DENIABLE_HOME": str(options.work / "home"), "PYTHONUNBUFFERED": "1"}
    environment |= dict.fromkeys(("DENIABLE_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    if options.wheels is not None:
        for wheel in sorted(options.wheels.glob("*.whl")):
            zipfile.ZipFile(wheel).extractall(packages)
        install = [sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "--target", str(packages), str(ROOT)]
        subprocess.run(install, env={**environment, "OMP_NUM_THREADS": "8"}, check=True)
        environment["PYTHONPATH"] = str(packages)
    carried = options.folder / "kept.tgz"
    (options.work / "kept").mkdir(exist_ok=True)
    if carried.exists():
        with tarfile.open(carried) as archive:
            archive.extractall(options.work, filter="data")
    deniable = [sys.executable, "-m", "deniable"]
    if not (options.work / "home" / "embeddings" / "glove-840b").exists():
        add = [*deniable, "embeddings", "add", str(options.embedding), "--name", "glove-840b"]
        subprocess.run(add, env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*deniable, "doctor"], env=environment, check=True)
    subprocess.run([sys.executable, "-c", RARE, str(options.work)], env=environment, check=True)
    return environment


RARE = """
import pathlib, sys
from deniable import Embedding
for name in ("default", "glove-840b"):
    words = Embedding.open(name).words
    text = "\\n".join(word for word in words[len(words) // 10:] if word.strip() == word)
    pathlib.Path(sys.argv[1], f"rare-{name}.txt").write_text(text, encoding="utf-8")
"""
"""SanText+'s sensitive words, as its authors chose them: the 90 % least frequent of the public vocabulary."""


def _planned() -> Iterator[tuple[tuple[str, str], str, int]]:
    """Yield what is to be run, in order."""
    for runs in RUNS:
        pairs = [(setting, mechanism) for setting in SIZES for mechanism in COSTS]
        pairs.sort(key=lambda pair: -COSTS[pair[1]] * (3.0 if pair[0][1] == "glove-840b" else 1.0) * (1.3 if pair[0][0] == "imdb" else 1.0))
        yield from ((setting, mechanism, runs) for setting, mechanism in pairs)
    for embedding in ("glove-840b", "default"):
        yield from ((("sst2", embedding), mechanism, RUNS[-1]) for mechanism in OTHER_CONSTANTS)


def _run_all(place: Place, finished: dict[tuple[tuple[str, str], str], int], *, jobs: int, until: float) -> None:
    """Run the plan, ``jobs`` processes at a time, to its end or until the time is over; note the runs of all that finished."""
    waiting = list(_planned())
    running: list[Job] = []
    try:
        while waiting or running:
            if time.monotonic() > until:
                print("time is over", flush=True)
                return
            while waiting and len(running) < jobs:
                setting, mechanism, runs = waiting.pop(0)
                command = place.command(setting, [mechanism], runs=runs)
                process = subprocess.Popen(command, env=place.environment, stdout=subprocess.DEVNULL, start_new_session=True)
                running.append(Job(setting=setting, mechanism=mechanism, runs=runs, process=process))
            for job in [job for job in running if job.process.poll() is not None]:
                running.remove(job)
                seconds = time.monotonic() - job.started
                print(f"{job.runs} runs {' '.join(job.setting)} {job.mechanism}: {job.process.returncode}, {seconds:.0f} s", flush=True)
                if job.process.returncode == 0:
                    finished[job.setting, job.mechanism] = job.runs
            time.sleep(0.2)
    finally:
        for job in running:
            os.killpg(job.process.pid, signal.SIGKILL)


def _write_answers(place: Place, finished: dict[tuple[tuple[str, str], str], int]) -> None:
    """Write the answer of every task and embedding whose mechanisms all finished, with as many runs as all of them have."""
    writing = []
    for setting in SIZES:
        for suffix, mechanisms in (("", list(COSTS)), ("-constants", ["multivariate", "rank-smoothing", "vickrey", *OTHER_CONSTANTS])):
            runs = min(finished.get((setting, mechanism), 0) for mechanism in mechanisms)
            if runs:
                answer = place.out / f"comparison-{setting[0]}-{setting[1]}{suffix}.json"
                command = [*place.command(setting, mechanisms, runs=runs), "--save", str(answer)]
                writing.append(subprocess.Popen(command, env=place.environment, stdout=subprocess.DEVNULL))
    for process in writing:
        process.wait()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="what", required=True)
    preparing = verbs.add_parser("prepare")
    preparing.add_argument("datasets", type=Path)
    preparing.add_argument("folder", type=Path)
    running = verbs.add_parser("run")
    running.add_argument("folder", type=Path)
    running.add_argument("--embedding", type=Path, required=True, help="the GloVe 840B text file")
    running.add_argument("--wheels", type=Path, help="wheels to unpack beside the package, which is then built; else it must be importable")
    running.add_argument("--work", type=Path, required=True)
    running.add_argument("--out", type=Path, required=True)
    running.add_argument("--minutes", type=float, default=8.0)
    running.add_argument("--jobs", type=int, default=12)
    running.add_argument("--tiny", action="store_true", help="a rehearsal with few texts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
