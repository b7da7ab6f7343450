"""What a benchmark ran on, in words and as data, and the processor time that it took: a figure without them
says little."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Any


def machine() -> str:
    """Return how many hardware threads of which processor there are, how busy they are now, and the
    Python."""
    cpuinfo = Path("/proc/cpuinfo")
    models = (
        re.findall(r"^model name\s*: (.*)$", cpuinfo.read_text(), re.MULTILINE) if cpuinfo.exists() else []
    )
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{os.cpu_count()} x {model}, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}"


def busy() -> dict[str, Any]:
    """Return how many hardware threads there are, and how many processes want one now."""
    return {"threads": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}


def processor_seconds() -> float:
    """Return the processor time of this process and all that it started, and those started, as far as they
    live or were waited for."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        process = int(stat.parent.name)
        parents[process] = int(fields[1])
        ticks[process] = sum(map(int, fields[11:15]))
    mine = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(ticks[process] for process in mine) / os.sysconf("SC_CLK_TCK")
