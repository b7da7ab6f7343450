"""How words per second and memory grow with the vocabulary and the dimension: the section of the page, and its figure."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from textwrap import fill
from typing import Any

Point = dict[str, Any]

PROCESSOR, CARD = "processor", "GPU"
HEADS = {"words_per_second": "words/s", "memory": "memory, MB"}
CARD_BESIDE = "Beside them, what a GPU reached, ids to ids (below); its vectors at 50 dimensions are those of the built-in GloVe 6B."
COLOURS = {PROCESSOR: "tab:blue", CARD: "tab:green"}

SECTION = """\
## Cost as work grows

Words per second fall as the vocabulary grows and, less than in proportion, as the dimension does: some work is done once for each word,
whatever its length. Memory is the most that the process held; the vectors take four bytes a coordinate, the index one and 28 bytes a word.

{about}

Measure it again: `python benchmarks/growth.py --json docs/data/growth.json`, `python benchmarks/growth.py --from-json docs/data/growth.json
--figure docs/figures/growth.png`, `python benchmarks/search.py --from-json docs/data/search.json --page docs/search.md`.

![Words per second and memory against vocabulary size and dimension](figures/growth.png)
"""


def section(found: dict[str, Any], card: list[Point]) -> str:
    """Write the section: a table of all points, one row a shape."""
    beside = CARD_BESIDE if card else "No GPU was measured yet."
    about = f"Vectors: GloVe 840B, its first coordinates, enlarged with jittered copies. {found['threads']} threads; {found['machine']}. "
    text = SECTION.format(about=fill(about + beside, 130))
    by_card = {(point["words"], point["dimension"]): point for point in card}
    ours = {(point["words"], point["dimension"]): point for point in found["points"]}
    of_card = [name for name in HEADS if any(name in point for point in card)]
    heads = ["vocabulary x dimension", *HEADS.values(), *(f"GPU, {HEADS[name]}" for name in of_card)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for shape in sorted(ours | by_card):
        cells = [f"{shape[0]:,} x {shape[1]}", *_cells(ours.get(shape, {}), HEADS), *_cells(by_card.get(shape, {}), of_card)]
        lines.append(f"| {' | '.join(cells)} |")
    return text + "\n" + "\n".join(lines) + "\n"


def _cells(point: Point, names: Iterable[str]) -> list[str]:
    return [f"{point[name] / (1e6 if name == 'memory' else 1.0):,.0f}" if name in point else "" for name in names]


def draw(found: dict[str, Any], card: list[Point], path: Path) -> None:
    """Draw words per second above, memory below; against the vocabulary on the left, against the dimension on the right."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, panels = pyplot.subplots(2, 2, figsize=(11, 7), sharex="col", sharey="row", layout="constrained")
    at_words = 400_000
    views: list[tuple[str, str, dict[str, Callable[[Point], bool]]]] = [
        ("words in the vocabulary", "words", {f"{n} dimensions": lambda point, n=n: point["dimension"] == n for n in (50, 300)}),  # type: ignore[misc]
        ("dimensions", "dimension", {f"{at_words:,} words": lambda point: point["words"] == at_words}),
    ]
    for column, (label, axis, lines) in enumerate(views):
        for unit, points in ((PROCESSOR, found["points"]), (CARD, card)):
            for style, (name, wanted) in zip(("-", "--"), lines.items(), strict=False):
                chosen = sorted((point for point in points if wanted(point)), key=lambda point: point[axis])
                if not chosen:
                    continue
                at, how = [point[axis] for point in chosen], {"color": COLOURS[unit], "linestyle": style, "marker": "o"}
                panels[0][column].plot(at, [point["words_per_second"] for point in chosen], label=f"{unit}, {name}", **how)
                if all("memory" in point for point in chosen):
                    panels[1][column].plot(at, [point["memory"] / 1e9 for point in chosen], **how)
        measured = sorted({point[axis] for point in found["points"] for wanted in lines.values() if wanted(point)})
        for panel in panels[:, column]:
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.grid(alpha=0.3)
            panel.set_xticks(measured, [_short(value) for value in measured])
            panel.minorticks_off()
        panels[0][column].legend(frameon=False)
        panels[1][column].set_xlabel(label)
    panels[0][0].set_ylabel("words a second")
    panels[1][0].set_ylabel("memory, GB")
    figure.savefig(path, dpi=130)


def _short(value: int) -> str:
    return f"{value / 1e6:g} M" if value >= 1_000_000 else f"{value // 1000:,}k" if value >= 1000 else str(value)
