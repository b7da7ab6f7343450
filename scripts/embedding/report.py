"""Make docs/reports/default.html and docs/figures/calibration.png: the page of the built-in embedding, and
its main figure.

It looks at every word with 1,000 directions, which takes minutes; interrupted, it continues where it was. The
numbers are the same each time. The sample texts are drawn anew, by secure noise. Run: python -m
scripts.embedding.report
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from deniable.atomic import put
from deniable.calibration import Files, calibrate
from deniable.progress import Stages

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main() -> None:
    """Measure, draw and write."""
    os.environ.setdefault("DENIABLE_HOME", str(Path(tempfile.gettempdir()) / "deniable-calibrate-default"))
    (DOCS / "reports").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Stages("calibrating", unit="words") as progress:
        calibrate(
            files=Files(page=DOCS / "reports" / "default.html", figures=Path(folder)), report=progress.report
        )
        put(DOCS / "figures" / "calibration.png", (Path(folder) / "unchanged.png").read_bytes())


if __name__ == "__main__":
    main()
