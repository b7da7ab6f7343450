"""Writes docs/experiments/decoding.md from the results of scripts/measure_decoding.py and measure_purpose.py committed beside it."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
DATA = {
    "agnews": "AG News (topic)",
    "sst2": "SST-2 (sentiment)",
    "mr": "MR (sentiment)",
    "imdb": "IMDb (sentiment)",
    "cr": "CR (sentiment)",
}
MECHANISMS = {"multivariate": "paper's mechanism", "randomized-response": "randomised response", "santext": "SanText"}


def main() -> None:
    """Write the page."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("decoding-*.json"))]
    results.sort(key=lambda result: (list(DATA).index(result["name"]), result["mechanism"], result["embedding"]["dimension"]))
    more = [
        result
        for result in json.loads((FOLDER / "purpose.json").read_text(encoding="utf-8"))
        if result["name"] in DATA and result["embedding"]["name"] in ("default", "glove-840b") and len(result["original"]) > 1
    ]
    more.sort(key=lambda result: (list(DATA).index(result["name"]), result["embedding"]["dimension"], result["epsilons"]))
    # Where a setting was measured at two sets of ε, the smaller ones are shown.
    first = {(result["name"], result["embedding"]["name"]): result for result in reversed(more)}
    (FOLDER / "decoding.md").write_text(page(results, list(reversed(first.values()))), encoding="utf-8")


def page(results: list[dict[str, Any]], more: list[dict[str, Any]]) -> str:
    """Return the page."""
    return f"""# What decoding gives back

A release is a known channel. Its receiver, who has the released text and its [card](../guide/first-release.md#the-card), computes what
stood there in distribution; see [You received released text](../guide/received.md). This page measures what that is worth.

ε is where a context-free Bayes attacker who knows the true word frequencies names the stated share of the words. Linear models learn
from three quarters of the texts and are judged on the rest. **Both** sides are released text: that is all a receiver has. "As released"
counts the words that came out; "decoded" counts expected words under the posterior, whose prior is learnt from the release. Words are
weighted by TF-IDF; "vectors" are mean word vectors. Means of the runs, accuracy in %.

{accuracies(results)}

## At training time and at test time

Released at training time only (judged on original text), and at test time only (learnt from original text), by words:

{places(results)}

## Word frequencies

Total variation distance of the estimated word frequencies from the true ones; 0 is perfect, 1 is the worst.

{frequencies(results)}

## More data, 300 dimensions, smaller attackers

The same by [measure_purpose.py](purpose.md#repeat-it), on other parts of the data (AG News: 5,600 texts). Its channels are 1,000 draws a
word on a GPU, in place of 1,000 directions that all words share. Frequencies come out nearer to the truth with them. We take it that
neighbouring words share their errors where they share directions, and have not tested it.

{accuracies(more)}

Word frequencies:

{frequencies(more)}

Reading in context is [measured there](purpose.md#in-context).

## What it says

- With the paper's mechanism decoding gives back a part of what words as released have lost, at no cost in privacy. How much depends on
  the task and the model; `deniable utility` measures it on your own texts. (25 % on AG News is naming one class of four for every text.)
- **By what a text is about, randomised response is far behind**, as released and decoded. Its errors fall on all words alike, so nothing
  of a changed word is left. Compared at training time only, it is [hard to beat](comparison.md);
  with released text on both sides it is not.
- For word frequencies it is the other way round: the channel of randomised response is known exactly and easy to invert.
- Mean vectors of words as released are strong where the topic is asked for: noise averages out in them already. Which reading is better
  depends on the task; `deniable utility` chooses on validation texts.

## Not measured yet

SanText, and MR and IMDb in 300 dimensions.

## Repeat it

```text
python scripts/measure_decoding.py epsilons agnews.jsonl.xz --name agnews --attacker 0.08 --attacker 0.17 --attacker 0.33 -o RESULT.json
python scripts/measure_decoding.py measure RESULT.json
python scripts/make_decoding_page.py
```

AG News is the public test set (7,600 texts), title and text joined; SST-2 all 9,613 sentences. Of each text the first 100 words count. The
channel is made from 1,000 directions a word for the first 20,000 words of the embedding, as `deniable decode` makes it.
"""


def accuracies(results: list[dict[str, Any]]) -> str:
    """Return the table of accuracies with released text on both sides."""
    lines = [
        "| data | mechanism | attacker names | ε | runs | words as released | **words decoded** | vectors as released "
        "| vectors decoded | unperturbed |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for result in results:
        clean = 100.0 * mean(each["words"] for each in result["original"])
        for _, epsilon, found in _levels(result):
            cells = [_of(found, name, "both") for name in ("released words", "decoded words", "released vectors", "decoded vectors")]
            row = [*_named(result), f"{100 * mean(each['named'] for each in found):.0f} %", f"{epsilon:g}", str(len(found))]
            lines.append("| " + " | ".join([*row, cells[0], f"**{cells[1]}**", *cells[2:], f"{clean:.1f}"]) + " |")
    return "\n".join(lines)


def places(results: list[dict[str, Any]]) -> str:
    """Return the table of accuracies with released text on one side."""
    lines = [
        "| data | mechanism | attacker names | train: as released | train: decoded | test: as released | test: decoded |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for result in results:
        for _, _, found in _levels(result):
            cells = [_of(found, f"{version} words", place) for place in ("train", "test") for version in ("released", "decoded")]
            lines.append("| " + " | ".join([*_named(result), f"{100 * mean(each['named'] for each in found):.0f} %", *cells]) + " |")
    return "\n".join(lines)


def frequencies(results: list[dict[str, Any]]) -> str:
    """Return the table of distances of word frequencies."""
    lines = ["| data | mechanism | attacker names | as released | decoded | smaller by |", "|---|---|--:|--:|--:|--:|"]
    for result in results:
        for _, _, found in _levels(result):
            out, back = (mean(each["frequencies"][name] for each in found) for name in ("released", "decoded"))
            named = f"{100 * mean(each['named'] for each in found):.0f} %"
            lines.append("| " + " | ".join([*_named(result), named, f"{out:.3f}", f"{back:.3f}", f"{100 * (1 - back / out):.0f} %"]) + " |")
    return "\n".join(lines)


def _named(result: dict[str, Any]) -> list[str]:
    return [DATA[result["name"]], f"{MECHANISMS[result['mechanism']]}, {result['embedding']['dimension']}d"]


def _levels(result: dict[str, Any]) -> list[tuple[float, float, list[dict[str, Any]]]]:
    found = []
    for attacker, epsilon in result["epsilons"]:
        if isinstance(attacker, str):  # an attacker on the kind of a word
            continue
        releases = [each for each in result["releases"] if each["attacker"] == attacker]
        if releases:
            found.append((attacker, epsilon, releases))
    return found


def _of(found: list[dict[str, Any]], name: str, place: str) -> str:
    return f"{100 * mean(each['accuracy'][name][place] for each in found):.1f}"


if __name__ == "__main__":
    main()
