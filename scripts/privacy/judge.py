"""Let the auditor judge the rank counts that scripts/privacy/train.py brought back, and write the result as
JSON.

Usage: python -m scripts.privacy.judge PREPARED RESULT.json RESULTS [RESULTS ...]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from deniable.lab.membership.auditor import judge_conditions
from deniable.lab.membership.plan import Plan


def main() -> None:
    """Judge."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("prepared", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("results", type=Path, nargs="+")
    options = parser.parse_args()
    about: dict[str, Any] = json.loads((options.prepared / "about.json").read_text())
    plan_file = json.loads((options.results[-1] / "plan.json").read_text())
    counts: dict[str, NDArray[np.int32]] = {}
    for folder in options.results:
        for path in sorted(folder.glob("ranks-*.npz")):
            with np.load(path) as arrays:
                counts |= {str(name): arrays[f"counts{i}"] for i, name in enumerate(arrays["names"])}
    plan = Plan(
        in_each=plan_file["in_each"],
        targets=tuple(tuple(split) for split in plan_file["targets"]),
        shadows=tuple(tuple(split) for split in plan_file["shadows"]),
    )
    conditions = [
        name for name in plan_file["conditions"] if all(job.name in counts for job in plan.jobs([name]))
    ]
    missing = sorted(set(plan_file["conditions"]) - set(conditions))
    if missing:
        print(f"not complete, left out: {', '.join(missing)}")
    # The model trained on original text was asked for all conditions, in this order.
    asked = plan_file["conditions"]
    protocol = judge_conditions(plan, conditions, counts, asked_of_original=asked)
    finer_ranks = judge_conditions(plan, conditions, counts, asked_of_original=asked, fine=True)
    answer = {
        **about,
        "plan": {"in_each": plan.in_each, "targets": len(plan.targets), "shadows": len(plan.shadows)},
        "settings": plan_file["settings"],
        "device": plan_file["device"],
        "facts": plan_file["facts"],
        "protocol": msgspec.to_builtins(protocol),
        "finer_ranks": msgspec.to_builtins(finer_ranks),
    }
    options.result.write_text(json.dumps(answer, indent=1, ensure_ascii=False) + "\n")
    for condition, questions in protocol.items():
        for question, adversaries in questions.items():
            for adversary, found in adversaries.items():
                finer = finer_ranks[condition][question][adversary].mean.auc
                print(
                    f"{condition:32} {question:16} {adversary:9} AUC {found.mean.auc:.3f} (finer ranks "
                    f"{finer:.3f})"
                )


if __name__ == "__main__":
    main()
