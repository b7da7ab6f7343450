"""What the refined results say, in sentences made of their figures."""

from __future__ import annotations

from collections.abc import Callable

from purpose_page.names import DATA, LEVELS, MECHANISMS, is_shaped, level_name, listed
from purpose_page.refined import Row
from purpose_settings import MAIN, NOT_LINEAR, OTHER_PURPOSE, PURPOSES, SHIFTED, SOURCE

Fits = Callable[[Row], bool]


def findings(rows: list[Row]) -> str:
    """Return the findings."""
    said = [
        *_beside(rows, "Shaped 16 × 2 beside the built-in space", _shaped, _space("default")),
        *_strengths(rows),
        *_beside(rows, "Reduced to 16 beside the built-in space", _space("reduced-16"), _space("default")),
        *_kinds(rows),
        *_readings(rows),
        *_mechanisms(rows),
        *_weaker_in_context(rows),
        *_other_spaces(rows),
        *_not_linear(rows),
    ]
    return "\n".join(f"- {each}" for each in said)


def _shaped(row: Row) -> bool:
    return is_shaped(row.data, row.space)


def _space(name: str) -> Fits:
    return lambda row: row.space == name


def _beside(rows: list[Row], name: str, ones: Fits, others: Fits) -> list[str]:
    """Say what one space has more than another at each level, each by its own best reading on validation texts."""
    parts = []
    plain = [row for row in rows if row.mechanism == "multivariate"]
    for data in MAIN:
        found = []
        for level in LEVELS:
            at = [row for row in plain if (row.data, row.level) == (data, level)]
            one, other = next(filter(ones, at), None), next(filter(others, at), None)
            if one and other:
                more = f"{round(one.best(), 1) - round(other.best(), 1):+.1f}".replace("-", "−")
                found.append(f"{more} at {level_name(data, level)}")
        if found:
            parts.append(f"{DATA[data]} {', '.join(found)}")
    return [f"{name}, in points, each by the reading chosen on validation texts: {'; '.join(parts)}."] if parts else []


def _strengths(rows: list[Row]) -> list[str]:
    """Say what each strength reaches at the smallest attacker, in 16 dimensions."""
    parts = []
    for data in MAIN:
        own = {row.space: row for row in rows if (row.data, row.level, row.mechanism) == (data, LEVELS[0], "multivariate")}
        shapes = [(strength, own.get(f"{PURPOSES[data]}-16-{strength}")) for strength in (1, 2, 4, 8)]
        shown = [f"{row.best():.1f} at strength {strength}" for strength, row in shapes if row]
        if len(shown) > 1:
            parts.append(f"{DATA[data]} {', '.join(shown)}")
    return [f"Where the attacker names {100 * float(LEVELS[0]):.0f} % of words, in 16 dimensions: {'; '.join(parts)}."] if parts else []


def _other_spaces(rows: list[Row]) -> list[str]:
    """Say what other public texts than those of the one purpose leave, at the smallest attacker."""
    parts = []
    for data in MAIN:
        own = {row.space: row for row in rows if (row.data, row.level, row.mechanism) == (data, LEVELS[0], "multivariate")}
        spaces = [f"{PURPOSES[data]}-16-2", "both-16-2", *SHIFTED[data], OTHER_PURPOSE[data], "default"]
        shown = [f"{own[space].best():.1f} {own[space].label.replace('*', '')}" for space in spaces if space in own]
        if len(shown) > 2:
            parts.append(f"{DATA[data]}: {', '.join(shown)}")
    return [f"**Other public texts**, at the same attacker, all shaped ones 16 × 2: {'; '.join(parts)}."] if parts else []


def _not_linear(rows: list[Row]) -> list[str]:
    """Say what shaping gives where the purpose is not linear in word vectors."""
    parts = []
    for data in NOT_LINEAR:
        for level in LEVELS:
            at = {row.space: row for row in rows if (row.data, row.level, row.mechanism) == (data, level, "multivariate")}
            shaped, plain = at.get(f"{PURPOSES[data]}-16-2"), at.get("default")
            if shaped and plain:
                clean = max(shaped.original.values())
                parts.append(
                    f"{DATA[data]} at {level_name(data, level)} {shaped.best():.1f} shaped, {plain.best():.1f} in the built-in space "
                    f"(unperturbed {clean:.1f}, majority {shaped.majority:.1f})"
                )
    return [f"**Purposes that are not linear in word vectors**: {'; '.join(parts)}."] if parts else []


def _kinds(rows: list[Row]) -> list[str]:
    """Say which kinds each space shows at equal naming of words."""
    parts = []
    for data in MAIN:
        for level in LEVELS:
            at = [row for row in rows if (row.data, row.level, row.mechanism) == (data, level, "multivariate")]
            at = [row for row in at if _shaped(row) or row.space in ("reduced-16", "default", SOURCE)]
            if at and isinstance(level, float):
                shown = ", ".join(f"{row.label.replace('*', '')} ({row.kind:.1f})" for row in sorted(at, key=lambda row: -row.kind))
                parts.append(f"{DATA[data]} at {level_name(data, level)}: {shown}")
    return [f"Kinds named at equal naming of words, in %, the most first. {'; '.join(parts)}."] if parts else []


def _readings(rows: list[Row]) -> list[str]:
    """Say which reading is best, and whether decoding helps."""
    decoded = sum(row.chosen().startswith("decoded") for row in rows)
    helped = {
        name: sum(row.accuracy[f"decoded {name}"] > row.accuracy[f"released {name}"] for row in rows) for name in ("words", "vectors")
    }
    return [
        f"A decoded reading is the best one on validation texts in {decoded} of {len(rows)} rows. Decoding raises the accuracy by words in "
        f"{helped['words']} of them, and that by vectors in {helped['vectors']}."
    ]


def _mechanisms(rows: list[Row]) -> list[str]:
    """Say what other mechanisms have beside the paper's in the same space."""
    parts = []
    for row in rows:
        if row.mechanism != "multivariate":
            key = (row.data, row.space, "multivariate", row.level)
            paper = next((each for each in rows if each.key == key), None)
            if paper:
                at = f"{DATA[row.data]}, {level_name(row.data, row.level)}, {paper.label.replace('*', '')}"
                parts.append(f"{MECHANISMS[row.mechanism]} {row.best():.1f}, the paper's {paper.best():.1f} ({at})")
    return [f"Other mechanisms in the same space, each by the reading chosen on validation texts: {'; '.join(parts)}."] if parts else []


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
