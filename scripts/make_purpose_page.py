"""Writes docs/experiments/purpose.md and its figure from purpose.json, purpose-refined.json and purpose-words.json beside it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from deniable.report.figure import apply_style, new_figure
from purpose_refined import Row, read_rows, refined_section

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
DATA = {
    "sst2": "SST-2",
    "mr": "MR",
    "cr": "CR",
    "imdb": "IMDb",
    "agnews": "AG News",
    "newsgroups": "20 Newsgroups",
    "insurance": "InsuranceQA domains",
    "enron": "Enron authors",
    "c50": "Reuters C50 authors",
}
LEVELS = {0.08: "8 %", 0.17: "17 %", 0.33: "33 %"}
AUTHORS = ("enron", "c50")
OLDER = "c686f4c"
READINGS = ("released words", "decoded words", "released vectors", "decoded vectors")


class Cell(NamedTuple):
    """The runs of one data set, space and mechanism at one ε, as means."""

    data: str
    space: str
    mechanism: str
    level: float | str
    epsilon: float
    runs: int
    named: float
    kind: float
    kind_blind: float
    accuracy: dict[str, float]
    original: float
    blind: float
    majority: float
    spread: float
    by_receiver: float
    in_context: float | None

    @property
    def label(self) -> str:
        """The space in words."""
        purpose, _, numbers = self.space.partition("-")
        by = "" if self.mechanism == "multivariate" else f", {self.mechanism}"
        if self.space == "default":
            return f"built-in, 50d{by}"
        if self.space == "glove-840b":
            return f"GloVe 840B, 300d{by}"
        if purpose == "reduced":
            return f"reduced to {numbers}{by}"
        dimension, strength = numbers.split("-")
        return f"**shaped** {dimension} × {strength}{by}"


def main() -> None:
    """Write the page and the figure."""
    cells = read_cells(json.loads((FOLDER / "purpose.json").read_text(encoding="utf-8")))
    refined = read_rows(json.loads((FOLDER / "purpose-refined.json").read_text(encoding="utf-8")))
    (FOLDER / "purpose.md").write_text(page(cells, refined), encoding="utf-8")
    frontier(cells).savefig(FOLDER / "purpose.png", dpi=150)


def read_cells(results: list[dict[str, Any]]) -> list[Cell]:
    """Return the means over the runs of each setting at each ε."""
    cells = []
    for result in results:
        for level, epsilon in result["epsilons"]:
            found = [each for each in result["releases"] if each["epsilon"] == epsilon]
            if not found:
                continue
            names = [name for name in found[0]["accuracy"] if all(name in each["accuracy"] for each in found)]
            cells.append(
                Cell(
                    data=result["name"],
                    space=result["embedding"]["name"],
                    mechanism=result["mechanism"],
                    level=level,
                    epsilon=epsilon,
                    runs=len(found),
                    named=mean(each["named"] for each in found),
                    kind=mean(each["kind_named"] for each in found),
                    kind_blind=found[0]["kind_blind"],
                    accuracy={name: 100.0 * mean(each["accuracy"][name]["both"] for each in found) for name in names},
                    original=100.0 * mean(max(each.values()) for each in result["original"]),
                    blind=result["blind"],
                    majority=100.0 * result["majority"],
                    spread=_spread(found, names),
                    by_receiver=mean(each["named_by_receiver"] for each in found),
                    in_context=mean(each["named_in_context"] for each in found) if "named_in_context" in found[0] else None,
                )
            )
    return cells


def _spread(found: list[dict[str, Any]], names: list[str]) -> float:
    """Return half of what lies between the best and the worst run, of the reading with the largest mean."""
    values: dict[str, list[float]] = {
        name: [100.0 * each["accuracy"][name]["both"] for each in found] for name in names if name in READINGS
    }
    best = max(values.values(), key=mean)
    return (max(best) - min(best)) / 2.0


def page(cells: list[Cell], refined: list[Row]) -> str:
    """Return the page."""
    return f"""# Spaces made for a purpose: what survives

