"""How much faster a calibration is than in an earlier version of the package, in one run on one machine.

Both versions calibrate the same words of the built-in embedding from nothing, in turns, each turn in a process of its own: the command
``deniable calibrate --max-unchanged 0.5 --min-distinct 300 --quantile 0.95``, and S_w, which that command adds for 1,000 words. What is
done for each word is told from what is done once by taking few words and more. With ``--data`` they also find N_w of some words of GloVe
6B, 400,000 x 50. The times of the whole command and of N_w of all words are projected from these: seconds of processor time divided by the
threads, which is what the machine would take if nobody else used it.

    git worktree add before COMMIT                   # and install it into an environment of its own
    python benchmarks/calibration_before.py --before before/.venv/bin/python --data DATA --json docs/data/calibration-before.json
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

import numpy as np

from machine import machine

FEW, MORE, WALKED, ORIGINS = 256, 768, 60, 384
ALL_WALKED = 1000

CHILD = """
import json, sys, time
import numpy as np
from deniable import Embedding
from deniable.calibration.choice import Targets
from deniable.calibration.run import calibrate
from deniable.channel.rays.rays import Rays
from deniable.neighbours.threads import threads

few, more, walked, origins, glove = json.loads(sys.argv[1])
took = {}

def clock(name, ask):
    began = time.process_time()
    answer = ask()
    took[name] = (time.process_time() - began) / threads()
    return answer

def together(tables, count):
    starts = np.linspace(0, len(tables.order) - 128, count // 128).astype(int)  # a whole calibration takes words that lie together
    return np.concatenate([tables.order[start : start + 128] for start in starts])

embedding = Embedding.open("default")
tables = Rays(embedding, rays=1000)
targets = Targets(max_unchanged=0.5, min_distinct=300, quantile=0.95)
for name, count in (("few", few), ("more", more)):
    words = [embedding.words[i] for i in together(tables, count)]
    found = clock(name, lambda: calibrate(embedding, targets=targets, words=words))
clock("walks", lambda: calibrate(embedding, sample=walked, support_of_all=True))
if glove:
    vectors = np.load(glove)
    tables = Rays(Embedding([str(i) for i in range(len(vectors))], vectors), rays=1000)
    ids = together(tables, origins)
    clock("N_w", lambda: tables.first_breakpoints(ids))
print(json.dumps({"took": took, "epsilon": found.choice.epsilon, "size": len(embedding), "threads": threads()}))
"""

Turn = dict[str, Any]


def main() -> None:
    """Run and print the ratios and the projected times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, help="interpreter of the environment with the earlier version")
    parser.add_argument("--data", type=Path, help="folder of the data sets, for GloVe 6B")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pythons = {"before": options.before, "now": sys.executable}
    turns: dict[str, list[Turn]] = {name: [] for name in pythons}
    with tempfile.TemporaryDirectory() as folder:
        glove = "" if options.data is None else keep_glove(options.data, Path(folder))
        for _ in range(options.rounds):
            for name, python in pythons.items():
                turns[name].append(turn(python, glove))
    chosen = {one["epsilon"] for found in turns.values() for one in found}
    if len(chosen) > 1:
        raise SystemExit(f"the versions choose different values of ε: {chosen}")
    projected = {"the command": command_seconds} | ({"N_w of 400,000 words": breakpoint_seconds} if glove else {})
    report: dict[str, Any] = {"machine": machine(), "rounds": options.rounds, "epsilon": chosen.pop(), "turns": turns, "projected": {}}
    for what, seconds in projected.items():
        before, now = ([seconds(one) for one in turns[name]] for name in ("before", "now"))
        ratio = statistics.median(a / b for a, b in zip(before, now, strict=True))
        report["projected"][what] = {"before": statistics.median(before), "now": statistics.median(now), "ratio": ratio}
        minutes = f"{statistics.median(before) / 60:.1f} minutes before, {statistics.median(now) / 60:.1f} now"
        print(f"{what}, 1,000 rays, on quiet threads: {minutes}; {ratio:.1f} times as fast")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def keep_glove(data: Path, folder: Path) -> str:
    """Write the vectors where every turn reads them fast; return the file."""
    from searches.sets import GLOVE_50, read_glove_text

    np.save(folder / "glove.npy", read_glove_text(data / GLOVE_50))
    return str(folder / "glove.npy")


def turn(python: str, glove: str) -> Turn:
    """Run one version once, with nothing kept from before."""
    with tempfile.TemporaryDirectory() as home:
        asked = json.dumps([FEW, MORE, WALKED, ORIGINS, glove])
        environment = os.environ | {"DENIABLE_HOME": home, "HOME": home}
        done = subprocess.run([python, "-c", CHILD, asked], env=environment, check=True, stdout=subprocess.PIPE)
    answer: Turn = json.loads(done.stdout)
    return answer


def command_seconds(one: Turn) -> float:
    """Return what the whole command takes: all words, and the walks of a sample."""
    took = one["took"]
    for_each = (took["more"] - took["few"]) / (MORE - FEW)
    return float(took["few"] + for_each * (one["size"] - FEW) + took["walks"] * ALL_WALKED / WALKED)


def breakpoint_seconds(one: Turn) -> float:
    """Return what N_w of all words of GloVe takes, the tables apart."""
    return float(one["took"]["N_w"] * 400_000 / ORIGINS)


if __name__ == "__main__":
    main()
