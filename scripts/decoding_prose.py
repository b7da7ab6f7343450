"""What docs/experiments/decoding.md says of its rows, computed from them: what was asked for and reached, who is ahead, what is missing."""

from __future__ import annotations

from statistics import mean

from decoding_results import CPU, DATA, GPU, LEVELS, MECHANISMS, READINGS, Row

GAINS = {"agnews": (3.0, 83.0), "sst2": (3.0, None)}
"""Set before anything was measured, for the paper's mechanism in the built-in space where the attacker names 33 % of the words: the points
above words as released, and the accuracy."""
NEARER = 35.0
"""By how many % decoded word frequencies should be nearer to the true ones."""
AT = 0.33
WANTED = [
    *((data, "multivariate", dimension) for data in ("agnews", "sst2", "mr", "imdb") for dimension in (50, 300)),
    *((data, mechanism, 50) for data in ("agnews", "sst2", "mr", "imdb") for mechanism in ("santext", "randomized-response")),
]
"""The settings that the page is to have at every level."""
APART = 2.0
"""By how many points attackers may differ where the paper's mechanism and randomised response are compared."""


def findings(rows: list[Row]) -> str:
    """Return what was asked for and what was reached, and what the rows say."""
    lines = ["## What it says", ""]
    asked = [line for data, (gain, accuracy) in GAINS.items() for line in _asked(_at(rows, data), gain, accuracy)]
    if asked:
        lines += ['Targets ("asked") were set before anything was measured.', ""]
    lines += asked
    lines += _readings_meet(_at(rows, "agnews"), GAINS["agnews"][0])
    lines += _context(rows)
    lines += _randomised_response(rows)
    lines += _vectors(rows)
    lines.append(
        "- How much decoding gives back depends on the task and the model. `deniable utility` measures it on your own texts, and chooses "
        "how to read them on validation texts. (25 % on AG News is naming one class of four for every text.)"
    )
    return "\n".join(lines)


def _at(rows: list[Row], data: str) -> list[Row]:
    """Return the rows that the targets are about, the processor's first."""
    return [row for row in rows if (row.data, row.mechanism, row.dimension, row.level) == (data, "multivariate", 50, AT)]


def _asked(rows: list[Row], gain: float, accuracy: float | None) -> list[str]:
    """Say of each row what it reached of what was asked for."""
    lines = []
    for row in rows:
        said = [
            f"words decoded are {row.gain:+.1f} points above words as released ({gain:.0f} asked: {_met(row.gain, gain)})",
            f"word frequencies {row.nearer:.0f} % nearer to the true ones ({NEARER:.0f} asked: {_met(round(row.nearer), NEARER)})",
        ]
        if accuracy is not None:
            reached = row.accuracy["decoded words"]
            said.insert(1, f"they reach {reached:.1f} % ({accuracy:.0f} asked: {_met(round(reached, 1), accuracy)})")
        lines.append(f"- {DATA[row.data]}, the attacker names {row.named:.0f} %, on {row.measured}: {'; '.join(said)}.")
    return lines


def _readings_meet(rows: list[Row], gain: float) -> list[str]:
    """Say what stands in the way where the gain was missed."""
    missed = [row for row in rows if row.gain < gain]
    if not missed:
        return []
    row = missed[0]
    others = [row.accuracy[name] for name in READINGS if name != "released words"]
    lost = row.unperturbed - row.accuracy["released words"]
    return [
        f"- What stands in the way on AG News: words as released already reach {row.accuracy['released words']:.1f} of "
        f"{row.unperturbed:.1f} %, so that {gain:.0f} points are {100 * gain / lost:.0f} % of all that was lost. Words decoded, vectors as "
        f"released and vectors decoded come out between {min(others):.1f} and {max(others):.1f} %: three ways to read the release agree on "
        "what it holds for a model that counts words."
    ]


def _randomised_response(rows: list[Row]) -> list[str]:
    """Compare the paper's mechanism and randomised response, both decoded."""
    pairs = _pairs(rows)
    if not pairs:
        return []
    nearer = sum(row.frequencies[1] > other.frequencies[1] for row, other in pairs)
    return [
        f"- **Decoded, {ahead_of_randomised_response(rows)}**, both on the same texts{_how_alike(pairs)}. Errors of randomised response "
        "fall on all words alike, so nothing of a changed word is left. Compared at training time only, it is "
        "[hard to beat](comparison.md) for sentiment, and not for topics (below).",
        f"- For word frequencies it is the other way round in {nearer} of these {len(pairs)}: the channel of randomised response is known "
        "exactly, and easy to invert.",
    ]


