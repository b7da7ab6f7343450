"""What becomes of the columns of a file: they are privatized, left out, or released as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from deniable.errors import InvalidParameter, printable
from deniable.records.formats.paths import is_inside


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The columns that a person named, by what becomes of them.

    ``text`` is privatized, ``drop`` is left out and ``keep`` is released as it is, as are the sheets of a
    workbook in ``keep_sheets``. In JSON and Parquet a name may be a path, and what stands inside a kept or
    dropped column has its role.
    """

    text: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    keep_sheets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that every column has one role.

        :raises InvalidParameter: if one is named twice, or a text stands inside a column that is left out.
        """
        named = [("columns", self.text), ("drop", self.drop), ("keep", self.keep)]
        seen: dict[str, str] = {}
        for role, names in named:
            for name in names:
                if name in seen:
                    also = "" if seen[name] == role else f", as {seen[name]} and as {role}"
                    raise InvalidParameter(
                        role, list(names), f"the column {printable(name)} is named twice{also}"
                    )
                seen[name] = role
        for text in self.text:
            for drop in self.drop:
                if is_inside(text, drop):
                    problem = f"leaves out {printable(text)}, which is to be privatized; name one of the two"
                    raise InvalidParameter("drop", drop, problem)

    @property
    def named(self) -> frozenset[str]:
        """All columns that have a role."""
        return frozenset((*self.text, *self.drop, *self.keep))

    @classmethod
    def of(cls, **given: Sequence[str] | None) -> Self:
        """Return the roles of columns that somebody listed.

        :raises InvalidParameter: if something is no list of names, or as ``Roles`` itself.
        """
        for role, names in given.items():
            if isinstance(names, str) or not all(isinstance(name, str) for name in names or ()):
                raise InvalidParameter(
                    "columns" if role == "text" else role, names, "must be a list of names"
                )
        return cls(**{role: tuple(names or ()) for role, names in given.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return what an output depends on, as JSON-ready data: a job begun without roles has none that it
        leaves out."""
        return {"columns": list(self.text), **({"drop": list(self.drop)} if self.drop else {})}


NO_ROLES = Roles()
