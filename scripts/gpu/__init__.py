"""Checks and speeds on a GPU for docs/research/search.md, and the models that experiments use there."""

from __future__ import annotations

import os

if os.environ.get("TRITON_INTERPRET") == "1":
    import tests.gpu.interpreting  # noqa: F401 - before any kernel
