"""Checks and speeds of what runs on a GPU, for docs/research/search.md."""

from __future__ import annotations

import os

if os.environ.get("TRITON_INTERPRET") == "1":
    import tests.gpu.interpreting  # noqa: F401 - before any kernel
