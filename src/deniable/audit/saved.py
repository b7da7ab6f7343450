"""Results that audits wrote, read again."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from deniable.atomic import read_plain_file
from deniable.audit.catalogue import AUDITS, audit_named
from deniable.audit.results import AuditResult
from deniable.errors import RecordError

_LONGEST = 64 << 20


def read_result(path: Path) -> AuditResult:
    """Return a result that an audit wrote with ``--save``, or that ``to_dict`` gave.

    :raises RecordError: if the file is not one.
    """
    try:
        data = json.loads(
            read_plain_file(path, longest=_LONGEST, what="result of an audit", error=RecordError)
        )
        kind = data["audit"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RecordError(
            path, "is not the result of an audit; write one with: deniable audit … --save FILE"
        ) from None
    if not isinstance(kind, str) or kind not in AUDITS:
        problem = (
            f"is the result of an audit that is not known here ({kind!r}); import deniable.lab for "
            "those of the lab"
        )
        raise RecordError(path, problem)
    try:
        return msgspec.convert(data, type=audit_named(kind).result)
    except (ValueError, OverflowError) as error:  # also text that is half a character
        raise RecordError(path, f"is not a whole result of the {kind} audit: {error}") from None
