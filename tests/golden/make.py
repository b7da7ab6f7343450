"""Write the golden releases anew: ``python -m tests.golden.make releases`` (or ``receipts``, ``cards``,
``measured``, or several).

To run this for releases is to state that released words changed: whoever repeats a keyed release with the new
version gets other words than before, spends the budget again, and an interrupted job goes on with other noise
than it began with. Say why in CHANGELOG.md. To run it for receipts states that receipts say something else
than before, which may be as harmless as a better sentence. Cards are read by others and by other versions: to
run it for cards states that those who received earlier ones can still read them, or that the number of their
format is another one. To run it for measured values states that measures or estimates changed.

What lies in ``frozen`` is not made anew by anything: old files must be read for as long as there are any.
Where later code must refuse to continue old work, ``cut_off`` freezes new work beside it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.golden import by_command, by_libraries, compared, in_python, measured, nested, with_names
from tests.golden.command import Commands
from tests.golden.materials import laid_out

ENDINGS = (".txt", ".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx", ".ods")
RELEASES, RECEIPTS, CARDS, MEASURED = (
    Path(__file__).with_name(name)
    for name in ("releases.json", "receipts.json", "cards.json", "measured.json")
)
WHOLE = {
    *(
        f"policy {name}"
        for name in (
            "all kept",
            "record epsilon with a ceiling",
            "by calibration",
            "consistent",
            "protected",
            "built-in",
        )
    ),
    "policy by calibration of another mechanism",
    "mechanism santext-plus",
    "mechanism custext",
    "whole csv",
    "whole parquet",
    "names",
    "names and words",
    "latest names",
    "latest names and words",
}
"""Receipts and cards that are kept word for word; of the others there are digests."""


def kept_of(made: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of receipts or cards."""
    return {
        name: made[name] if name in WHOLE or made[name] is None else compared.digest(made[name])
        for name in made
    }


def all_of(folder: Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return every golden release, by group and name, and every receipt and card by name; files are made in
    the folder."""
    home = laid_out(folder)
    work = folder / "work"
    work.mkdir()
    golden: dict[str, Any] = {
        "mechanisms": in_python.of_mechanisms(home),
        "policies": in_python.of_policies(home),
        "calls": in_python.of_calls(home),
        "stored embeddings": in_python.of_stored_embeddings(home),
        "languages": in_python.of_languages(home),
        "names": with_names.of_names(home),
        "latest names": with_names.of_names(home, with_names.LATEST),
        "integrations": by_libraries.of_integrations(home, folder / "golden.key"),
    }
    receipts: dict[str, Any] = {}
    cards: dict[str, Any] = {}
    commands = Commands(folder)
    runs = {
        "command": by_command.of_the_command(commands, work),
        **{f"format {ending}": by_command.of_formats(commands, work, ending) for ending in ENDINGS},
        "nested": nested.of_nested(commands, work),
        "long files": by_command.of_long_files(commands, work),
        "resumed": by_command.of_resumed_work(commands, work),
        "names by command": with_names.of_names_by_command(commands, work),
    }
    for group, made in runs.items():
        golden[group] = {}
        for name, content, beside in made:
            golden[group][name] = content
            receipts[name], cards[name] = (None, None) if beside is None else beside
    golden["filters"] = by_command.of_filters(commands, work)
    golden["watched"] = by_command.of_watching(commands, work)
    return golden, kept_of(receipts), kept_of(cards)


def main() -> None:
    """Write what the arguments name."""
    if "measured" in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            values = measured.of_measurements(Commands(Path(folder)), Path(folder))
        MEASURED.write_text(json.dumps(values, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    if set(sys.argv[1:]) <= {"measured"}:
        return
    with tempfile.TemporaryDirectory() as folder:
        golden, receipts, cards = all_of(Path(folder))
    for path, content in ((RELEASES, golden), (RECEIPTS, receipts), (CARDS, cards)):
        if path.stem in sys.argv[1:]:
            path.write_text(json.dumps(content, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
