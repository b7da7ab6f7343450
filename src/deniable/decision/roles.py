"""Which columns and sheets of a file still need a decision, and what would be a sensible one.

Free text is private, and so is what looks like people, contacts, identifiers or dates of birth, and what is
hidden. Each such column needs a role by name: text (its words are replaced), drop (left out) or keep
(released as it is). So does every other sheet of a workbook. Other columns are released as they are, and
the decision page lists them.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from deniable.errors import InvalidParameter, UndecidedColumns, UnusableAuditData, printable
from deniable.records.check import FileCheck
from deniable.records.deciding import WARNED
from deniable.records.formats.columns import WHOLE_LINE, Unnamed, is_inside, number_of
from deniable.records.formats.layout import Roles

Role = Literal["text", "drop", "keep"]
ROLES: tuple[Role, ...] = ("text", "drop", "keep")

METADATA = "the file's own metadata"
"""What a check calls notes of a Parquet file that a release copies."""


@dataclass(frozen=True, kw_only=True)
class Undecided:
    """A column or a sheet that somebody must decide about, and the role that suits most of its kind."""

    name: str
    looks_like: str
    suggestion: Role
    is_sheet: bool = False

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles it may have: a sheet is left out or kept whole."""
        return ROLES[1:] if self.is_sheet else ROLES

    @property
    def option(self) -> str:
        """The option that gives it the suggested role, for a shell."""
        return f"--{self.suggestion}{'-sheet' if self.is_sheet else ''} {shlex.quote(self.name)}"


def undecided(check: FileCheck, roles: Roles) -> list[Undecided]:
    """Return the columns and sheets of a checked file that need a role and have none.

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
        why = check.undecided.get(column.path) or WARNED.get(column.kind)
        if why is not None:
            suggestion: Role = "text" if column.kind == "free text" else "drop"
            found.append(Undecided(name=column.path, looks_like=why, suggestion=suggestion))
    named = (*roles.keep_sheets, *roles.drop_sheets)
    return found + [
        Undecided(name=sheet, looks_like="another sheet", suggestion="drop", is_sheet=True)
        for sheet in check.sheets
        if sheet not in named
    ]


def role_of(column: str, roles: Roles) -> Role | None:
    """Return the role of a column: its own, or that of what it stands inside."""
    if column in roles.text:
        return "text"
    for role, names in (("drop", roles.drop), ("keep", roles.keep)):
        if column in names or any(is_inside(column, name) for name in names):
            return cast("Role", role)
    return None


def decide(roles: Roles, answers: Sequence[tuple[Undecided, Role]]) -> Roles:
    """Return the roles with those of more columns and sheets."""

    def more(role: Role, *, sheets: bool = False) -> tuple[str, ...]:
        return tuple(each.name for each, given in answers if given == role and each.is_sheet == sheets)

    return Roles(
        text=(*roles.text, *more("text")),
        drop=(*roles.drop, *more("drop")),
        keep=(*roles.keep, *more("keep")),
        keep_sheets=(*roles.keep_sheets, *more("keep", sheets=True)),
        drop_sheets=(*roles.drop_sheets, *more("drop", sheets=True)),
    )


def check_decided(check: FileCheck, roles: Roles) -> None:
    """Check that every column and sheet has what it needs.

    :raises UndecidedColumns: if one needs a role; the message lists all of them.
    :raises InvalidParameter: if no column holds text to release.
    :raises UnusableAuditData: if the file holds no record.
    """
    if not check.records:
        raise UnusableAuditData(check.file, "holds no record, so there is nothing to release")
    if missing := undecided(check, roles):
        width = max(len(each.option) for each in missing)
        listed = "".join(f"\n  {printable(each.option):<{width}}  # {each.looks_like}" for each in missing)
        sheets = sum(each.is_sheet for each in missing)
        counts = {"column": len(missing) - sheets, "sheet": sheets}
        parts = " and ".join(number_of(count, noun) for noun, count in counts.items() if count)
        raise UndecidedColumns(
            check.file,
            {each.name: each.looks_like for each in missing},
            advice=f"roles are missing for {parts}. --text replaces the words, "
            f"--drop leaves a column out, --keep releases it unchanged. For example:{listed}",
        )
    if not roles.text and all(column.path is not WHOLE_LINE for column in check.columns):
        raise InvalidParameter("text", [], "choose at least one text column with --text")
    if METADATA in check.public:
        problem = "carries notes of its own, which would be released: write it again without them"
        raise InvalidParameter("file", check.file, problem)
