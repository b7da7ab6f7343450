"""Words per second and peak memory of releasing private text: deniable, mldp-text and pyPANTERA, in one run.

All contestants get the same texts, the same epsilon, the same vectors and the same number of threads. They
take turns in rounds, because a shared machine drifts; a contestant's figure is its median over the rounds,
and a ratio is the median of the ratios within a round. How many texts a contestant gets in a round follows
from a short pilot. The share of words that come out as they went in is a check that all run the same
mechanism: it must be alike for all.

    python -m venv peers && peers/bin/pip install mldp-text==0.1.2 pypantera==1.0.2
    python -m benchmarks.peers.release --peer-python peers/bin/python --json release.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.peers.material import DESCRIPTION, embedding_folder, prepare

ROOT = Path(__file__).resolve().parents[2]
OURS = "deniable"
TARGETS = {"mldp-text": 10.0, "pypantera": 100.0}
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass
class Result:
    """One contestant on one embedding, and what was measured of it."""

    name: str
    size: int
    search: str = ""
    load_seconds: float = 0.0
    texts: int = 0
    words_per_second: list[float] = field(default_factory=list)
    unchanged: list[float] = field(default_factory=list)
    peak_mb: float = 0.0
    failure: str = ""


class Child:
    """A contestant in a process of its own; every method records a failure instead of raising it."""

    def __init__(self, result: Result, python: str, folder: Path, epsilon: float, threads: int) -> None:
        """Start the process and wait until the contestant is loaded."""
        self.result = result
        self._log = folder / f"{result.name}-{result.size}.log"
        cpus = sorted(os.sched_getaffinity(0))[:threads] if hasattr(os, "sched_getaffinity") else []
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [
                    python,
                    "-m",
                    "benchmarks.peers.child",
                    result.name,
                    str(embedding_folder(folder, result.size)),
                    str(epsilon),
                ],
                cwd=ROOT,
                env=os.environ | {name: str(threads) for name in THREAD_VARIABLES},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                # A library that ignores the variables is held to the same number of processors.
                preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None,
            )
        ready = self._answer()
        result.search = ready.get("search", "")
        result.load_seconds = ready.get("load_seconds", 0.0)

    def time(self, texts: int) -> float:
        """Return the seconds that releasing so many texts takes, or 0 after a failure."""
        return float(self._ask(texts).get("seconds", 0.0))

    def pilot(self, seconds: float) -> None:
        """Find how many texts take about ``seconds``; the first call warms the contestant up and is not
        counted."""
        texts = 1
        self.time(texts)
        while 0 < (took := self.time(texts)) < seconds / 20:
            texts *= 4
        self.result.texts = max(1, round(texts * seconds / took)) if took else 0

    def measure(self) -> None:
        """Time one round and note it."""
        answer = self._ask(self.result.texts)
        if answer:
            self.result.words_per_second.append(answer["words"] / answer["seconds"])
            self.result.unchanged.append(answer["unchanged"])

    def close(self) -> None:
        """End the process."""
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()

    def _ask(self, texts: int) -> dict[str, Any]:
        if self.result.failure or self._process.stdin is None:
            return {}
        try:
            self._process.stdin.write(f"{texts}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # The missing answer says the same.
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            last = self._log.read_text(errors="replace").strip().splitlines()[-1:]
            self.result.failure = f"exit {self._process.wait()}: {' '.join(last)}"
            return {}
        answer: dict[str, Any] = json.loads(line)
        self.result.peak_mb = max(self.result.peak_mb, answer["peak_mb"])
        return answer


def ratios(result: Result, results: list[Result]) -> list[float]:
    """Return, for each round, how many times as fast deniable was on the same embedding; empty if it was not
    measured."""
    ours = next((one for one in results if one.name == OURS and one.size == result.size), None)
    if ours is None or ours.failure or result.failure:
        return []
    return [a / b for a, b in zip(ours.words_per_second, result.words_per_second, strict=True)]


def spread(values: list[float], digits: int = 1) -> str:
    """Write a median and its range."""
    return f"{median(values):,.{digits}f} [{min(values):,.{digits}f}–{max(values):,.{digits}f}]"


def table(results: list[Result], dimension: int) -> str:
    """Write the results as a Markdown table, then how the targets stand."""
    lines = [
        "| contestant | vocabulary x dimension | search | words/s, median [range] | deniable is faster by | "
        "peak memory, MB "
        "| loading, s | same word or its copy |",
        "|---|---|---|---|---|---|---|---|",
    ]
    verdicts = []
    for one in results:
        shape = f"{one.size:,} x {dimension}"
        if one.failure:
            lines.append(f"| {one.name} | {shape} | failed: {one.failure} | | | {one.peak_mb:,.0f} | | |")
            continue
        factor = ratios(one, results)
        lines.append(
            f"| {one.name} | {shape} | {one.search} | {spread(one.words_per_second)} | "
            f"{spread(factor) if factor else ''} "
            f"| {one.peak_mb:,.0f} | {one.load_seconds:.1f} | {median(one.unchanged):.1%} |"
        )
        if factor and one.name in TARGETS:
            met = "met" if median(factor) >= TARGETS[one.name] else "MISSED"
            verdicts.append(f"- {one.name}: {median(factor):,.1f} times, target {TARGETS[one.name]:g}: {met}")
    return "\n".join([*lines, "", *verdicts])


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the data sets"
    )
    parser.add_argument(
        "--peer-python", default=sys.executable, help="interpreter of the environment with the peers"
    )
    parser.add_argument("--epsilon", type=float, default=12.0)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0, help="wanted length of one contestant's turn")
    parser.add_argument(
        "--text-words", type=int, default=10, help="words in a text; pyPANTERA takes 120 MB for each at 50k"
    )
    parser.add_argument("--size", type=int, default=50_000, help="vocabulary that all contestants share")
    parser.add_argument(
        "--large", type=int, default=400_000, help="vocabulary for deniable alone; 0 leaves it out"
    )
    parser.add_argument("--peers", nargs="*", default=["mldp-text", "mldp-text-exact", "pypantera"])
    parser.add_argument("--json", type=Path, help="file for the results as data")
    return parser.parse_args()


def main() -> int:
    """Run the benchmark and return 1 if a contestant failed, else 0."""
    options = arguments()
    results = [Result(name, options.size) for name in [OURS, *options.peers]]
    results += [Result(OURS, options.large)] if options.large else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(
            options.data, folder, sorted({one.size for one in results}), options.text_words, text_count=20_000
        )
        children = []
        for one in results:
            python = sys.executable if one.name == OURS else options.peer_python
            children.append(Child(one, python, folder, options.epsilon, options.threads))
            children[-1].pilot(options.seconds)
            print(
                f"{one.name} at {one.size:,}: {one.failure or f'{one.texts:,} texts a round'}",
                file=sys.stderr,
                flush=True,
            )
        for _ in range(options.rounds):
            for child in children:
                child.measure()
        for child in children:
            child.close()
    setting = (
        f"epsilon {options.epsilon:g}, {options.threads} threads, {options.rounds} rounds of about "
        f"{options.seconds:g} s a "
        f"contestant in turn, texts of {options.text_words} IMDb words; {platform.machine()}, Python "
        f"{platform.python_version()}."
    )
    print(f"{DESCRIPTION}\n\n{setting}\n\n{table(results, dimension=300)}")
    if options.json:
        data = [asdict(one) | {"ratios": ratios(one, results)} for one in results]
        options.json.write_text(
            json.dumps({"data": DESCRIPTION, "setting": setting, "results": data}, indent=2) + "\n"
        )
    return 1 if any(one.failure for one in results) else 0


if __name__ == "__main__":
    sys.exit(main())