def ahead_of_randomised_response(rows: list[Row]) -> str:
    """Return in how many settings the paper's mechanism is ahead by decoded words, and by how much; nothing if none was measured."""
    pairs = _pairs(rows)
    if not pairs:
        return ""
    ahead = [row.accuracy["decoded words"] - other.accuracy["decoded words"] for row, other in pairs]
    apart = max(abs(row.named - other.named) for row, other in pairs)
    return (
        f"the paper's mechanism is ahead of randomised response at {sum(each > 0 for each in ahead)} of {len(ahead)} attackers, by "
        f"{min(ahead):+.1f} to {max(ahead):+.1f} points, the two attackers at most {apart:.1f} points apart"
    )


def _pairs(rows: list[Row]) -> list[tuple[Row, Row]]:
    """Return rows of the paper's mechanism, each with one of randomised response on the same texts whose attacker names about as much.

    No row is in two pairs. Rows that were measured in the same way come first, then those whose attackers are nearest.
    """
    ours = [row for row in rows if row.mechanism == "multivariate"]
    theirs = [row for row in rows if row.mechanism == "randomized-response"]
    alike = [
        (row.measured != other.measured, abs(row.named - other.named), place, against)
        for place, row in enumerate(ours)
        for against, other in enumerate(theirs)
        if (row.data, row.dimension, row.texts) == (other.data, other.dimension, other.texts) and abs(row.named - other.named) <= APART
    ]
    found: dict[int, int] = {}
    for _, _, place, against in sorted(alike):
        if place not in found and against not in found.values():
            found[place] = against
    return [(ours[place], theirs[found[place]]) for place in sorted(found)]


def _how_alike(pairs: list[tuple[Row, Row]]) -> str:
    """Say how many pairs were not measured in the same way, if some were not."""
    otherwise = sum(row.measured != other.measured for row, other in pairs)
    return f", in {otherwise} of {len(pairs)} one on {CPU} and one on {GPU}" if otherwise else ""


def signed(points: float) -> str:
    """Return points with their sign."""
    return f"{points:+.1f}".replace("-", "−")


def _context(rows: list[Row]) -> list[str]:
    """Say what reading in context gave."""
    read = [row for row in rows if row.context]
    if not read:
        return []
    named = [row.context["in context"] - row.context["alone"] for row in read]
    learnt = [row.context["words in context"] - row.context["words alone"] for row in read]
    return [
        f"- In context a receiver names {signed(min(named))} to {signed(max(named))} points more of the words than alone; models of words "
        f"change by {signed(min(learnt))} to {signed(max(learnt))} points ({len(read)} settings)."
    ]


def _vectors(rows: list[Row]) -> list[str]:
    """Say what decoding changes, and how often mean vectors are best."""
    own = [row for row in rows if row.mechanism == "multivariate"]
    if not own:
        return []
    gains = [row.gain for row in own]
    better = sum(row.accuracy["released vectors"] >= max(row.accuracy[name] for name in READINGS) for row in own)
    more = [row.accuracy["decoded vectors"] - row.accuracy["released vectors"] for row in own]
    return [
        f"- With the paper's mechanism decoding changes models of words by {signed(min(gains))} to {signed(max(gains))} points "
        f"({signed(mean(gains))} on average over {len(gains)} rows). To mean vectors, where noise averages out already, it adds "
        f"{signed(mean(more))} points on average ({signed(min(more))} to {signed(max(more))}); as released they are the best of the four "
        f"readings in {better} of {len(own)} rows."
    ]


def not_measured(rows: list[Row]) -> str:
    """Return which settings have no row."""
    there = {(row.data, row.mechanism, row.dimension, row.level) for row in rows}
    missing = []
    for data, mechanism, dimension in WANTED:
        levels = [f"{100 * level:.0f}" for level in LEVELS if (data, mechanism, dimension, level) not in there]
        if levels:
            missing.append(f"- {DATA[data]}, {MECHANISMS[mechanism]}, {dimension}d, at {', '.join(levels)} %.")
    return "\n".join(missing) or "All that was planned is measured."


def _met(reached: float, asked: float) -> str:
    return "reached" if reached >= asked else f"missed by {round(asked - reached, 1):g}"
