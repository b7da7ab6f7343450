"""Results that audits wrote, read again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from deniable.atomic import read_plain_file
from deniable.audit.authorship import AuthorshipResult
from deniable.audit.bound.attempt import BoundResult
from deniable.audit.inversion.results import InversionResult
from deniable.audit.membership.audit import MembershipResult
from deniable.errors import RecordError

AnyResult = BoundResult | InversionResult | MembershipResult | AuthorshipResult
"""The result of some audit."""

_LONGEST = 64 << 20

KINDS: Mapping[str, type[AnyResult]] = {
    "bound": BoundResult,
    "inversion": InversionResult,
    "membership": MembershipResult,
    "authorship": AuthorshipResult,
}


def read_result(path: Path) -> AnyResult:
    """Return a result that an audit wrote with ``--save``, or that ``to_dict`` gave.

    :raises RecordError: if the file is not one.
    """
    try:
        data = json.loads(read_plain_file(path, longest=_LONGEST, what="result of an audit", error=RecordError))
        kind = data["audit"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RecordError(path, "is not the result of an audit; write one with: deniable audit … --save FILE") from None
    if not isinstance(kind, str) or kind not in KINDS:
        raise RecordError(path, f"is the result of an audit that this version does not know ({kind!r})")
    try:
        return msgspec.convert(data, type=KINDS[kind])
    except (ValueError, OverflowError) as error:  # also text that is half a character
        raise RecordError(path, f"is not a whole result of the {kind} audit: {error}") from None