A public linear map of the word vectors decides what survives the noise; see [Declare the purpose](../guide/purpose.md). This page
measures it. ε does not compare between spaces, so all of them are compared at an **equal attacker**: a context-free Bayes attacker
who knows the mechanism and the true frequencies of the words names this share of all words. Models learn from released text and
are judged on released text, which is all that a receiver has. Linear models on words (as released, and expected counts decoded) and on mean
vectors (as released, decoded); accuracy in %, means of the runs. A space is **shaped** by public texts of another data set (sentiment: IMDb
for SST-2, MR and CR; MR for IMDb) or of a disjoint part (topics, groups, domains): "16 × 2" is 16 principal axes beside the
directions of the purpose at strength 2. Shaped and reduced spaces are made of GloVe 840B, 300d.

The attacker reads word by word. Words that an embedding does not know count as one word, "unknown", which the attacker may name: in
GloVe 840B (33,860 words) these are more than in the built-in embedding (50,000), so blind guessing gets more there; "blind" says how much.

All but [one section](#at-a-refined-attacker-and-in-context) was measured by an older version of the script (commit `{OLDER}`): the receiver
decodes as `deniable decode` does, with at most 200 candidates for a word.

![Accuracy against the share of words that the attacker names](purpose.png)

{main_table(cells)}

ε is searched for on draws of its own, so "names" is near 8, 17 and 33 %, not equal to it. Bold is the largest of the four readings, all of
which are shown: none was chosen. "±" is half of what lies between its best and worst run. "Majority" is what a model reaches that says
the same of every text. "Unperturbed" is the better of both models. SST-2 and MR are not independent: most sentences of SST-2 are in MR.

## At equal naming of the kind

An attacker may be content with the *kind* of a word: 100 clusters of public unit vectors, the 150 most frequent words left out. Spaces of
few dimensions show more of it at equal naming of words, so they are compared at nearly equal naming of the kind as well (28 % on SST-2,
27 % on AG News; the column says what was reached).

{kind_table(cells)}

{refined_section(refined)}

## Other attributes

What a space that was shaped for sentiment says of who wrote a text, beside what unshaped spaces say: share of texts whose author is
named, of 20 authors, by models that learn from released text and are judged on released text:

{author_table(cells)}

## In context

The receiver also reads in context, with bigrams of public text (18,000 reviews of IMDb, 5,000 texts of Reuters C50) and frequencies learnt
from the release: the share of words that this names, alone and in context, and accuracy by words.

{context_table(cells)}

## What it says

{findings(cells)}
- At small attackers mean vectors of words as released are mostly the best reading in shaped spaces: the noise averages out along the few
  directions that carry the purpose. Decoding helps models on words, except on 20 Newsgroups.
- **Where it fails:** at the smallest attacker little is left of the domains of InsuranceQA in any space: its short questions name their
  domain by frequent words, which is what the attacker names. Twenty groups are far from what they are unperturbed, however they are
  shaped. Texts of another field than the public ones gain less (CR: products, shaped by films).
- All of this but [one section](#at-a-refined-attacker-and-in-context) holds against an attacker who reads word by word.

## Single words

N_w is how often a word is released as itself, here in 50 releases of each word of the vocabulary. In reduced and shaped spaces (33,860
words) fewer words keep themselves than in the built-in one (50,000 words) at a nearly equal attacker.

{words_table()}

What sample texts become, one release each, where the attacker comes nearest to 8 %:

{samples_table()}

## Not measured yet

AG News against an attacker in context, and at refined attackers; the reduced space in context; shaped spaces against learnt attackers and
language models; the other dimensions and strengths; softmax and randomised response in the same spaces; two purposes at once.

## Repeat it

At a refined attacker, and in context (a GPU; `measure` can be stopped and goes on):

```text
deniable embeddings add glove.840B.300d.34k.w2v.txt.bz2 --name glove-840b
python scripts/measure_purpose.py prepare DATASETS --into DATA
python scripts/measure_purpose.py spaces --data DATA --into WORK
python scripts/measure_purpose.py measure --into WORK --device cuda --workers 4
python scripts/measure_purpose.py collect --into WORK -o docs/experiments/purpose-refined.json
python scripts/make_purpose_page.py
```

Everything else, by the older version:

```text
git worktree add ../older {OLDER} && cd ../older
python scripts/measure_purpose.py prepare DATASETS --into DATA
python scripts/measure_purpose.py spaces --data DATA --into WORK
python scripts/measure_purpose.py epsilons --data DATA --into WORK --device cuda --draws 1000
python scripts/measure_purpose.py measure --into WORK --workers 14
python scripts/measure_purpose.py collect --data DATA --into WORK -o docs/experiments/purpose.json
python scripts/measure_purpose_words.py docs/experiments/purpose.json --draws 50 -o docs/experiments/purpose-words.json
```

With `--data DATA`, its `measure` also reads in context. In both, channels are made from 1,000 draws a word, on a GPU; texts are released by
the product, and the first 100 words of a text count.
"""


def main_table(cells: list[Cell]) -> str:
    """Return accuracy at each level of the attacker."""
    lines = [
        "| data | space | names | blind | kind | ε | words as released | words decoded | vectors as released | vectors decoded | runs | ± "
        "| majority | unperturbed |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for data in DATA:
        for level in LEVELS:
            lines += [row(cell) for cell in at_level(cells, data, level)] if data not in AUTHORS else []
    return "\n".join(lines)


def kind_table(cells: list[Cell]) -> str:
    """Return accuracy where the attacker names an equal share of kinds."""
    lines = [
        "| data | space | names | kind (blind) | ε | words as released | words decoded | vectors as released | vectors decoded |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for data in DATA:
        for cell in _best_of_each(cells, data, lambda cell: str(cell.level).startswith("kind"), lambda cell: -cell.runs):
            shares = [f"{100 * cell.named:.0f} %", f"{100 * cell.kind:.0f} % ({100 * cell.kind_blind:.0f})", f"{cell.epsilon:g}"]
            lines.append("| " + " | ".join([DATA[data], cell.label, *shares, *_accuracies(cell)]) + " |")
    return "\n".join(lines)


def author_table(cells: list[Cell]) -> str:
    """Return how many authors are named."""
    lines = [
        "| data | space | names | runs | words as released | words decoded | vectors as released | vectors decoded | unperturbed |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for data in AUTHORS:
        for level in LEVELS:
            for cell in at_level(cells, data, level):
                facts = [f"{100 * cell.named:.0f} %", str(cell.runs), *_accuracies(cell), f"{cell.original:.1f}"]
                lines.append("| " + " | ".join([DATA[data], cell.label, *facts]) + " |")
    return "\n".join(lines)


def context_table(cells: list[Cell]) -> str:
    """Return what reading in context names and gives."""
    lines = ["| data | space | ε | alone | in context | words decoded | words in context |", "|---|---|--:|--:|--:|--:|--:|"]
    for cell in cells:
        if cell.in_context is not None and "context words" in cell.accuracy and not str(cell.level).startswith("kind"):
            named = [f"{cell.epsilon:g}", f"{100 * cell.by_receiver:.1f} %", f"{100 * cell.in_context:.1f} %"]
            gained = [f"{cell.accuracy['decoded words']:.1f}", f"{cell.accuracy['context words']:.1f}"]
            lines.append("| " + " | ".join([DATA[cell.data], cell.label, *named, *gained]) + " |")
    return "\n".join(lines)


def read_words() -> list[dict[str, Any]]:
    """Return what measure_purpose_words.py measured."""
    found: list[dict[str, Any]] = json.loads((FOLDER / "purpose-words.json").read_text(encoding="utf-8"))
    return found


def words_table() -> str:
    """Return how many words keep themselves in each space."""
    lines = ["| data | space | names | ε | N_w, mean | N_w, worst word | words above ½ |", "|---|---|--:|--:|--:|--:|--:|"]
    for each in read_words():
        shares = [f"{100 * each['mean']:.1f} %", f"{100 * each['largest']:.0f} %", f"{100 * each['above_half']:.2f} %"]
        facts = [DATA[each["data"]], each["space"], f"{100 * each['named']:.0f} %", f"{each['epsilon']:g}", *shares]
        lines.append("| " + " | ".join(facts) + " |")
    return "\n".join(lines)


def samples_table() -> str:
    """Return what sample texts became."""
    lines = ["| space | text | released |", "|---|---|---|"]
    for each in read_words():
        if each["level"] == min(LEVELS):
            lines += [f"| {each['space']} | {text} | {released} |" for text, released in each["samples"]]
    return "\n".join(lines)


def findings(cells: list[Cell]) -> str:
    """Return the main findings, from the figures."""
    lines = []
    for data in ("sst2", "agnews"):
        shaped = next(cell for cell in at_level(cells, data, 0.08) if cell.space.endswith("-16-2"))
        lines.append(
            f"- {DATA[data]}, by mean vectors as released and by words decoded: shaped "
            + "; ".join(
                f"{name} {cell.accuracy['released vectors']:.1f} and {cell.accuracy['decoded words']:.1f} % where the attacker names "
                f"{100 * cell.named:.1f} %"
                for name, cell in [("", shaped), *_baselines(cells, shaped)]
            ).strip()
            + f". Unperturbed {shaped.original:.1f} %."
        )
    return "\n".join(lines)


def _baselines(cells: list[Cell], shaped: Cell) -> list[tuple[str, Cell]]:
    """Return the other spaces, each where its attacker comes nearest to that of the shaped one."""
    found = []
    for space, name in (("default", "the built-in space"), ("glove-840b", "300 dimensions"), ("reduced-16", "reduced to 16")):
        own = [cell for cell in cells if (cell.data, cell.space, cell.mechanism) == (shaped.data, space, "multivariate")]
        if own:
            found.append((name, min(own, key=lambda cell: abs(cell.named - shaped.named))))
    return found


def at_level(cells: list[Cell], data: str, level: float) -> list[Cell]:
    """Return for each space the cell whose attacker comes nearest to the level; each belongs to one level only."""
    near = _best_of_each(cells, data, lambda cell: _nearest_level(cell) == level, lambda cell: abs(cell.named - level))
    return sorted(near, key=lambda cell: (cell.mechanism, cell.space not in ("default", "glove-840b"), "reduced" not in cell.space))


def _nearest_level(cell: Cell) -> float:
    return min(LEVELS, key=lambda level: abs(math.log(cell.named / level)))


def row(cell: Cell) -> str:
    """Return a row of the main table."""
    facts = [f"{100 * cell.named:.0f} %", f"{100 * cell.blind:.0f} %", f"{100 * cell.kind:.0f} %", f"{cell.epsilon:g}"]
    beside = [str(cell.runs), f"{cell.spread:.1f}" if cell.runs > 1 else "–", f"{cell.majority:.1f}", f"{cell.original:.1f}"]
    return "| " + " | ".join([DATA[cell.data], cell.label, *facts, *_accuracies(cell), *beside]) + " |"


def _accuracies(cell: Cell) -> list[str]:
    best = max(_values(cell))
    return [f"**{value:.1f}**" if value == best else f"{value:.1f}" for value in _values(cell)]


def _values(cell: Cell) -> list[float]:
    return [cell.accuracy[name] for name in READINGS]


def _best_of_each(cells: list[Cell], data: str, fits: Any, distance: Any) -> list[Cell]:
    chosen: dict[tuple[str, str], Cell] = {}
    for cell in cells:
        if cell.data == data and fits(cell):
            key = (cell.space, cell.mechanism)
            if key not in chosen or distance(cell) < distance(chosen[key]):
                chosen[key] = cell
    return list(chosen.values())


@apply_style
def frontier(cells: list[Cell]) -> Figure:
    """Return accuracy by the best reading against the share of words that the attacker names."""
    shown = [data for data in DATA if data not in AUTHORS]
    figure, axes = new_figure(2, 4, width=10.4, height=5.4)
    panels = axes.flatten()
    styles = {
        "default": ("built-in, 50d", "o"),
        "glove-840b": ("300d", "s"),
        "reduced-16": ("reduced to 16", "^"),
        "-16-2": ("shaped 16 × 2", "D"),
    }
    for panel, data in zip(panels, shown, strict=False):
        for number, (ending, (label, marker)) in enumerate(styles.items()):
            own = [cell for cell in cells if cell.data == data and cell.space.endswith(ending) and cell.mechanism == "multivariate"]
            own.sort(key=lambda cell: cell.named)
            if own:
                points = [100 * cell.named for cell in own], [max(_values(cell)) for cell in own]
                panel.plot(*points, marker=marker, markersize=4, label=label, color=f"C{number}")
        clean = [cell.original for cell in cells if cell.data == data]
        panel.axhline(max(clean), linestyle=":", color="C7", label="unperturbed")
        panel.set_title(DATA[data])
        panel.set_xlim(0, 40)
    for panel in panels[4:]:
        panel.set_xlabel("words the attacker names, %")
    for panel in (panels[0], panels[4]):
        panel.set_ylabel("accuracy, %")
    panels[-1].axis("off")
    panels[-1].legend(*panels[0].get_legend_handles_labels(), loc="center")
    return figure


if __name__ == "__main__":
    main()
