"""What a benchmark ran on, in words: a figure without it says little."""

from __future__ import annotations

import os
import platform


def machine() -> str:
    """Return the processor's kind, the hardware threads there are, the Python, and how busy the machine is now."""
    load = f"load {os.getloadavg()[0]:.1f}"
    return f"{platform.machine()}, {os.cpu_count()} hardware threads, {load}, Python {platform.python_version()}"
