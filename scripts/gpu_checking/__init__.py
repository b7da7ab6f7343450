"""The parts of scripts/check_gpu.py: what is measured on a GPU, and where."""

from __future__ import annotations

import os

if os.environ.get("TRITON_INTERPRET") == "1":
    import tests.gpu.interpreting  # noqa: F401 - before any kernel
