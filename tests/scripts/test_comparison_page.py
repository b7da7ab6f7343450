"""The correction stands on the page about mechanisms once, and goes when the results are of decoded text too."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_comparison_page", ROOT / "scripts" / "make_comparison_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])  # scripts import one another
        spec.loader.exec_module(module)
    return module


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


def test_the_committed_page_is_corrected(script: ModuleType) -> None:
    words = (ROOT / "docs" / "experiments" / "comparison.md").read_text("utf-8").split(f"\n{script.HEADING}\n")[0].rstrip("\n")
    attacked = script.read_results(script.FOLDER)
    assert attacked
    decoded = script.ahead_of_randomised_response(script.read_rows(script.FOLDER))
    assert "ahead of randomised response" in decoded
    assert script.with_correction(words, needed=True, attacked=script.headline(attacked), decoded=decoded) == words
