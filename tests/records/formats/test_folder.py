"""A folder of text files: one record a file, and nothing of what the files are called comes out."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from deniable import InvalidParameter, Keyed, Multivariate, Privatizer
from deniable.embeddings.embedding import Embedding
from deniable.errors import RecordError
from deniable.records import privatize_file, privatize_stream
from deniable.records.formats.folder import FolderReader
from deniable.records.formats.layout import make_layout
from deniable.records.formats.opening import open_source
from deniable.records.reading import read_texts, rewrite_file

TEXTS = {
    "kowalczyk.txt": "fox!\nthe, quick\n",
    "adams.TXT": "word1\r\nword2",
    "zoe.txt": "",
    "b.text": "brown\tfox",
}


def made(folder: Path, texts: dict[str, str] = TEXTS) -> Path:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    return folder


def texts_in(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def test_each_file_is_a_record_and_comes_out_under_a_number(private: Privatizer, tmp_path: Path) -> None:
    source = made(tmp_path / "in")
    (source / "notes.csv").write_text("left alone")
    (source / "link.txt").symlink_to(source / "notes.csv")
    (source / "more").mkdir()
    receipt = privatize_file(private, source, tmp_path / "out", format="folder")
    expected = {
        "0001.txt": "word1 word2\n",
        "0002.txt": "brown fox\n",
        "0003.txt": "fox the quick\n",
        "0004.txt": "\n",
    }
    assert texts_in(tmp_path / "out") == expected
    assert receipt is not None
    assert receipt.tally.records == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in",
        "out",
        "out.card.json",
        "out.receipt.json",
    ]
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o777 & ~_mask()
    assert stat.S_IMODE((tmp_path / "out" / "0001.txt").stat().st_mode) == 0o666 & ~_mask()
    written = (tmp_path / "out.card.json").read_text() + (tmp_path / "out.receipt.json").read_text()
    assert "kowalczyk" not in written


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def test_the_noise_of_a_key_follows_what_stands_in_the_files_and_not_their_names(
    embedding: Embedding, tmp_path: Path
) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1.0), randomness=Keyed(bytes(32)))
    first = made(tmp_path / "a", {"a.txt": "the quick brown fox", "b.txt": "the quick brown fox"})
    second = made(tmp_path / "b", {"kowalczyk.txt": "the quick brown fox", "lee.txt": "the quick brown fox"})
    for source in (first, second):
        privatize_file(private, source, tmp_path / f"{source.name}.out", format="folder")
    out = texts_in(tmp_path / "a.out")
    assert out == texts_in(tmp_path / "b.out")
    assert out["0001.txt"] != out["0002.txt"]


def test_a_folder_is_released_only_when_it_is_said(private: Privatizer, tmp_path: Path) -> None:
    source = made(tmp_path / "in")
    with pytest.raises(InvalidParameter, match="is a folder; name a file in it, or to release each"):
        privatize_file(private, source, tmp_path / "out")
    with pytest.raises(InvalidParameter, match="needs a folder of"):
        privatize_file(private, source / "zoe.txt", tmp_path / "out", format="folder")
    with pytest.raises(InvalidParameter, match="plain text has no columns"):
        privatize_file(private, source, tmp_path / "out", format="folder", columns=["text"])
    layout = make_layout(source, format="folder")
    with (
        open_source(source) as opened,
        pytest.raises(InvalidParameter, match="cannot be written to a stream"),
    ):
        privatize_stream(private, opened, io.BytesIO(), layout)
    with pytest.raises(RecordError, match=r"has no file in it that ends in \.txt or \.text"):
        privatize_file(private, made(tmp_path / "empty", {}), tmp_path / "out", format="folder")
    assert not (tmp_path / "out").exists()


def test_an_output_folder_is_never_replaced(private: Privatizer, tmp_path: Path) -> None:
    source, target = made(tmp_path / "in"), made(tmp_path / "out", {"mine.txt": "kept"})
    for force in (False, True):
        with pytest.raises(RecordError, match="exists already"):
            privatize_file(private, source, target, format="folder", force=force)
    assert texts_in(target) == {"mine.txt": "kept"}


def test_a_file_that_is_no_text_is_refused_by_its_number_and_nothing_comes_out(
    private: Privatizer, tmp_path: Path
) -> None:
    source = made(tmp_path / "in")
    (source / "m.txt").write_bytes(b"%PDF-1.7")
    with pytest.raises(RecordError, match=r"in: file 4 by name, line 1: is a PDF document"):
        privatize_file(private, source, tmp_path / "out", format="folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_a_folder_that_changed_is_not_continued(
    noisy: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = made(tmp_path / "in")

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FolderReader, "finish", fail)
        with pytest.raises(KeyboardInterrupt):
            privatize_file(noisy, source, tmp_path / "out", format="folder")
    (source / "new.txt").write_text("fox")
    with pytest.raises(RecordError, match="belongs to another job: input size"):
        privatize_file(noisy, source, tmp_path / "out", format="folder", resume=True)
    privatize_file(noisy, source, tmp_path / "out", format="folder", force=True)
    assert len(texts_in(tmp_path / "out")) == 5


def test_a_released_folder_is_read_by_its_receiver_and_not_rewritten(
    private: Privatizer, tmp_path: Path
) -> None:
    source = made(tmp_path / "in")
    assert len(list(read_texts(source, column=None, format="folder"))) == 4
    with pytest.raises(RecordError, match="is a folder, whose files are read and not written again"):
        rewrite_file(source, tmp_path / "out", lambda texts: texts, column=None, format="folder")


def test_what_is_wrong_with_a_file_is_said_without_its_name(private: Privatizer, tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "a.txt").write_text("the fox")
    (folder / "smith.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(RecordError, match="file 2 by name, line 1: ") as caught:
        privatize_file(private, folder, tmp_path / "out", format="folder")
    assert "smith" not in str(caught.value)
