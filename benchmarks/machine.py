"""What a benchmark ran on."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def machine() -> str:
    """Return the processor's name and how many of it there are."""
    cpuinfo = Path("/proc/cpuinfo")
    models = re.findall(r"^model name\s*: (.*)$", cpuinfo.read_text(), re.MULTILINE) if cpuinfo.exists() else []
    return f"{os.cpu_count()} x {models[0] if models else platform.processor() or platform.machine()}"
