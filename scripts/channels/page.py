"""The table of docs/research/channels.md, from channels.json beside it, which
scripts/channels/measure.py of commit 41f25e91 measured."""

from __future__ import annotations

import json

from scripts.pages import EXPERIMENTS, percent, table

PAGE = EXPERIMENTS / "channels.md"
DATA = {"sst2": "SST-2"}
SPACES = {"default": "built-in, 50d", "sentiment-16-2": "shaped for sentiment, 16 × 2"}


def tables() -> dict[str, str]:
    """Return what each way reaches in each space."""
    rows = [
        [
            DATA[each["data"]],
            SPACES[each["space"]],
            f"{each['epsilon']:g}",
            way,
            f"{reached['nats']:.2f}",
            percent(reached["named"]),
            percent(each["blind"]),
        ]
        for each in json.loads((EXPERIMENTS / "channels.json").read_text(encoding="utf-8"))
        for way, reached in each["ways"].items()
    ]
    head = ["data", "space", "ε", "estimate", "nats a word", "attacker names", "blind"]
    return {"ways": table(head, rows, align="llrlr")}
