"""Receipts name the files that they are about, and the release of an input that was released before is warned
of."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path

import pytest

from deniable import Release
from deniable.errors import RecordError
from deniable.noise.key_file import write_new_key
from deniable.progress import Progress
from deniable.records import privatize_file
from deniable.release.receipt_page import read_receipt_file, receipt_page

RELEASE = Release(epsilon=6)


def digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def warned(release: Release, source: Path, target: Path, *, force: bool = False) -> list[str]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        privatize_file(release, source, target, force=force)
    return [str(each.message) for each in seen if "was released before" in str(each.message)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "private").mkdir()
    (tmp_path / "out").mkdir()
    path = tmp_path / "private" / "notes.txt"
    path.write_text("my doctor said\nthe train was late\n")
    return path


def test_the_receipt_names_input_and_output_and_the_card_does_not(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "released.txt.gz"
    privatize_file(RELEASE, source, target)
    receipt = target.with_name("released.txt.gz.receipt.json")
    assert json.loads(receipt.read_text())["files"] == {
        "input": {"name": "notes.txt", "bytes": source.stat().st_size, "digest": digest(source)},
        "output": {"name": target.name, "bytes": target.stat().st_size, "digest": digest(target)},
    }
    card = target.with_name("released.txt.gz.card.json").read_text()
    assert digest(source) not in card
    assert "notes" not in card
    assert digest(target) in receipt_page(read_receipt_file(receipt)).html()


def test_the_files_of_a_folder_are_named_together(source: Path, tmp_path: Path) -> None:
    privatize_file(RELEASE, source.parent, tmp_path / "out" / "released", format="folder")
    files = json.loads((tmp_path / "out" / "released.receipt.json").read_text())["files"]
    assert files["input"]["digest"] == hashlib.blake2b(digest(source).encode(), digest_size=16).hexdigest()
    assert files["output"]["name"] == "released"


@pytest.mark.parametrize("first", ["out", "private"])
def test_an_input_is_known_by_the_receipts_beside_it_or_the_output(
    source: Path, tmp_path: Path, first: str
) -> None:
    (tmp_path / first / "damaged.receipt.json").write_text("{")
    assert warned(RELEASE, source, tmp_path / first / "first.txt") == []
    again = source.rename(source.with_name("renamed.txt"))
    assert len(warned(RELEASE, again, tmp_path / "out" / "second.txt")) == 1
    again.write_text("my doctor said more\n")
    assert warned(RELEASE, again, tmp_path / "out" / "third.txt") == []


def test_replacing_an_output_releases_again(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "a.txt"
    assert warned(RELEASE, source, target) == []
    assert len(warned(RELEASE, source, target, force=True)) == 1


def test_a_repeat_under_the_same_key_spends_nothing_and_is_not_warned_of(
    source: Path, tmp_path: Path
) -> None:
    write_new_key(tmp_path / "key")
    for number, (epsilon, times) in enumerate(((6, 0), (6, 0), (5, 1))):
        release = Release(epsilon=epsilon, key_file=tmp_path / "key")
        assert len(warned(release, source, tmp_path / "out" / f"{number}.txt")) == times


def test_an_input_that_changes_under_a_release_is_in_no_receipt(source: Path) -> None:
    class Changing(Progress):
        def report(self, done: int, total: int | None = None) -> None:
            source.write_text("MY doctor said\nthe train was late\n")

    target = source.with_name("out.txt")
    with pytest.raises(RecordError):
        privatize_file(RELEASE, source, target, progress=Changing)
    assert not target.exists()
    assert not target.with_name("out.txt.receipt.json").exists()
