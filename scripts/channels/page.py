"""The tables of docs/research/channels.md, from two files beside it: channels.json, which
scripts/channels/measure.py of commit 41f25e91 measured, and columns.json of scripts/channels/columns.py."""

from __future__ import annotations

from typing import Any

from scripts.pages import EXPERIMENTS, percent, read_json, table

PAGE = EXPERIMENTS / "channels.md"
DATA = {"sst2": "SST-2"}
SPACES = {
    "default": "built-in, 50d",
    "glove-840b": "GloVe 840B, 300d",
    "sentiment-16-2": "shaped for sentiment, 16 × 2",
    "sentiment-16-4": "shaped for sentiment, 16 × 4",
}


def tables() -> dict[str, str]:
    """Return what each way reaches in each space, and what columns alone reach beside the whole table."""
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
        for each in read_json(EXPERIMENTS / "channels.json")
        for way, reached in each["ways"].items()
    ]
    head = ["data", "space", "ε", "estimate", "nats a word", "attacker names", "blind"]
    return {
        "ways": table(head, rows, align="llrlr"),
        "columns": columns_table(read_json(EXPERIMENTS / "columns.json")),
    }


def columns_table(measured: dict[str, list[dict[str, Any]]]) -> str:
    """Return what the columns of released words reach beside the table of all words."""
    rows = []
    for name, each in ((name, each) for name, sizes in measured.items() for each in sizes):
        space, level = name.split()
        row = [SPACES[space], level.replace("%", " %"), f"{each['epsilon']:g}", f"{each['outputs']:,}"]
        for value, form in (
            ("nats", "{:.3f}"),
            ("named", "{:.1%}"),
            ("right", "{:.1%}"),
            ("products", "{:,}"),
        ):
            for way in ("columns", "whole"):
                found = each["ways"][way].get(value, "–")
                found = found.count("1") / len(found) if value == "right" and found != "–" else found
                row.append(found if found == "–" else form.format(found).replace("%", " %"))
        rows.append(row)
    values = ("nats a word", "names", "labels right", "cost")
    head = ["space", "attacker", "ε", "released words"]
    head += [f"{value}: {way}" for value in values for way in ("columns", "table")]
    return table(head, rows, align="lr")
