"""Results that audits wrote, read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deniable.errors import RecordError

KINDS = ("bound", "inversion", "membership", "authorship")


def read_result(path: Path) -> dict[str, Any]:
    """Return a result that an audit wrote with ``--save``.

    :raises RecordError: if the file is not one.
    """
    try:
        answer: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        kind = answer["audit"]
    except (ValueError, KeyError, TypeError):
        raise RecordError(path, "is not the result of an audit; write one with: deniable audit … --save FILE") from None
    if kind not in KINDS:
        raise RecordError(path, f"is the result of an audit that this version does not know ({kind!r})")
    return answer
