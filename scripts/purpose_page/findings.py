"""What the rows say, in sentences made of their figures."""

from __future__ import annotations

from purpose_page.names import DATA, LEVELS, MECHANISMS, level_name, listed
from purpose_page.overview import Found
from purpose_page.rows import Row
from purpose_settings import AUTHORS, MAIN, NOT_LINEAR, OTHERS, PURPOSES

Lead = tuple[float, str]
FAR = 10.0
"""Points under unperturbed text from which a purpose is said to be far from it."""


def findings(rows: list[Row]) -> str:
    """Return the findings."""
    said = [
        *_leads(rows, "Shaped 16 × 2", "{}-16-2"),
        *_leads(rows, "Reduced to 16", "reduced-16"),
        *_kinds(rows),
        *_readings(rows),
        *_mechanisms(rows),
        *_weaker_in_context(rows),
    ]
    return "\n".join(f"- {each}" for each in said)


def failures(rows: list[Row]) -> str:
    """Return where shaping fails."""
    return "\n".join(f"- {each}" for each in [*_far(rows), *_not_linear(rows)])


def points(value: float) -> str:
    """Return points with their sign."""
    return f"{value:+.1f}".replace("-", "−")


def apart(one: Row, other: Row) -> float:
    """Return the points between two rows, of the figures as they are shown."""
    return round(one.best(), 1) - round(other.best(), 1)


def _range(leads: list[Lead]) -> str:
    """Return the smallest and the largest lead, and where they are."""
    low, high = min(leads), max(leads)
    return f"{points(low[0])} ({low[1]})" + (f" to {points(high[0])} ({high[1]})" if len(leads) > 1 else "")


def _leads(rows: list[Row], name: str, space: str) -> list[str]:
    """Say what a space has more than the built-in one, at each level of words, over the data sets."""
    found, parts = Found(rows), []
    for level in LEVELS:
        pairs = [(found.at(data, space, level), found.at(data, "default", level)) for data in (*MAIN, *OTHERS)]
        leads = [(apart(one, other), DATA[one.data]) for one, other in pairs if one and other]
        if leads:
            at = {"kind": "at equal kinds", "context": "in context"}.get(str(level), f"at {level_name(MAIN[0], level)}")
            parts.append(f"{_range(leads)} {at}")
    return [f"**{name}** beside the built-in space, in points: {'; '.join(parts)}."] if parts else []


def _kinds(rows: list[Row]) -> list[str]:
    """Say whether a space shows more kinds than the built-in one at equal naming of words."""
    found, parts = Found(rows), []
    for name, space in (("shaped 16 × 2", "{}-16-2"), ("reduced to 16", "reduced-16")):
        leads = []
        for data in (*MAIN, *OTHERS):
            for level in LEVELS:
                one, other = found.at(data, space, level), found.at(data, "default", level)
                if one and other and isinstance(level, float):
                    more = round(round(one.kind, 1) - round(other.kind, 1), 1)
                    leads.append((more, f"{DATA[data]} at {level_name(data, level)}"))
        if leads:
            parts.append(f"{name} {_range(leads)}, more in {sum(more > 0 for more, _ in leads)} of {len(leads)} cases")
    said = "Kinds of words that the attacker names beyond those in the built-in space, at equal naming of words, in points: "
    return [said + "; ".join(parts) + "."] if parts else []


def _readings(rows: list[Row]) -> list[str]:
    """Say which reading is best, and whether decoding helps."""
    decoded = sum(row.chosen().startswith("decoded") for row in rows)
    helped = {
        name: sum(row.accuracy[f"decoded {name}"] > row.accuracy[f"released {name}"] for row in rows) for name in ("words", "vectors")
    }
    return [
        f"Of {len(rows)} rows a decoded reading is the best one on validation texts in {decoded}. Decoding raises the accuracy by words in "
        f"{helped['words']} of all rows, and that by vectors in {helped['vectors']}."
    ]


def _mechanisms(rows: list[Row]) -> list[str]:
    """Say what other mechanisms have beside the paper's in the same space."""
    found, parts = Found(rows), []
    for mechanism in list(MECHANISMS)[1:]:
        own = [row for row in rows if row.mechanism == mechanism]
        pairs = [(row, found.at(row.data, row.space, row.level)) for row in own]
        leads = [
            (apart(row, paper), f"{DATA[row.data]} at {level_name(row.data, row.level)}, {paper.label}") for row, paper in pairs if paper
        ]
        if leads:
            parts.append(f"{MECHANISMS[mechanism]} {_range(leads)}, ahead in {sum(more > 0 for more, _ in leads)} of {len(leads)} cases")
    return [f"Other mechanisms beside the paper's in the same space, in points: {'; '.join(parts).replace('*', '')}."] if parts else []


def _weaker_in_context(rows: list[Row]) -> list[str]:
    """Say it where the attacker in context names fewer words than the one who reads word by word, for whom ε is then too large."""
    weaker = [
        f"{row.in_context:.1f} against {row.named:.1f} % ({DATA[row.data]}, {row.label.replace('*', '')})"
        for row in rows
        if row.in_context is not None and row.in_context < row.named
    ]
    if not weaker:
        return []
    said = "This attacker in context names fewer words than the one who reads word by word, so it is the weaker one here: "
    return [said + listed(weaker) + "."]


def _far(rows: list[Row]) -> list[str]:
    """Say where even the best shaped space is far from unperturbed text, the farthest first."""
    found, far = Found(rows), []
    for data, level in found.places:
        shaped = [found.at(data, space, level) for space in ("{}-16-2", "{}-16-4")]
        there = [row for row in shaped if row]
        if there and data not in (*AUTHORS, *NOT_LINEAR):
            best, clean = (round(each, 1) for each in (max(row.best() for row in there), found.unperturbed(data)))
            far.append((round(clean - best, 1), f"{DATA[data]} at {level_name(data, level)} ({best:.1f} of {clean:.1f})"))
    shown = [name for missing, name in sorted(far, reverse=True) if missing > FAR]
    return [f"**Far from unperturbed text**, by more than {FAR:.0f} points, however shaped: {listed(shown)}."] if shown else []


def _not_linear(rows: list[Row]) -> list[str]:
    """Say what shaping gives where the purpose is not linear in word vectors."""
    found, parts = Found(rows), []
    for data in NOT_LINEAR:
        for level in LEVELS:
            shaped, plain = found.at(data, f"{PURPOSES[data]}-16-2", level), found.at(data, "default", level)
            if shaped and plain:
                parts.append(f"{DATA[data]} {shaped.best():.1f} and {plain.best():.1f} at {level_name(data, level)}")
    said = "**Purposes that are not linear in word vectors**, shaped 16 × 2 and in the built-in space: "
    sets = (
        "The first label is that of SST-2, turned round where a sentence holds a negation: it hangs on two words together; linear models "
        "tell little of it from unperturbed text either. The second is the first word of a question of InsuranceQA, so it hangs on one "
        "function word. What models that are not linear would tell was not measured."
    )
    return [f"{said}{'; '.join(parts)}. {sets}"] if parts else []
