"""How a calibration was measured, in words: the last section of its page."""

from __future__ import annotations

from deniable.calibration.report.findings import Findings
from deniable.calibration.table import TableCalibration
from deniable.report.markup import code
from deniable.report.page import Page
from deniable.report.wording import percent, percent_up

_PER_WORD = {
    "rays": "directions per word",
    "exact": "draws that distinct words are expected in",
    "simulation": "draws per word and ε",
}


def add_method(page: Page, found: Findings) -> None:
    """Add to a page how its numbers were measured, and by which mechanism."""
    calibration, looked_at = found.calibration, found.calibration.looked_at
    page.add_section("How it was measured", *_describe_method(found), *_describe_share(found))
    page.add_table(
        ["what", "value"],
        [
            ["embedding", calibration.embedding.name],
            ["mechanism", found.calibration.mechanism.in_words(found.calibration.embedding)],
            ["fingerprint", code(calibration.embedding.fingerprint)],
            ["words measured, N_w", str(looked_at)],
            ["words measured, S_w", f"{len(found.sample.ids):,}"],
            [_PER_WORD[calibration.method], f"{calibration.draws:,}"],
            [
                f"95 % bound on the worst N_w{'' if looked_at.all else f' of {looked_at.them}'}",
                f"{percent_up(float(found.choice.upper.max()))} at ε = {found.choice.epsilon:g}",
            ],
        ],
        text_columns=2,
    )


def _describe_share(found: Findings) -> list[str]:
    """Return where the bound on the share of the vocabulary comes from, if there is one."""
    missing, looked_at = found.choice.missing, found.calibration.looked_at
    if missing is None:
        return []
    chosen = (
        "an ε that was found on these very words, too" if missing.for_any_epsilon else "an ε fixed beforehand"
    )
    return [
        f"The bound on the share of the vocabulary counts {missing.counted:,} of {looked_at.them}: those "
        "that miss the target, and those "
        "that may, by the error of their N_w. It is Clopper and Pearson’s, for words drawn from the "
        "vocabulary without replacement; one "
        f"half of the 5 % is for this draw, the other for the errors. It holds for {chosen}."
    ]


def _describe_method(found: Findings) -> list[str]:
    """Return how the numbers were found, in two paragraphs."""
    method, draws, which = found.calibration.method, found.calibration.draws, found.calibration.looked_at
    looked_at = "every word" if which.all else str(which)
    if method == "exact":
        return [
            f"For {looked_at}, the mechanism's own probabilities of all outputs were summed at each ε shown, "
            "in float64. Nothing was "
            "drawn, so nothing is estimated: errors are 0, and “at most” is the value itself.",
            f"The number of distinct words is the one expected in {draws:,} draws.",
        ]
    errors = (
        f"“± error” is one standard error (the largest one at ε = {found.choice.epsilon:g} is "
        f"{percent(float(found.choice.errors.max()))}). Words that nothing met are missing from S_w, so it "
        "is estimated from below. "
        "“At most” is a bound by Hoeffding and by Maurer and Pontil, whichever is smaller, with a union "
        "bound over "
        f"{which.them}; it holds for an ε fixed beforehand."
    )
    if method == "simulation":
        return [
            f"For {looked_at}, the mechanism itself drew {draws:,} times at each ε shown, "
            + _source_of_draws(found),
            errors + (" This ε was found on the same draws." if found.has_targets else ""),
        ]
    return [
        f"For {looked_at}, {draws:,} random directions were followed from the word outwards, through every "
        "length of noise, to "
        "the words whose cells they cross. That gives what the word becomes at every ε at once, each draw "
        "exactly as the search would "
        "decide it. The directions come from a public seed and are shared by the words, so anybody gets the "
        "same numbers. Releases never "
        "share directions.",
        "The estimates are unbiased; "
        + errors
        + (" This ε was found on the same directions." if found.has_targets else ""),
    ]


def _source_of_draws(found: Findings) -> str:
    if isinstance(found.calibration, TableCalibration) and found.calibration.on_gpu:
        return (
            "with secure noise on a GPU, as releases do there; another run gets other numbers, within "
            "the errors."
        )
    return "from a public seed, so anybody gets the same numbers. Releases draw secure noise of their own."
