"""Every column that looks private needs a decision; nothing is decided by silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable import Embedding, InvalidParameter
from deniable.decision.roles import check_decided, decide, undecided
from deniable.records.check import FileCheck, check_file
from deniable.records.formats.layout import Roles, make_layout


@pytest.fixture
def checked(tmp_path: Path) -> FileCheck:
    rows = ["id,patient_name,ward,comment,contact"]
    rows += [
        f"{i},Maria Garcia{i},{'AB'[i % 2]},the nurse number {i} was kind and explained it,p{i}@example.org"
        for i in range(40)
    ]
    path = tmp_path / "comments.csv"
    path.write_text("\n".join(rows))
    layout = make_layout(path, sheet=None)
    return check_file(path, layout, Embedding.open())


def test_private_looking_columns_need_a_role_and_harmless_ones_do_not(checked: FileCheck) -> None:
    found = {each.name: each.suggestion for each in undecided(checked, Roles())}
    assert found == {"patient_name": "drop", "comment": "text", "contact": "drop"}


def test_the_error_lists_every_missing_role_at_once(checked: FileCheck) -> None:
    with pytest.raises(InvalidParameter) as caught:
        check_decided(checked, Roles(text=("comment",)))
    assert caught.value.value == ["patient_name", "contact"]


def test_answers_become_roles_and_every_role_is_accepted(checked: FileCheck) -> None:
    name, contact = undecided(checked, Roles(text=("comment",)))
    roles = decide(Roles(text=("comment",)), [(name, "drop"), (contact, "keep")])
    assert roles == Roles(text=("comment",), drop=("patient_name",), keep=("contact",))
    check_decided(checked, roles)


def test_a_file_without_a_text_column_is_refused(checked: FileCheck) -> None:
    with pytest.raises(InvalidParameter) as caught:
        check_decided(checked, Roles(drop=("patient_name", "comment", "contact")))
    assert caught.value.name == "text"
