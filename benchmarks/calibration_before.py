"""How much faster a calibration is than in an earlier version of the package, in one run on one machine.

Both versions calibrate the same random words of the built-in embedding, from nothing, in turns: N_w alone (first breakpoints), the
command ``deniable calibrate --max-unchanged 0.5 --min-distinct 300 --quantile 0.95``, and S_w, which that command adds for 1,000 words.
Each turn is a process of its own. Times grow with the number of words, so the time of the whole command is projected from them:
seconds of processor time divided by the threads, which is what the machine would take if nobody else used it.

    git worktree add before COMMIT                   # and install it into an environment of its own
    python benchmarks/calibration_before.py --before before/.venv/bin/python [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from machine import machine

PARTS = {"N_w": "first breakpoints", "targets": "ε for the targets", "S_w": "S_w of a sample"}

CHILD = """
import json, sys, time
import numpy as np
from deniable import Embedding
from deniable.calibration.choice import Targets
from deniable.calibration.run import calibrate
from deniable.channel.rays.rays import Rays
from deniable.neighbours.threads import threads

words, walked = int(sys.argv[1]), int(sys.argv[2])
embedding = Embedding.open("default")
took = {}

def clock(name, ask):
    began, used = time.perf_counter(), time.process_time()
    answer = ask()
    took[name] = [time.perf_counter() - began, (time.process_time() - used) / threads()]
    return answer

tables = clock("tables", lambda: Rays(embedding, rays=1000))
chosen = np.sort(np.random.default_rng(4).choice(tables.place(np.arange(len(embedding))), words, replace=False))
clock("N_w", lambda: [tables.first_breakpoints(tables.order[chosen[i : i + 256]]) for i in range(0, words, 256)])
targets = Targets(max_unchanged=0.5, min_distinct=300, quantile=0.95)
found = clock("targets", lambda: calibrate(embedding, targets=targets, sample=words))
clock("S_w", lambda: calibrate(embedding, sample=walked, support_of_all=True))
print(json.dumps({"took": took, "epsilon": found.choice.epsilon, "size": len(embedding), "threads": threads()}))
"""


def main() -> None:
    """Run and print the ratios and the projected times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, help="interpreter of the environment with the earlier version")
    parser.add_argument("--words", type=int, default=512)
    parser.add_argument("--walked", type=int, default=100, help="words for S_w, of the command's 1,000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pythons = {"before": options.before, "now": sys.executable}
    turns: dict[str, list[dict[str, Any]]] = {name: [] for name in pythons}
    for _ in range(options.rounds):
        for name, python in pythons.items():
            turns[name].append(turn(python, options.words, options.walked))
    chosen = {one["epsilon"] for found in turns.values() for one in found}
    if len(chosen) > 1:
        raise SystemExit(f"the versions choose different values of ε: {chosen}")
    report: dict[str, Any] = {
        "machine": machine(),
        "words": options.words,
        "walked": options.walked,
        "epsilon": chosen.pop(),
        "turns": turns,
    }
    report["ratios"] = {part: ratio(turns, part) for part in PARTS}
    report["projected_seconds"] = {name: statistics.median(map(whole(options), found)) for name, found in turns.items()}
    for part, what in PARTS.items():
        print(f"{what}: {report['ratios'][part]:.1f} times as fast as before")
    before, now = report["projected_seconds"]["before"], report["projected_seconds"]["now"]
    print(f"the whole command on quiet threads: {before / 60:.1f} minutes before, {now / 60:.1f} now, {before / now:.1f} times as fast")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def turn(python: str, words: int, walked: int) -> dict[str, Any]:
    """Run one version once, with nothing kept from before."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [python, "-c", CHILD, str(words), str(walked)],
            env=os.environ | {"DENIABLE_HOME": home, "HOME": home},
            check=True,
            stdout=subprocess.PIPE,
        )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def ratio(turns: dict[str, list[dict[str, Any]]], part: str) -> float:
    """Return the median over the rounds of how much faster a part is now, by processor time."""
    pairs = zip(turns["before"], turns["now"], strict=True)
    return float(statistics.median(before["took"][part][1] / now["took"][part][1] for before, now in pairs))


def whole(options: argparse.Namespace) -> Any:
    """Return what projects one turn to the whole command: all words, tables made three times, and S_w of 1,000 words."""

    def seconds(one: dict[str, Any]) -> float:
        tables, targets, walks = (one["took"][part][1] for part in ("tables", "targets", "S_w"))
        words = (targets - 2 * tables) * one["size"] / options.words
        return float(3 * tables + words + (walks - tables) * 1000 / options.walked)

    return seconds


if __name__ == "__main__":
    main()
