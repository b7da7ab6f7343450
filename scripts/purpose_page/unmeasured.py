"""What was planned and has no result, and what cannot be reached, in words."""

from __future__ import annotations

from purpose_page.names import DATA, level_name, listed, space_name
from purpose_results import Result, not_measured, setting_of
from purpose_settings import Setting, settings


def unmeasured_section(results: list[Result]) -> str:
    """Return what is missing, and where no ε brings the attacker to its level."""
    left = not_measured(results)
    said = f"{len(settings()) - len(left)} of {len(settings())} settings are measured."
    lines = [f"{said} Missing: {_in_words(left)}." if left else "All settings are measured."]
    beyond = [setting_of(each) for each in results if not each["releases"]]
    if beyond:
        lines += [
            "",
            "No ε brings the attacker to the level that was asked for, as guessing blindly names more, or hardly less: "
            f"{_in_words(beyond)}.",
        ]
    return "\n".join(lines)


def _in_words(of: list[Setting]) -> str:
    """Return settings as a sentence: spaces of one data set and level go together."""
    together: dict[str, list[str]] = {}
    for each in of:
        space = space_name(each.data, each.space, each.mechanism).replace("*", "")
        together.setdefault(f"{DATA[each.data]} at {level_name(each.data, each.level)}", []).append(space)
    return "; ".join(f"{at}: {listed(spaces)}" for at, spaces in together.items())
