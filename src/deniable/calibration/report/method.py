"""How the numbers of a calibration were found, and for which mechanism, in words."""

from __future__ import annotations

from deniable.calibration.report.findings import Findings
from deniable.report.wording import percent

PER_WORD = {
    "rays": "directions per word",
    "exact": "draws that distinct words are expected in",
    "simulation": "draws per word and ε",
}


def how(found: Findings, looked_at: str) -> list[str]:
    """Return how the numbers were found, in two paragraphs."""
    method, rays = found.calibration.method, found.calibration.rays
    if method == "exact":
        return [
            f"For {looked_at}, the mechanism's own probabilities of all outputs were summed at each ε shown, in float64. Nothing was "
            "drawn, so nothing is estimated: errors are 0, and “at most” is the value itself.",
            f"The number of distinct words is the one expected in {rays:,} draws.",
        ]
    errors = (
        f"“± error” is one standard error (the largest of any word at ε = {found.choice.epsilon:g} is "
        f"{percent(float(found.choice.errors.max()))}). Words that nothing met are missing from S_w, so it is estimated from below. "
        "“At most” is a bound by Hoeffding and by Maurer and Pontil, whichever is smaller, with a union bound over all words; it holds for "
        "an ε fixed beforehand."
    )
    if method == "simulation":
        return [
            f"For {looked_at}, the mechanism itself drew {rays:,} times at each ε shown, from a public seed, so anybody gets the same "
            "numbers. Releases draw secure noise of their own.",
            errors + (" This ε was found on the same draws." if found.aimed else ""),
        ]
    return [
        f"For {looked_at}, {rays:,} random directions were followed from the word outwards, through every length of noise, to "
        "the words whose cells they cross. That gives what the word becomes at every ε at once, each draw exactly as the search would "
        "decide it. The directions come from a public seed and are shared by all words, so anybody gets the same numbers. Releases never "
        "share directions.",
        "The estimates are unbiased; " + errors + (" This ε was found on the same directions." if found.aimed else ""),
    ]


def mechanism_name(found: Findings) -> str:
    """Return the mechanism with its options, as people read it."""
    mechanism, embedding = found.calibration.mechanism, found.calibration.embedding
    options = ", ".join(f"{name} = {value}" for name, value in mechanism.identity(embedding)["parameters"].items())
    return f"{mechanism.name} ({options})" if options else mechanism.name


def mechanism_options(found: Findings) -> str:
    """Return the options of the command line that choose the mechanism, as far as they are single values."""
    mechanism = found.calibration.mechanism
    options = "".join(f" -O {name}={value if isinstance(value, str | int | float) else '…'}" for name, value in mechanism.options.items())
    return "" if mechanism.is_papers else f" --mechanism {mechanism.name}{options}"
