"""Writes docs/experiments/channels.md from channels.json beside it, which scripts/measure_channels.py measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
DATA = {"sst2": "SST-2"}
SPACES = {"default": "built-in, 50d", "sentiment-16-2": "shaped for sentiment, 16 × 2"}

PAGE = """# How near a channel comes

Attackers, receivers and the search for an ε all rest on the channel: the probability P(y | x) that a word x is released as y. For the
paper's mechanism no formula gives it. `deniable` estimates it by rays, or by draws on a GPU, a thousand of each word. A row of so few
misses much of what a word becomes at a small ε, and what is missed is spread alike for all words, so it says nothing of the word.

This page compares that with a better estimate: **points that all words share**. Draw points z around all input words and find the word y
nearest to each; keep the same number of points of each y. Given a point, only the noise speaks of x: P(x | z) is a softmax of −ε·‖z − φ(x)‖
over the input words. So P(x | y), all input words being as likely, is the mean of P(x | z) over the points of y, and Bayes' rule gives
P(y | x). Every point says something of every word; a draw or a ray says something of one.

Each estimate is judged by words that were released and not learnt from: by the mean of log P(y | x), in nats a word (the truth has the
largest there is), and by how many words of the text an attacker names who knows this estimate and the true word frequencies.

{table}

{findings}

**What follows.** The guarantee does not depend on this: it holds against every reader, whatever channel it has. Measured attackers do. On
the pages about [attackers](attackers.md), [purposes](purpose.md), [decoding](decoding.md) and [privacy](privacy.md), and in `deniable audit
inversion`, `tune` and `compare`, channels of the paper's mechanism come from draws or rays: there a share of words that "the attacker
names" is what this attacker names, and one with shared points names more. Accuracies at an "equal attacker" compare spaces by the same
attacker. What receivers gain from shared points was not measured. Bringing these into the product, and measuring all pages again, is
what we do next.

Repeat it: `python scripts/measure_channels.py {files} -o docs/experiments/channels.json`, then `python scripts/make_channels_page.py`.
Data sets and shaped spaces are those of `scripts/measure_purpose.py prepare` and `spaces`.
"""


def main() -> None:
    """Write the page."""
    found = json.loads((FOLDER / "channels.json").read_text(encoding="utf-8"))
    (FOLDER / "channels.md").write_text(page(found), encoding="utf-8")


def page(found: list[dict[str, Any]]) -> str:
    """Return the page."""
    places = " ".join(f"--at {each['space']} {each['epsilon']:g}" for each in found)
    return PAGE.format(table=table(found), findings=findings(found), files=f"{found[0]['data']}.jsonl.xz {places}")


def table(found: list[dict[str, Any]]) -> str:
    """Return what each way reaches."""
    lines = ["| data | space | ε | estimate | nats a word | attacker names | blind |", "|---|---|--:|---|--:|--:|--:|"]
    for each in found:
        for way, reached in each["ways"].items():
            facts = [DATA[each["data"]], SPACES[each["space"]], f"{each['epsilon']:g}", way, f"{reached['nats']:.2f}"]
            lines.append("| " + " | ".join([*facts, f"{100 * reached['named']:.1f} %", f"{100 * each['blind']:.1f} %"]) + " |")
    return "\n".join(lines)


def findings(found: list[dict[str, Any]]) -> str:
    """Return by how much shared points are ahead of the best of the others, space by space."""
    lines = []
    for each in found:
        points = next(reached for way, reached in each["ways"].items() if "points" in way)
        others = [reached for way, reached in each["ways"].items() if "points" not in way]
        nats, named = (max(other[name] for other in others) for name in ("nats", "named"))
        lines.append(
            f"- {DATA[each['data']]}, {SPACES[each['space']]}: shared points have {points['nats'] - nats:+.2f} nats a word beside the "
            f"better of the others, and their attacker names {100 * points['named']:.1f} % of the words, the other "
            f"{100 * named:.1f} %."
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
