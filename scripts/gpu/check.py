"""Checks and measures everything that runs on a GPU, in one command; only Python, NumPy, PyTorch and Triton
need to be there.

    PYTHONPATH=src:. python -m scripts.gpu.check --json docs/data/gpu.json --glove
    glove.840B.300d.34k.w2v.txt.bz2

Each part runs on its own: what fails is printed, and the others go on. With TRITON_INTERPRET=1 it is a
rehearsal on a machine without a GPU: nothing that it measures then means anything.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from scripts.gpu.device import DEVICE, environment, free_memory, missing, say
from scripts.gpu.draw_speeds import measure_channel, measure_columns, measure_outcomes
from scripts.gpu.spaces import embedding_of, spaces
from scripts.gpu.speeds import ceiling, measure_space, on_processor, torch_flat

found: dict[str, Any] = {"parts": {}}


def main() -> None:
    """Run what was asked for, and write what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="write what was found here")
    parser.add_argument(
        "--glove", type=Path, help="GloVe 840B 300d, 34k words, bzip2; without it 300 dimensions are made up"
    )
    parser.add_argument("--only", default="", help="only parts whose name holds this")
    parser.add_argument("--skip", default="nothing", help="no parts whose name holds this")
    parser.add_argument(
        "--outcome-words", type=int, default=400_000, help="how many words N_w is measured for"
    )
    options = parser.parse_args()
    torch.set_float32_matmul_precision("highest")
    for name, without in missing().items():
        say(f"{name} is not installed here: {without}")

    def wanted(name: str, run: Callable[[], Any]) -> None:
        if options.only in name and options.skip not in name:
            _part(name, run)
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    wanted("environment", environment)
    wanted("ceiling", ceiling)
    wanted("checks", _checks)
    limits = found["parts"].get("ceiling", {})
    for name, (origin, vectors) in spaces(options.glove).items():
        embedding = embedding_of(vectors)
        limit = limits.get(name, float("nan"))
        wanted(f"speed {name}", partial(measure_space, name, origin, embedding, limit))
        wanted(f"torch {name}", partial(torch_flat, embedding))
        wanted(f"processor {name}", partial(on_processor, embedding))
        if name == "50,000 x 50":
            wanted("channel", partial(measure_channel, embedding))
            wanted("columns", partial(measure_columns, embedding))
        if name == "400,000 x 50":
            wanted("N_w", partial(measure_outcomes, embedding, options.outcome_words))
        free_memory()
    failed = [name for name, each in found["parts"].items() if "failed" in each]
    failed += [
        name
        for name, each in found["parts"].get("checks", {}).items()
        if isinstance(each, dict) and not each.get("passed", True)
    ]
    say(f"done; failed: {', '.join(failed) or 'nothing'}")
    sys.exit(1 if failed else 0)


def _part(name: str, run: Callable[[], Any]) -> None:
    """Run one part; what fails is printed and noted."""
    say(f"--- {name}")
    try:
        found["parts"][name] = run()
    except Exception:  # the other parts are still worth their time
        found["parts"][name] = {"failed": traceback.format_exc()}
        say(f"FAILED {name}\n{traceback.format_exc()}")


def _checks() -> dict[str, Any]:
    """Run every check of tests/gpu on the card."""
    from tests.gpu.checks import CHECKS

    outcomes: dict[str, Any] = {}
    for check in CHECKS:
        begin = time.perf_counter()
        try:
            outcomes[check.__name__] = {"passed": True, "saw": check(DEVICE)}
        except Exception:  # the other checks are still worth their time
            outcomes[check.__name__] = {"passed": False, "saw": traceback.format_exc()}
        outcome = outcomes[check.__name__]
        say(
            f"{'ok    ' if outcome['passed'] else 'FAILED'} {check.__name__} "
            f"({time.perf_counter() - begin:.1f} s): {outcome['saw']}"
        )
    return outcomes


if __name__ == "__main__":
    main()
