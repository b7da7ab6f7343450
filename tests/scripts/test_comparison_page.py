"""The correction stands on the page about mechanisms once, and goes when the results are of decoded text too."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.support.scripts import load_script

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("make_comparison_page")


def test_the_correction_stands_below_its_heading_once(script: ModuleType) -> None:
    plain = f"# Title\n\nBefore.\n\n{script.ADVICE}\n\nAdvice.\n\n- More."
    corrected = script.with_correction(plain, needed=True)
    assert corrected.startswith(f"# Title\n\nBefore.\n\n{script.ADVICE}\n\n**A correction.** ")
    assert script.with_correction(corrected, needed=True) == corrected
    assert script.with_correction(corrected, needed=False) == plain
    both = script.with_correction(corrected, needed=True, attacked="In context 3 points more.")
    assert both.count("**What the adversary misses.**") == both.count("**A correction.**") == 1
    assert "In context 3 points more." in " ".join(both.split())
    assert script.with_correction(both, needed=True, attacked="In context 3 points more.") == both
    assert script.with_correction(both, needed=True) == corrected
    known = script.with_correction(both, needed=True, attacked="In context 3 points more.", stronger="By points 2 more.")
    assert known.count("**What it did not know.** By points 2 more.") == 1
    assert script.with_correction(known, needed=True, attacked="In context 3 points more.") == both


def test_the_committed_page_is_corrected(script: ModuleType) -> None:
    words = (ROOT / "docs" / "experiments" / "comparison.md").read_text("utf-8").split(f"\n{script.HEADING}\n")[0].rstrip("\n")
    attacked = script.read_results(script.FOLDER)
    assert attacked
    decoded = script.ahead_of_randomised_response(script.read_rows(script.FOLDER))
    assert "ahead of randomised response" in decoded
    stronger = script.how_much_stronger(script.compare(script.FOLDER, attacked))
    assert "the best attacker names more" in stronger
    found = script.with_correction(words, needed=True, attacked=script.headline(attacked), decoded=decoded, stronger=stronger)
    assert found == words
