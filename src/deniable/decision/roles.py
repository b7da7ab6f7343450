"""Which columns of a file still need a decision, and what would be a sensible one.

Free text is private, and so is what looks like people, contacts, identifiers or dates of birth. Each such
column needs a role by name: text (its words are replaced), drop (left out) or keep (released as it is). Other
columns are released as they are, and the decision page lists them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from deniable.errors import InvalidParameter, UnusableAuditData
from deniable.records.check import FileCheck
from deniable.records.deciding import WARNED, why_refused
from deniable.records.formats.columns import WHOLE_LINE, Unnamed, is_inside
from deniable.records.formats.layout import Roles

Role = Literal["text", "drop", "keep"]
ROLES: tuple[Role, ...] = ("text", "drop", "keep")

METADATA = "the file's own metadata"
"""What a check calls notes of a Parquet file that a release copies."""


@dataclass(frozen=True, kw_only=True)
class Undecided:
    """A column that somebody must decide about: what it looks like, and the role that suits most such
    columns."""

    column: str
    looks_like: str
    suggestion: Role

    def in_words(self) -> str:
        """Return the column, why it needs a role, and the option for the suggested one."""
        return (
            f"{self.column!r} ({self.looks_like}): for example {option_of(self.suggestion)} {self.column!r}"
        )


def option_of(role: Role) -> str:
    """Return the option that gives a column a role."""
    return f"--{role}"


def undecided_columns(check: FileCheck, roles: Roles) -> list[Undecided]:
    """Return the columns of a checked file that need a role and have none.

    :raises InvalidParameter: if a column cannot be named, because the header gives it no name.
    """
    found = []
    for column in check.columns:
        if isinstance(column.path, Unnamed):
            raise InvalidParameter(
                "file",
                check.file,
                f"{column.path} has no name in the header: name it there, or remove rows above the header",
            )
        if column.path is None or role_of(column.path, roles) is not None:
            continue
        if column.kind == "free text":
            found.append(Undecided(column=column.path, looks_like="free text", suggestion="text"))
        elif (why := why_refused(column)) is not None:
            found.append(Undecided(column=column.path, looks_like=why, suggestion="drop"))
        elif column.kind in WARNED:
            found.append(Undecided(column=column.path, looks_like=WARNED[column.kind], suggestion="drop"))
    return found


def role_of(column: str, roles: Roles) -> Role | None:
    """Return the role of a column: its own, or that of what it stands inside."""
    if column in roles.text:
        return "text"
    for role, names in (("drop", roles.drop), ("keep", roles.keep)):
        if column in names or any(is_inside(column, name) for name in names):
            return cast("Role", role)
    return None


def decide(roles: Roles, answers: dict[str, Role]) -> Roles:
    """Return the roles with those of more columns.

    :raises InvalidParameter: if a column has two.
    """
    more = {role: tuple(column for column, given in answers.items() if given == role) for role in ROLES}
    return Roles(
        text=(*roles.text, *more["text"]),
        drop=(*roles.drop, *more["drop"]),
        keep=(*roles.keep, *more["keep"]),
        keep_sheets=roles.keep_sheets,
    )


def check_decided(check: FileCheck, roles: Roles) -> None:
    """Check that every column has what it needs.

    :raises InvalidParameter: if a column needs a role, or no column holds text to release. The message lists
        all of them.
    :raises UnusableAuditData: if the file holds no record.
    """
    if not check.records:
        raise UnusableAuditData(check.file, "holds no record, so there is nothing to release")
    missing = undecided_columns(check, roles)
    if missing:
        raise InvalidParameter(
            "columns",
            [each.column for each in missing],
            "say what becomes of each column with --text, --drop or --keep: "
            + "; ".join(each.in_words() for each in missing),
        )
    if not roles.text and all(column.path is not WHOLE_LINE for column in check.columns):
        raise InvalidParameter("text", [], "choose at least one text column with --text")
    if METADATA in check.public:
        problem = "carries notes of its own, which would be released: write it again without them"
        raise InvalidParameter("file", check.file, problem)
