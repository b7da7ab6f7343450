from __future__ import annotations

import json
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.mechanisms.catalogue import CATALOGUE
from tests.support.commands import Command, invoke


def test_the_mechanisms_are_listed_with_their_options() -> None:
    shown, listed = invoke("mechanisms").stdout, json.loads(invoke("mechanisms --json").stdout)
    assert [entry["name"] for entry in listed] == list(CATALOGUE)
    assert all(entry["name"] in shown for entry in listed)
    assert "t=…" in shown


def test_a_file_is_released_by_the_mechanism_asked_for_and_the_receipt_says_so(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("the quick brown fox\n" * 5, encoding="utf-8")
    status, _, err = command.run("in.txt -o out.txt --mechanism custext -O k=5")
    assert status == 0, err
    receipt = json.loads((tmp_path / "out.txt.receipt.json").read_text(encoding="utf-8"))
    assert receipt["mechanism"] == "CusText"
    assert receipt["guarantee"]["parameters"] == {"k": 5}
    assert f"exposed: {receipt['guarantee']['exposed']}" in err
    assert "one cell" in receipt["caveats"][0]
    assert command.run("in.txt -o out.txt --mechanism custext -O k=6 --resume")[0] == 2, "another job"


def test_a_calibration_is_not_used_for_another_mechanism() -> None:
    error = invoke("privatize --max-unchanged 0.5 -m santext").exception
    assert isinstance(error, InvalidParameter)
    assert error.name == "max_unchanged"
    assert "SanText" in error.problem
