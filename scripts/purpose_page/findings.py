"""What the refined results say, in sentences made of their figures."""

from __future__ import annotations

from collections.abc import Callable

from purpose_page.names import DATA, LEVELS, MECHANISMS, is_shaped, level_name, listed
from purpose_page.refined import Row
from purpose_settings import MAIN, SOURCE

Fits = Callable[[Row], bool]


def findings(rows: list[Row]) -> str:
    """Return the findings."""
    said = [
        *_beside(rows, "Shaped beside the built-in space", _shaped, _space("default")),
        *_beside(rows, "Reduced to 16 beside the built-in space", _space("reduced-16"), _space("default")),
        *_kinds(rows),
        *_readings(rows),
        *_mechanisms(rows),
        *_weaker_in_context(rows),
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
    own = [row for row in rows if _shaped(row) and row.mechanism == "multivariate"]
    by_vectors = sum(row.chosen() == "released vectors" for row in own)
    helped = {
        name: sum(row.accuracy[f"decoded {name}"] > row.accuracy[f"released {name}"] for row in rows) for name in ("words", "vectors")
    }
    return [
        f"In shaped spaces mean vectors of words as released are the best reading on validation texts in {by_vectors} of {len(own)} rows: "
        "the noise averages out along the few directions that carry the purpose. Decoding raises the accuracy by words in "
        f"{helped['words']} of {len(rows)} rows, and that by vectors in {helped['vectors']}."
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
