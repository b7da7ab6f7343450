"""Write the figures that the page of the service shows of classifiers, from the results in docs/research.

Usage: python -m scripts.service.figures
"""

from __future__ import annotations

import json

from scripts.pages import ROOT
from scripts.purpose.rows import read_results, read_rows

PAGE = ROOT / "src" / "deniable" / "service" / "page" / "measured.js"
TASKS = {"agnews": "news topics", "sst2": "film reviews"}


def measured() -> str:
    """Return the module: for each task what guessing and a classifier get right, on original text and on
    released text by ε."""
    results = read_results()
    tasks = []
    for data, name in TASKS.items():
        found = [
            row
            for row in read_rows(results)
            if (row.data, row.space, row.mechanism) == (data, "default", "multivariate")
        ]
        rows = [
            {
                "epsilon": row.epsilon,
                "released": round(row.accuracy["released words"] / 100, 3),
                "decoded": round(row.best("decoded") / 100, 3),
                "named": round(row.named / 100, 3),
            }
            for row in sorted(found, key=lambda row: row.epsilon)
        ]
        guessing, original = (
            round(found[0].majority / 100, 3),
            round(max(found[0].original.values()) / 100, 3),
        )
        tasks.append({"name": name, "guessing": guessing, "original": original, "rows": rows})
    used = next(each["embedding"] for each in results if each["embedding"]["name"] == "default")
    content = json.dumps(
        {"fingerprint": used["fingerprint"], "mechanism": "multivariate", "tasks": tasks}, indent=2
    )
    head = "// Written by scripts/service/figures.py from docs/research; a test fails when they differ."
    return f"{head}\nexport const measured = {content};\n"


def main() -> None:
    """Write the file."""
    PAGE.write_text(measured(), encoding="utf-8")


if __name__ == "__main__":
    main()
