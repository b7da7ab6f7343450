"""Golden measurements: what is read back from a release, and what calibration and audit say of a small
embedding."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from tests.golden.command import Commands
from tests.golden.compared import Golden
from tests.golden.materials import FROZEN, laid_out

_RELEASE = "-c text --record-id id -e 3 --embedding plain --key-file golden.key --quiet -o out.csv"
_MEASURED = {
    "frequencies": "frequencies out.csv --effort 200 --most 9 --json",
    "frequencies by user": "frequencies out.csv --effort 200 --most 3 --by user --json",
    "calibration": "calibrate --embedding plain --effort 200 --max-unchanged 0.5 --quantile 0.9 --json",
    "calibration of another mechanism": "calibrate --embedding plain -m santext --max-unchanged 0.5 --json",
    "inversion": "audit inversion --embedding plain -e 2 -e 6 --words-per-band 20 --seed 3 --json",
    "inversion of another mechanism": "audit inversion --embedding plain -m santext -e 6 --words-per-band 20 "
    "--seed 3 --json",
}
_DIGITS = 6


def of_measurements(commands: Commands, folder: Path) -> Golden:
    """Return what is measured, with the decoded text, in an own copy of the store: a calibration is noted
    there."""
    laid_out(folder)

    def run(command: str) -> bytes:
        ended = commands.run(*command.split(), cwd=folder)
        assert ended.status == 0, ended.err
        return ended.out

    run(f"privatize {FROZEN / 'inputs' / 'records.csv'} {_RELEASE}")
    run("decode out.csv --effort 200 -o decoded.csv")
    measured: dict[str, Any] = {
        name: _settled(json.loads(run(command))) for name, command in _MEASURED.items()
    }
    return {"decoded": (folder / "decoded.csv").read_text(encoding="utf-8"), **measured}


def _settled(data: Any) -> Any:
    """Return data without the version and without times."""
    if isinstance(data, dict):
        return {
            name: _settled(value)
            for name, value in data.items()
            if name not in ("version", "created", "seconds")
        }
    return [_settled(each) for each in data] if isinstance(data, list) else data


def differing(measured: Any, expected: Any, place: str = "") -> list[str]:
    """Return the places where data differ; numbers are alike if they agree to 6 digits, which processors may
    differ beyond."""
    if isinstance(expected, dict) and isinstance(measured, dict) and measured.keys() == expected.keys():
        return [
            where
            for name, value in expected.items()
            for where in differing(measured[name], value, f"{place}/{name}")
        ]
    if isinstance(expected, list) and isinstance(measured, list) and len(measured) == len(expected):
        pairs = enumerate(zip(measured, expected, strict=True))
        return [where for i, (one, other) in pairs for where in differing(one, other, f"{place}/{i}")]
    if isinstance(expected, float) and isinstance(measured, float):
        alike = math.isclose(measured, expected, rel_tol=10.0**-_DIGITS, abs_tol=10.0**-_DIGITS)
        return [] if alike else [f"{place}: {measured} is not {expected}"]
    return [] if measured == expected else [f"{place}: {str(measured)[:80]} is not {str(expected)[:80]}"]
