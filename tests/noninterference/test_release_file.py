"""What `deniable release` hands over, and its draft for the registry, are a function of released words and
the public shape: texts that differ in unknown and listed words alone give the same bytes with one key."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from deniable.decision import release_file
from deniable.noise.key_file import write_new_key
from tests.support.private_pairs import all_that_is_seen


def release(folder: Path, key: Path, unknown: str) -> dict[str, Any]:
    source = folder / "in.csv"
    with source.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "ward", "person", "comment"])
        for i in range(40):
            rows.writerow(
                [i, "AB"[i % 2], f"{unknown} {i}", f"i waited {i} hours with {unknown} and nobody came"]
            )
    roles: dict[str, Any] = {"text": ["comment"], "drop": ["person"], "record_id": "id", "key_file": key}
    decision = release_file(source, folder / "out", epsilon=2.0, accept_changes=True, **roles)
    record = json.loads((decision.output / "keep" / "deployment.yaml").read_text())
    record["deployment"]["basic"].pop("publication_date")
    return {"record": record, **all_that_is_seen(decision.hand_over)}


def test_what_is_handed_over_does_not_depend_on_unknown_words(tmp_path: Path) -> None:
    write_new_key(tmp_path / "key")
    seen = []
    for unknown in ("qwxyz", "garcia", "kowalczykowskimartinez"):
        folder = tmp_path / unknown
        folder.mkdir()
        seen.append(release(folder, tmp_path / "key", unknown))
    assert seen[0] == seen[1] == seen[2]
