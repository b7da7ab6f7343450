"""No test fails because a machine is busy: a limit in seconds is ten minutes or more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
_CLOCK = r"(?:monotonic|perf_counter|process_time)\(\)"
_LIMIT = re.compile(
    r"(?:\btimeout=|\bwait=|_timeout\(|asyncio\.timeout\(|\.(?:join|wait|result)\(|wait_for\([^,()]+, "
    rf"|{_CLOCK} \+ |{_CLOCK} - \w+ < |"
    r"seconds: float = |MOST_SECONDS = )(?P<seconds>\d+(?:\.\d+)?)\b"
)
_MEANT = "meant to run out"


def short_limits(text: str) -> list[str]:
    return [
        line
        for line in text.splitlines()
        if _MEANT not in line and any(float(found["seconds"]) < 600 for found in _LIMIT.finditer(line))
    ]


def test_no_limit_in_seconds_fails_a_test_on_a_busy_machine() -> None:
    found = {
        str(file.relative_to(HERE)): short_limits(file.read_text())
        for file in sorted(HERE.rglob("*.py"))
        if file != Path(__file__)
    }
    assert {file: lines for file, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "x.run(a, timeout={})",
        "done.wait({})",
        "asyncio.wait_for(long, {})",
        "until = time.monotonic() + {}",
        "assert time.perf_counter() - start < {}",
        "assert time.process_time() - start < {}",
    ],
)
def test_short_limits_are_found(line: str) -> None:
    short = line.format(60)
    assert short_limits(short) == [short]
    assert short_limits(f"{short}  # {_MEANT}") == []
    assert short_limits(line.format(600)) == []


def test_examples_have_no_deadline() -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
