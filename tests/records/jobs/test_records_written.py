"""Nothing is replaced unasked, the input never, and what could not be written is said before the work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deniable import InvalidParameter, Privatizer, RecordError
from deniable.records import privatize_file
from deniable.release.card import read_card
from tests.records.jobs.stopped_jobs import source_in


def test_an_existing_output_is_replaced_only_by_force(private: Privatizer, tmp_path: Path) -> None:
    source, target = source_in(tmp_path), tmp_path / "out.txt"
    target.write_text("mine")
    with pytest.raises(RecordError, match="force=True"):
        privatize_file(private, source, target)
    assert target.read_text() == "mine"
    assert privatize_file(private, source, target, force=True) is not None
    assert target.read_text() == source.read_text()


def test_the_input_is_never_written_over(private: Privatizer, tmp_path: Path) -> None:
    source = source_in(tmp_path)
    content = source.read_bytes()
    (tmp_path / "link.txt").symlink_to(source)
    os.link(source, tmp_path / "hard.txt")
    for target in ("in.txt", "link.txt", "hard.txt"):
        with pytest.raises(RecordError, match="is the input itself"):
            privatize_file(private, source, tmp_path / target, force=True)
    source.rename(tmp_path / "x.txt.partial")
    with pytest.raises(RecordError, match="is the input itself"):
        privatize_file(private, tmp_path / "x.txt.partial", tmp_path / "x.txt", format="text", force=True)
    with pytest.raises(RecordError, match="is the input itself"):
        privatize_file(
            private, tmp_path / "hard.txt", tmp_path / "y.txt", receipt=tmp_path / "hard.txt", force=True
        )
    assert (tmp_path / "hard.txt").read_bytes() == content


def test_a_receipt_that_could_not_be_written_is_reported_before_the_work(
    private: Privatizer, tmp_path: Path
) -> None:
    source = source_in(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(RecordError, match="not a regular file"):
            privatize_file(private, source, tmp_path / "out.txt", receipt=tmp_path / name, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "in.txt", "pipe"]


def test_a_card_that_could_not_be_written_is_reported_before_the_work(
    private: Privatizer, tmp_path: Path
) -> None:
    source = source_in(tmp_path)
    (tmp_path / "out.txt.card.json").mkdir()
    with pytest.raises(RecordError, match="not a regular file; the card goes there"):
        privatize_file(private, source, tmp_path / "out.txt", force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt.card.json"]


def test_a_card_that_is_there_is_replaced_only_by_force(private: Privatizer, tmp_path: Path) -> None:
    source, target, card = source_in(tmp_path), tmp_path / "out.txt", tmp_path / "out.txt.card.json"
    card.write_text("of another release")
    with pytest.raises(RecordError, match=r"out.txt.card.json: exists already; replace it with force=True"):
        privatize_file(private, source, target)
    assert card.read_text() == "of another release"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt.card.json"]
    privatize_file(private, source, target, force=True)
    assert read_card(card) == private.card


def test_a_folder_that_is_not_there_is_reported_before_the_work(private: Privatizer, tmp_path: Path) -> None:
    source = source_in(tmp_path)
    with pytest.raises(RecordError, match="is not there"):
        privatize_file(private, source, tmp_path / "no" / "out.txt")
    with pytest.raises(RecordError, match="is not there"):
        privatize_file(private, source, tmp_path / "out.txt", receipt=tmp_path / "no" / "r.json")
    with pytest.raises(RecordError, match="is a folder"):
        privatize_file(private, source, tmp_path)
    with pytest.raises(RecordError, match="not a regular file"):
        privatize_file(private, source, "/dev/null")
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_formats_are_not_converted(private: Privatizer, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="not converted"):
        privatize_file(private, source_in(tmp_path), tmp_path / "out.parquet")


@pytest.mark.parametrize("ending", ["", ".partial", ".journal", ".finishing", ".receipt.json", ".card.json"])
def test_an_input_under_any_name_that_is_written_is_refused(
    private: Privatizer, tmp_path: Path, ending: str
) -> None:
    source = source_in(tmp_path).rename(tmp_path / f"o.txt{ending}")
    content = source.read_bytes()
    with pytest.raises(RecordError, match="is the input itself"):
        privatize_file(private, source, tmp_path / "o.txt", format="text", force=True)
    assert source.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == [source.name]
