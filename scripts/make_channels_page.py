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
paper's mechanism no formula gives it, and it is estimated. A thousand draws of a word, or as many rays, miss much of what it becomes at a
small ε, and what is missed is spread alike for all words, so it says nothing of the word.

Where a channel has 1,000 words or more, `deniable` therefore takes **points that all words share** (`channel/points.py`): points z are
drawn around all input words, half of them evenly and half by rank, and the word y nearest to each is found. Some points of each y are
kept, and how many there were is counted. Given a point, only the noise speaks of x: its density K(z | x) falls with ε·‖z − φ(x)‖. So
P(y | x) is the share of points that fell to y times the mean of K(z | x)/q(z) over its points, q being the density of the mixture that they
were drawn from. Every point says something of every word; a draw or a ray says something of one. Channels of fewer words follow rays.

Each estimate is judged by words that were released and not learnt from: by the mean of log P(y | x), in nats a word (the truth has the
largest there is), and by how many words of the text an attacker names who knows this estimate and the true word frequencies.

{table}

{findings}

**What follows.** The guarantee does not depend on this: it holds against every reader, whatever channel it has. Measured attackers do: a
share of words that "the attacker names" is what an attacker with this channel names, and one with a coarser channel names fewer. What was
measured with which channel is said on each page.

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
    """Return by how much shared points are ahead of draws, space by space."""
    lines = []
    for each in found:
        points = next(reached for way, reached in each["ways"].items() if "points" in way)
        others = [reached for way, reached in each["ways"].items() if "points" not in way]
        nats, named = (max(other[name] for other in others) for name in ("nats", "named"))
        lines.append(
            f"- {DATA[each['data']]}, {SPACES[each['space']]}: {points['nats'] - nats:+.2f} nats a word by shared points. "
            f"Their attacker names {100 * points['named']:.1f} % of the words, that of draws {100 * named:.1f} %."
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
