"""Writes docs/experiments/decoding.md from the results of scripts/measure_decoding.py and measure_purpose.py committed beside it."""

from __future__ import annotations

from pathlib import Path

from decoding_prose import findings, not_measured
from decoding_results import CPU, GPU, READINGS, Row, read_rows

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"


def main() -> None:
    """Write the page."""
    (FOLDER / "decoding.md").write_text(page(read_rows(FOLDER)), encoding="utf-8")


def page(rows: list[Row]) -> str:
    """Return the page."""
    return f"""# What decoding gives back

A release is a known channel. Its receiver, who has the released text and its [card](../guide/first-release.md#the-card), computes what
stood there in distribution; see [You received released text](../guide/received.md). This page measures what that is worth.

ε is where a context-free Bayes attacker who knows the true word frequencies names about 8, 17 or 33 % of the words; the column says what
was named. Linear models learn from three quarters of the texts and are judged on the rest. **Both** sides are released text: that is all a
receiver has. "As released" counts the words that came out; "decoded" counts expected words under the posterior, whose prior is learnt from
the release. Words are weighted by TF-IDF; "vectors" are mean word vectors. Means of the runs, accuracy in %. The regularisation is fixed;
[the page about purposes](purpose.md) chooses it on validation texts, so that its figures differ a little.

{findings(rows)}

## Accuracy

Measured on: **{CPU}**, as `deniable decode` does it, the channel of the first 20,000 words by exact sums or
[shared points](channels.md); **{GPU}**, [measure_purpose.py](purpose.md#repeat-it), the channel of all words by exact sums or shared
points, the whole posterior, on other parts of the data (AG News: 5,600 texts).

{accuracies(rows)}

## Alone and in context

A receiver with a public text reads words in their context: forward and backward over bigrams (IMDb reviews for SST-2, Reuters news for
AG News), the prior learnt from the release. The share of words that the receiver names, and what models learn, with both sides released,
alone and in context from the same runs:

{in_context(rows)}

What an attacker gains from context is [measured apart](attackers.md).

## At training time and at test time

Released at training time only (judged on original text), and at test time only (learnt from original text), by words:

{places(rows)}

## Word frequencies

Total variation distance of the estimated word frequencies from the true ones; 0 is perfect, 1 is the worst.

{frequencies(rows)}

## Not measured

{not_measured(rows)}

## Repeat it

```text
python scripts/measure_decoding.py epsilons agnews.jsonl.xz --name agnews --attacker 0.08 --attacker 0.17 --attacker 0.33 -o RESULT.json
python scripts/measure_decoding.py measure RESULT.json --public NEWS.txt
python scripts/make_decoding_page.py
```

AG News is the public test set (7,600 texts, or the 5,600 that `measure_purpose.py prepare` leaves), title and text joined; SST-2 all
9,613 sentences, MR all 10,662, IMDb 5,000 reviews that `measure_purpose.py prepare` chooses. Of each text the first 100 words count.
On a CPU the paper's mechanism and SanText were measured at given ε (`epsilons … --epsilon`), the former with `--directions 500`.
Rows of a GPU are repeated as [the page about purposes](purpose.md#repeat-it) says.
"""


def accuracies(rows: list[Row]) -> str:
    """Return the table of accuracies with released text on both sides."""
    lines = [
        "| data | mechanism | attacker names | ε | texts | runs | words as released | **words decoded** | vectors as released "
        "| vectors decoded | unperturbed | measured on |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for row in rows:
        cells = [f"{row.accuracy[name]:.1f}" for name in READINGS]
        reached = [cells[0], f"**{cells[1]}**", *cells[2:], f"{row.unperturbed:.1f}"]
        lines.append("| " + " | ".join([*row.names, f"{row.epsilon:g}", f"{row.texts:,}", str(row.runs), *reached, row.measured]) + " |")
    return "\n".join(lines)


def in_context(rows: list[Row]) -> str:
    """Return what reading in context gave, beside reading alone."""
    lines = [
        "| data | mechanism | attacker names | receiver names alone | in context | words decoded alone | in context "
        "| vectors decoded alone | in context | runs | measured on |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for row in rows:
        if row.context:
            named = [f"{row.context[name]:.1f} %" for name in ("alone", "in context")]
            ways = [f"{kind} {way}" for kind in ("words", "vectors") for way in ("alone", "in context")]
            learnt = [f"{row.context[way]:.1f}" for way in ways]
            attacker = f"{row.context['attacker']:.0f} %"
            lines.append("| " + " | ".join([*row.names[:2], attacker, *named, *learnt, f"{row.context['runs']:.0f}", row.measured]) + " |")
    return "\n".join(lines)


def places(rows: list[Row]) -> str:
    """Return the table of accuracies with released text on one side."""
    lines = [
        "| data | mechanism | attacker names | train: as released | train: decoded | test: as released | test: decoded | measured on |",
        "|---|---|--:|--:|--:|--:|--:|---|",
    ]
    sides = [(side, version) for side in ("train", "test") for version in ("released", "decoded")]
    shown = [row for row in rows if len(row.places) == len(sides)]
    lines += ["| " + " | ".join([*row.names, *(f"{row.places[side]:.1f}" for side in sides), row.measured]) + " |" for row in shown]
    return "\n".join(lines)


def frequencies(rows: list[Row]) -> str:
    """Return the table of distances of word frequencies."""
    lines = ["| data | mechanism | attacker names | as released | decoded | smaller by | measured on |", "|---|---|--:|--:|--:|--:|---|"]
    for row in rows:
        out, back = row.frequencies
        lines.append("| " + " | ".join([*row.names, f"{out:.3f}", f"{back:.3f}", f"{row.nearer:.0f} %", row.measured]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
