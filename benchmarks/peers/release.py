"""Words per second and peak memory of releasing private text: deniable, mldp-text and pyPANTERA, in one run.

    python -m venv peers && peers/bin/pip install mldp-text==0.1.2 pypantera==1.0.2
    python -m benchmarks.peers.release --peer-python peers/bin/python

All contestants get the same texts, the same epsilon, the same vectors and the same number of threads. They
take turns in rounds, because a shared machine drifts; a contestant's figure is its median over the rounds,
and a ratio is the median of the ratios within a round. How many texts a contestant gets in a round follows
from a short pilot. The share of words that come out as they went in is a check that all run the same
mechanism: it must be alike for all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from scripts.pages import ROOT, options_of, spread, table

from benchmarks.machine import machine
from benchmarks.peers.material import SHARED, prepare

OURS, PEERS = "deniable", ("mldp-text", "mldp-text-exact", "pypantera")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
TEXTS = 20_000


class Child:
    """A contestant in a process of its own; ``result`` holds what was measured of it, and why it failed."""

    def __init__(self, name: str, python: str, folder: Path, size: int, epsilon: float, threads: int) -> None:
        """Start the process and wait until the contestant is loaded."""
        self.result: dict[str, Any] = {"name": name, "size": size, "failure": "", "peak_mb": 0.0, "texts": 0}
        self.result |= {"words_per_second": [], "unchanged": []}
        self._log = folder / f"{name}.log"
        cpus = sorted(os.sched_getaffinity(0))[:threads] if hasattr(os, "sched_getaffinity") else []
        command = [python, "-m", "benchmarks.peers.child", name, str(folder / f"embedding-{size}")]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [*command, str(epsilon)],
                cwd=ROOT,
                env=os.environ | {variable: str(threads) for variable in THREAD_VARIABLES},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                # A library that ignores the variables is held to the same number of processors.
                preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None,
            )
        ready = self._answer()
        self.result |= {key: ready.get(key) for key in ("search", "load_seconds")}

    def pilot(self, seconds: float) -> None:
        """Find how many texts take about ``seconds``; the first call warms the contestant up."""
        texts = 1
        self._ask(texts)
        while 0 < (took := self._ask(texts).get("seconds", 0.0)) < seconds / 20:
            texts *= 4
        self.result["texts"] = max(1, round(texts * seconds / took)) if took else 0

    def measure(self) -> None:
        """Time one round and note it."""
        if answer := self._ask(self.result["texts"]):
            self.result["words_per_second"].append(answer["words"] / answer["seconds"])
            self.result["unchanged"].append(answer["unchanged"])

    def close(self) -> None:
        """End the process."""
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()

    def _ask(self, texts: int) -> dict[str, Any]:
        if self.result["failure"] or self._process.stdin is None:
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
            self.result["failure"] = f"exit {self._process.wait()}: {' '.join(last)}"
            return {}
        answer: dict[str, Any] = json.loads(line)
        self.result["peak_mb"] = max(self.result["peak_mb"], answer["peak_mb"])
        return answer


def measure(
    pythons: Mapping[str, str],
    *,
    data: Path,
    size: int,
    text_words: int,
    epsilon: float,
    threads: int,
    rounds: int,
    seconds: float,
) -> list[dict[str, Any]]:
    """Return what was measured of each contestant, ours first; ``pythons`` are their interpreters.

    ``ratios`` are, for each round, how many times as fast deniable was.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(data, folder, [size], text_words, TEXTS)
        children = [Child(each, python, folder, size, epsilon, threads) for each, python in pythons.items()]
        for child in children:
            child.pilot(seconds)
            print(f"{child.result['name']}: {child.result['failure'] or child.result['texts']}", flush=True)
        for _ in range(rounds):
            for child in children:
                child.measure()
        for child in children:
            child.close()
    results = [child.result for child in children]
    ours = results[0]["words_per_second"]
    for one in results:
        failed = one["failure"] or results[0]["failure"]
        pairs = [] if failed else zip(ours, one["words_per_second"], strict=True)
        one["ratios"] = [a / b for a, b in pairs]
    return results


def main() -> None:
    """Measure, and print a table."""
    parser = options_of(__doc__)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder of the data sets")
    parser.add_argument("--peer-python", required=True, help="interpreter of the environment with the peers")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0, help="wanted length of one contestant's turn")
    parser.add_argument("--size", type=int, default=50_000, help="words of the vocabulary")
    options = parser.parse_args()
    how = {name: value for name, value in vars(options).items() if name != "peer_python"}
    pythons = {OURS: sys.executable, **dict.fromkeys(PEERS, options.peer_python)}
    # pyPANTERA takes 120 MB for each word of a text at 50,000 words.
    results = measure(pythons, epsilon=12.0, text_words=10, **how)
    rows = []
    for one in results:
        if one["failure"]:
            rows.append([one["name"], f"failed: {one['failure']}", "", "", "", ""])
            continue
        rates = [spread(one["words_per_second"]), spread(one["ratios"]) if one["ratios"] else ""]
        memory, unchanged = f"{one['peak_mb']:,.0f}", f"{median(one['unchanged']):.1%}"
        rows.append([one["name"], one["search"], *rates, memory, unchanged])
    head = ["contestant", "search", "words/s, median [range]", "deniable is faster by", "peak memory, MB"]
    print(table([*head, "same word or its copy"], rows))
    print(
        f"\n{options.size:,} x 300, ε = 12, {options.threads} threads, {options.rounds} rounds; {machine()}"
    )


if __name__ == "__main__":
    main()
