"""Measures what the prototype did otherwise: ways to decode and to estimate an attacker, at the ε of one of 8 % in shaped spaces.

    python scripts/measure_purpose_differences.py --into WORK --device cuda

WORK is what ``measure_purpose.py spaces`` wrote. It can be stopped and goes on with the next data set.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from deniable.decoding.priors import shares_of_all
from deniable.learning.perturbation import draw
from deniable.neighbours.threads import threads
from gpu_readings import Receiver
from measure_purpose import DRAWS
from purpose_bench import RUNS, Bench
from purpose_settings import Setting


def main() -> None:
    """Measure one way after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--draws", type=int, default=DRAWS)
    given = parser.parse_args()
    for data, space in (("sst2", "sentiment-16-2"), ("agnews", "topic-16-2")):
        path = given.into / f"differences-{data}.json"
        if path.exists():
            continue
        setting = Setting(data, space, 0.08)
        bench = Bench(given.into, setting, given.device, given.draws)
        epsilon, _ = bench.find(setting)
        assert epsilon is not None
        attackers = {}
        for draws, smooth in ((1000, False), (1000, True), (4000, True), (8000, True)):
            rows = bench.drawing.chances(bench.attacker.inputs, epsilon, draws, smooth=smooth)
            attackers[f"{draws} draws{'' if smooth else ', as drawn'}"] = bench.attacker.names(rows, epsilon)
            del rows
        mechanism = bench.mechanism(bench.embedding, epsilon=epsilon)
        every, most = bench.inputs, np.append(np.arange(20_000), len(bench.embedding))
        ways: dict[str, dict[str, Any]] = {
            "200 candidates, 20,000 words": {"inputs": most, "listed": 200, "least": 1e-3},
            "all candidates, 20,000 words": {"inputs": most},
            "all candidates, all words": {"inputs": every},
            "all, 4,000 draws": {"inputs": every, "draws": 4000},
            "all, 30 steps, no prior": {"inputs": every, "steps": 30, "weight": 0.0},
            "as drawn, words of the texts, 30 steps": {
                "inputs": bench.attacker.inputs,
                "steps": 30,
                "weight": 0.0,
                "smooth": False,
                "draws": 2000,
            },
        }
        found: dict[str, list[Any]] = {}
        releases = [draw(bench.passages, mechanism, threads=threads()).ids.astype(np.int64) for _ in range(RUNS)]
        for name, way in ways.items():
            chances = bench.drawing.chances(way["inputs"], epsilon, way.get("draws", given.draws), smooth=way.get("smooth", True))
            for run, released in enumerate(releases, 1):
                counts = bench.texts.counts(torch.tensor(released, device=given.device))
                receiver = Receiver(chances, way["inputs"], shares_of_all(bench.embedding)[way["inputs"]], len(bench.embedding))
                shares, steps = receiver.learn_shares(counts, weight=way.get("weight", 0.1), steps=way.get("steps"))
                expected = receiver.expected(counts, shares, listed=way.get("listed"), least=way.get("least", 0.0))
                split = bench.split(run)
                reached = {"words": split.learn(expected, "words"), "steps": steps}
                reached |= {each: bench.by_vectors(split, expected, each) for each in bench.vectors}
                found.setdefault(name, []).append(reached)
            del chances
            path.write_text(
                json.dumps({"data": data, "space": space, "epsilon": epsilon, "attackers": attackers, "ways": found}), encoding="utf-8"
            )
            print(data, name, found[name], flush=True)


if __name__ == "__main__":
    main()
