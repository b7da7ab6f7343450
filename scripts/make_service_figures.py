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
RESULTS = ROOT / "docs" / "experiments" / "purpose.json"
TASKS = {"agnews": "news topics", "sst2": "film reviews"}


def measured() -> str:
    """Return the module: for each task what a classifier gets right on original text, and on released text by ε."""
    tasks = []
    fingerprint = ""
    everything: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))
    plain = [each for each in everything if (each["embedding"]["name"], each["mechanism"]) == ("default", "multivariate")]
    for data, name in TASKS.items():
        own = sorted((each for each in plain if each["name"] == data and each["releases"]), key=lambda each: each["epsilon"])
        fingerprint = own[0]["embedding"]["fingerprint"]
        rows = [
            {
                "epsilon": each["epsilon"],
                "right": round(mean(release["accuracy"]["decoded words"]["both"] for release in each["releases"]), 3),
                "named": round(mean(release["named"] for release in each["releases"]), 3),
            }
            for each in own
        ]
        original = round(mean(one["words"]["both"] for each in own for one in each["original"]), 3)
        tasks.append({"name": name, "texts": own[0]["texts"], "original": original, "rows": rows})
    content = json.dumps({"fingerprint": fingerprint, "mechanism": "multivariate", "tasks": tasks}, indent=2)
    head = "// Written by scripts/make_service_figures.py from docs/experiments; a test fails when they differ."
    return f"{head}\nexport const measured = {content};\n"


def main() -> None:
    """Write the file."""
    PAGE.write_text(measured(), encoding="utf-8")


if __name__ == "__main__":
    main()
