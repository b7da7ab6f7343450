"""Draw the releases and train the language models of the membership experiment on a machine with an
accelerator.

Usage: python -m scripts.privacy.train PREPARED RESULTS [--at-once 200] [--minutes 9] [--done FOLDER]

The machine needs NumPy and PyTorch only. PREPARED is the folder that scripts/privacy/prepare.py made.
``plan.json`` in RESULTS says who was in and who was out, and every group of models leaves one file of rank
counts there; jobs whose counts lie there already, or in the folder --done, are not run again, and no group
begins that would not end in time. So the same command continues what was cut off.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import types
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

SOURCE = Path(__file__).resolve().parents[2] / "src" / "deniable"


def _only_the_folder() -> None:
    """Let the modules of the package be imported without the package's own imports, which a bare machine does
    not have."""
    package = types.ModuleType("deniable")
    package.__path__ = [str(SOURCE)]
    sys.modules["deniable"] = package


def main() -> int:
    """Run all jobs that are left; return 0 when none is."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("prepared", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--done", type=Path, help="a folder with results of earlier runs")
    parser.add_argument("--at-once", type=int, default=200, help="models trained side by side")
    parser.add_argument(
        "--minutes", type=float, default=9.0, help="begin no group that would end later than this"
    )
    parser.add_argument("--targets", type=int, default=5)
    parser.add_argument("--shadows", type=int, default=10)
    parser.add_argument(
        "--no-releases", action="store_true", help="only the texts that were prepared: original and baselines"
    )
    options = parser.parse_args()
    _only_the_folder()
    from deniable.lab.membership.models import run_jobs
    from deniable.lab.membership.plan import ORIGINAL, LanguageModelSettings, make_plan
    from deniable.lab.membership.streams import unpack
    from scripts.privacy.release import BELOW_THE_GRID, PAPER_GRID, SEED, load, releases

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    settings = LanguageModelSettings()
    started = time.monotonic()
    with np.load(options.prepared / "texts.npz") as arrays:
        conditions = unpack(arrays)
    original = conditions[ORIGINAL]
    drawn = (
        {}
        if options.no_releases
        else releases(load(options.prepared), original, device, BELOW_THE_GRID + PAPER_GRID)
    )
    conditions |= {name: streams for name, (streams, _) in drawn.items()}
    print(f"{len(drawn)} releases drawn after {time.monotonic() - started:.0f} s", flush=True)
    plan = make_plan(len(original.offsets) - 1, targets=options.targets, shadows=options.shadows, seed=SEED)
    jobs = plan.jobs(list(conditions))
    options.results.mkdir(parents=True, exist_ok=True)
    about = {
        "in_each": plan.in_each,
        "targets": plan.targets,
        "shadows": plan.shadows,
        "conditions": list(conditions),
    }
    facts = {name: details for name, (_, details) in drawn.items()}
    (options.results / "plan.json").write_text(
        json.dumps({**about, "facts": facts, "device": str(device), "settings": asdict(settings)})
    )
    torch.set_float32_matmul_precision("high")
    finished = {name for folder in (options.results, options.done) if folder for name in _names(folder)}
    left = [job for job in jobs if job.name not in finished]
    print(f"{device}: {len(left)} of {len(jobs)} models to train, {settings}", flush=True)
    # Models of one group take as many steps as the one with the most text: like goes with like.
    left.sort(key=lambda job: len(conditions[job.trained_on].tokens))
    groups = -(-len(left) // options.at_once)
    size = -(-len(left) // max(1, groups))
    longest = 0.0
    for number in range(groups):
        if (time.monotonic() - started + 1.1 * longest) / 60 > options.minutes:
            print("no time for another group; run the same command again", flush=True)
            return 3
        group = left[number * size : (number + 1) * size]
        begun = time.monotonic()

        def report(done: int, total: int, begun: float = begun, number: int = number) -> None:
            if done % 5 == 0 and done <= settings.epochs:
                print(
                    f"group {number + 1}/{groups}: {done}/{total}, {time.monotonic() - begun:.0f} s",
                    flush=True,
                )

        counts = run_jobs(group, conditions, settings, seed=number, device=device, report=report)
        name = (
            options.results
            / f"ranks-{len(list(options.results.glob('ranks-*.npz'))) + len(finished):05d}.npz"
        )
        names = np.array(list(counts))
        written = {"names": names, **{f"counts{i}": found for i, found in enumerate(counts.values())}}
        np.savez_compressed(name.with_suffix(".part.npz"), **written)  # type: ignore[arg-type, unused-ignore]
        name.with_suffix(".part.npz").replace(name)
        longest = max(longest, time.monotonic() - begun)
        print(
            f"group {number + 1}/{groups}: {len(group)} models in {time.monotonic() - begun:.0f} s -> {name}",
            flush=True,
        )
    print(f"done in {time.monotonic() - started:.0f} s", flush=True)
    return 0


def _names(folder: Path) -> set[str]:
    found: set[str] = set()
    for path in folder.glob("ranks-*.npz"):
        if not path.name.endswith(".part.npz"):
            with np.load(path) as arrays:
                found |= {str(name) for name in arrays["names"]}
    return found


if __name__ == "__main__":
    sys.exit(main())
