"""How an optional library is installed here. No package index has deniable, and anybody could register the
name there."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

if not hasattr(os, "O_CLOEXEC"):  # every import of deniable comes through here
    raise ImportError(
        "deniable runs on Linux and macOS: this system cannot open files in the way that it needs, so "
        "nothing was released"
    )


def install_command(extra: str) -> str:
    """Return the command that adds the libraries of ``extra``, from where deniable was installed from."""
    from importlib.metadata import PackageNotFoundError, distribution  # slow to load, and hardly ever needed

    try:
        origin = json.loads(distribution("deniable").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    source = _local(origin.get("url", ""))
    if source is None:
        return (
            f"pip install '.[{extra}]' in a checkout of deniable, or 'WHEEL[{extra}]' with the path of "
            "its wheel"
        )
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}{shlex.quote(f'{source}[{extra}]')}"


def _local(address: str) -> Path | None:
    """Return the file or folder of a ``file:`` address if it is still there."""
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    parts = urlsplit(address)
    path = Path(url2pathname(parts.path))
    return path if parts.scheme == "file" and path.exists() else None
