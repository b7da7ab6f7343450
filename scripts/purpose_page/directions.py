"""By which penalty directions are learnt best, and what that is worth in releases: docs/experiments/purpose-directions.json."""

from __future__ import annotations

from statistics import mean
from typing import Any

from deniable.purpose.directions import PENALTY
from purpose_page.names import DATA, READINGS, table

_SETS = {
    "topic": "AG News",
    "sentiment": "IMDb",
    "newsgroups": "20 Newsgroups",
    "insurance": "InsuranceQA domains",
    "negation": "praise or negation",
    "questions": "kinds of questions",
}
_SHOWN = ("released words", "decoded words", "released vectors", "decoded vectors")


def directions_section(result: dict[str, Any]) -> str:
    """Return the section: the choice on public texts, then releases in spaces of both penalties."""
    return f"""{_choice(result["public"])}

{_gain(result["releases"])}

{_releases_table(result["releases"])}"""


def _choice(public: list[dict[str, Any]]) -> str:
    penalties = list(public[0]["accuracy"])
    means = {penalty: mean(each["accuracy"][penalty] for each in public) for penalty in penalties}
    best = max(means, key=lambda penalty: means[penalty])
    rows = [[_SETS[each["name"]], f"{each['texts']:,}", *(_percent(each["accuracy"][name]) for name in penalties)] for each in public]
    rows.append(["**mean**", "", *(f"**{_percent(means[name])}**" if name == best else _percent(means[name]) for name in penalties)])
    said = f"The mean over the {len(public)} sets is largest at {best}"
    said += ", which is what `deniable` takes." if float(best) == PENALTY else f"; `deniable` takes {PENALTY:g}."
    return f"{said}\n\n{table(['public texts', 'number', *penalties], 1, rows)}"


def _releases_table(releases: list[dict[str, Any]]) -> str:
    rows = []
    for each in releases:
        named = 100.0 * mean(run["named"] for run in each["releases"])
        reached = [_percent(_accuracy(each, name)) for name in _SHOWN]
        now = "now" if each["penalty"] == PENALTY else "before"
        rows.append([DATA[each["data"]], f"16 × {each['strength']:g}", now, f"{named:.1f} %", f"{each['epsilon']:g}", *reached])
    return table(["data", "shaped", "penalty", "names", "ε", *(READINGS[name] for name in _SHOWN)], 3, rows)


def _gain(releases: list[dict[str, Any]]) -> str:
    """Say what the penalty of now adds, setting by setting, where both were measured."""
    parts = []
    for each in (one for one in releases if one["penalty"] == PENALTY):
        same = (other for other in releases if (other["data"], other["strength"]) == (each["data"], each["strength"]) and other is not each)
        before = next(same, None)
        if before is not None:
            more = [_shown(_accuracy(each, name)) - _shown(_accuracy(before, name)) for name in ("decoded words", "released vectors")]
            parts.append(
                f"{DATA[each['data']]} 16 × {each['strength']:g} {more[0]:+.1f} by words decoded, {more[1]:+.1f} by vectors as released"
            )
    return f"What it adds, in points, where the attacker names about 8 % of the words: {'; '.join(parts)}.".replace("-", "−")


def _accuracy(each: dict[str, Any], reading: str) -> float:
    return float(mean(run["accuracy"][reading]["both"] for run in each["releases"]))


def _shown(share: float) -> float:
    return round(100.0 * share, 1)


def _percent(share: float) -> str:
    return f"{_shown(share):.1f}"
