"""Write the figures that the page of the service shows of classifiers, from the results in docs/experiments.

Usage: python scripts/make_service_figures.py
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "src" / "deniable" / "service" / "page" / "measured.js"
RESULTS = {
    "news topics": ROOT / "docs" / "experiments" / "decoding-agnews-multivariate.json",
    "film reviews": ROOT / "docs" / "experiments" / "decoding-sst2-multivariate.json",
}


def measured() -> str:
    """Return the module: for each task what a classifier gets right on original text, and on released text by ε."""
    tasks = []
    fingerprint = ""
    for name, path in RESULTS.items():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        fingerprint = found["embedding"]["fingerprint"]
        rows = [
            {
                "epsilon": epsilon,
                "right": round(mean(r["accuracy"]["decoded words"]["both"] for r in found["releases"] if r["epsilon"] == epsilon), 3),
                "named": round(mean(r["named"] for r in found["releases"] if r["epsilon"] == epsilon), 3),
            }
            for epsilon in sorted({release["epsilon"] for release in found["releases"]})
        ]
        tasks.append(
            {"name": name, "texts": found["texts"], "original": round(mean(one["words"] for one in found["original"]), 3), "rows": rows}
        )
    content = json.dumps({"fingerprint": fingerprint, "mechanism": "multivariate", "tasks": tasks}, indent=2)
    head = "// Written by scripts/make_service_figures.py from docs/experiments; a test fails when they differ."
    return f"{head}\nexport const measured = {content};\n"


def main() -> None:
    """Write the file."""
    PAGE.write_text(measured(), encoding="utf-8")


if __name__ == "__main__":
    main()
