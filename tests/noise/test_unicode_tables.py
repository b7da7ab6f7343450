"""Keyed words depend on the Unicode tables that cut text: other tables than those of the golden releases are
named, and end no job."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable import Embedding, Keyed, Multivariate, Privatizer
from deniable.errors import ResumeError
from deniable.records.describing import check_identity
from deniable.words import languages


def private() -> Privatizer:
    return Privatizer(
        Multivariate(Embedding(["a", "b"], [[0.0], [1.0]]), epsilon=1.0), randomness=Keyed.new()
    )


def test_the_golden_tables_are_named_nowhere() -> None:
    if languages.unicode_tables() != languages.GOLDEN_TABLES:
        pytest.skip("another version of regex than the golden releases were made with")
    assert "unicode_tables" not in private().settings.randomness


def test_other_tables_stand_in_the_receipt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "GOLDEN_TABLES", "others")
    assert private().receipt().to_dict()["randomness"]["unicode_tables"] == languages.unicode_tables()


def test_a_keyed_job_that_was_begun_under_other_tables_is_not_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = {"randomness": "keyed", "keyed_noise": 2}
    with pytest.raises(ResumeError):
        check_identity({**now, "unicode_tables": "others"}, now, tmp_path / "out.txt")
    check_identity(now, now, tmp_path / "out.txt")
