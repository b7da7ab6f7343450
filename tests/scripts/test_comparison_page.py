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


def test_which_differences_are_clear_is_said_of_all_results_and_replaces_what_was_said(script: ModuleType) -> None:
    results = script.read_comparisons()
    found = {name: 100 * script.telling_difference(result) for name, result in results.items()}
    clear = script.clear_differences(results.values())
    assert f"{min(found.values()):.1f} to {max(found.values()):.1f} points of accuracy with 2 runs" in clear
    assert script.clear_differences([]) == ""
    plain = f"{script.ADVICE}\n\nOnly what the numbers below show. Clear is more than 1 point.\n\nAdvice."
    said = script.with_correction(plain, needed=False, clear=clear)
    assert "more than 1 point" not in said
    assert clear in " ".join(said.split())
    for name, result in results.items():
        shown = script.section(name, "title", result)
        assert shown.count(f"(clear: more than {found[name]:.1f} points)") == len(result.targets), "each table has its own"


def test_a_marked_row_is_beaten_by_no_row_of_its_table_as_shown(script: ModuleType) -> None:
    result = script.read_comparisons()[script.AT_EQUAL_ATTACKERS]
    for target in result.targets:
        met, _ = script.met_and_missed(result, target)
        points = [(float(cells[3]), -float(cells[5].split(" %")[0]), cells[-1]) for cells in met]
        for reached, loss, mark in points:
            beaten = any(more <= reached and worse <= loss and (more, worse) != (reached, loss) for more, worse, _ in points)
            assert (mark == "◆") == (not beaten), (target, reached, loss)


def test_the_committed_page_is_corrected(script: ModuleType) -> None:
    words = (ROOT / "docs" / "experiments" / "comparison.md").read_text("utf-8").split(f"\n{script.HEADING}\n")[0].rstrip("\n")
    attacked = script.read_results(script.FOLDER)
    assert attacked
    decoded = script.ahead_of_randomised_response(script.read_rows(script.FOLDER))
    assert "ahead of randomised response" in decoded
    stronger = script.how_much_stronger(script.compare(script.FOLDER, attacked))
    assert "the best attacker names more" in stronger
    clear = script.clear_differences(script.read_comparisons().values())
    found = script.with_correction(words, needed=True, attacked=script.headline(attacked), decoded=decoded, stronger=stronger, clear=clear)
    assert found == words
