"""What was planned and has no result yet, in words."""

from __future__ import annotations

from purpose_page.names import DATA, LEVELS, MECHANISMS, is_shaped, listed
from purpose_results import Result, not_measured, setting_of
from purpose_settings import AUTHORS, MAIN, NOT_LINEAR, OTHER_PURPOSE, OTHERS, PURPOSES, SHIFTED, SOURCE, Setting, settings

_GROUPS = {
    "shapes": "Other dimensions and strengths",
    "mechanisms": "SanText and randomised response",
    "both": "Two purposes at once, and the space of another purpose",
    "shift": "Public texts of another field, or with other shares of labels",
    "bent": "Purposes that are not linear in word vectors",
    "others": "The other data sets, refined and in three runs",
    "authors": "Authors, refined and in three runs",
    "source": "GloVe in 300 dimensions",
    "three": "The main comparison",
}
_PUBLIC = {"both": "a space for both purposes"}
_PUBLIC |= dict.fromkeys(("evenreviews", "eventopic"), "fewer texts with even labels")
_PUBLIC |= dict.fromkeys(("skewedreviews", "skewedtopic"), "fewer texts with skewed labels")


def unmeasured_section(results: list[Result]) -> str:
    """Return what is missing, group by group in order of worth, and what cannot be reached."""
    left = not_measured(results)
    lines = [f"{len(settings()) - len(left)} of {len(settings())} settings are measured by the refined protocol. Missing:", ""]
    groups: dict[str, list[Setting]] = {}
    for each in left:
        groups.setdefault(_group(each), []).append(each)
    lines += [f"- {_GROUPS[name]} ({len(own)} setting{'s' if len(own) > 1 else ''}): {_in_words(own)}." for name, own in groups.items()]
    if not left:
        lines = ["All settings are measured."]
    beyond = [setting_of(each) for each in results if not each["releases"]]
    if beyond:
        lines += ["", f"No ε brings the attacker to the level that was asked for: {_in_words(beyond)}."]
    return "\n".join(lines)


def _group(setting: Setting) -> str:
    """Return what a setting is measured for."""
    if setting.mechanism != "multivariate":
        return "mechanisms"
    if setting.space == SOURCE:
        return "source"
    for name, data in (("bent", NOT_LINEAR), ("others", OTHERS), ("authors", AUTHORS)):
        if setting.data in data:
            return name
    assert setting.data in MAIN
    if setting.space.startswith("both-") or setting.space == OTHER_PURPOSE[setting.data]:
        return "both"
    if setting.space in SHIFTED[setting.data]:
        return "shift"
    shaped = setting.space.count("-") == 2 and not setting.space.endswith("-16-2")
    return "shapes" if shaped else "three"


def _in_words(missing: list[Setting]) -> str:
    """Return settings as sentences: data sets that miss the same go together, and so do spaces that miss the same levels."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for data in dict.fromkeys(each.data for each in missing):
        alike.setdefault(tuple(_spaces([each for each in missing if each.data == data])), []).append(data)
    return "; ".join(f"{listed([DATA[each] for each in data])}: {', '.join(spaces)}" for spaces, data in alike.items())


def _spaces(missing: list[Setting]) -> list[str]:
    """Return the spaces of one data set, those with the same levels together."""
    levels: dict[str, list[float | str]] = {}
    for each in missing:
        levels.setdefault(_space(each), []).append(each.level)
    together: dict[tuple[float | str, ...], list[str]] = {}
    for space, own in levels.items():
        together.setdefault(tuple(sorted(own, key=LEVELS.index)), []).append(space)
    return [f"{listed(spaces)} at {_levels(own)}" for own, spaces in together.items()]


def _space(setting: Setting) -> str:
    """Return a space and a mechanism in the same words for all data sets."""
    purpose, *numbers = setting.space.split("-")
    if setting.space == SOURCE:
        name = "300 dimensions"
    elif is_shaped(setting.data, setting.space) or not numbers or purpose == "reduced":
        name = f"the {'built-in' if not numbers else 'reduced' if purpose == 'reduced' else 'shaped'} space"
    elif purpose == PURPOSES[setting.data]:
        name = " × ".join(numbers)
    else:
        name = _PUBLIC.get(purpose, "the space of the other purpose" if setting.space == OTHER_PURPOSE[setting.data] else "another field")
    return f"{MECHANISMS[setting.mechanism]} in {name}" if MECHANISMS[setting.mechanism] else name


def _levels(levels: tuple[float | str, ...]) -> str:
    shares = [f"{100 * level:.0f}" for level in levels if isinstance(level, float)]
    words = [f"{listed(shares)} % of words"] if shares else []
    return listed([*words, *("equal kinds" if each == "kind" else "equal words in context" for each in levels if isinstance(each, str))])
