"""README says what the table of proved numbers says."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_readme_quotes_the_table_of_the_guarantee() -> None:
    table = (ROOT / "docs/guarantee.md").read_text(encoding="utf-8").split("<!-- numbers: ")[1]
    cells = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in table.splitlines()
        if re.match(r"\| \d", line)
    }
    said = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    (low, _, low_bound, _, low_five, _), (high, _, high_bound, _, high_five, _) = cells["3"], cells["6"]
    assert (
        f"at ε = 3 and 6: a reader of single words names at most {low_bound} and {high_bound} of English"
        in said
    )
    assert f"at most {low}-fold and {high}-fold" in said
    assert f"ε′ = {low_five.split()[0]} and {high_five.split()[0]}" in said
