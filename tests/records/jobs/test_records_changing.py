"""A file that changes while it is read: its digest names what was read, or nothing is published under it."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from deniable import Embedding, Keyed, Multivariate, Privatizer
from deniable.errors import RecordError
from deniable.records import privatize_file, privatize_stream
from deniable.records.formats.layout import make_layout
from deniable.records.formats.opening import open_source
from deniable.records.formats.source import FileSource

HEAD = "the fox has brown words\n" * 20


@pytest.fixture
def keyed(embedding: Embedding) -> Privatizer:
    return Privatizer(Multivariate(embedding, epsilon=2.0), randomness=Keyed(bytes(range(32))))


def change_after_digest(monkeypatch: pytest.MonkeyPatch, path: Path, content: str, mode: str) -> None:
    """Let somebody write to a file when its digest was just made."""
    made = FileSource.digest

    def digest(source: FileSource) -> str | None:
        found = made(source)
        with path.open(mode) as file:
            file.write(content)
        return found

    monkeypatch.setattr(FileSource, "digest", digest)


def test_what_is_added_after_the_digest_is_not_read(
    keyed: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else records of two files would be drawn with the same noise: both would have the name of what the
    files have in common."""
    source = tmp_path / "log.txt"
    released = []
    for number, added in enumerate(("", "the brown fox\n" * 5, "quick words\n")):
        source.write_text(HEAD)
        with monkeypatch.context() as patch:
            change_after_digest(patch, source, added, "a")
            receipt = privatize_file(keyed, source, tmp_path / f"out{number}.txt")
        assert receipt is not None
        assert receipt.tally.records == 20
        released.append((tmp_path / f"out{number}.txt").read_text())
    assert released[0] == released[1] == released[2]


@pytest.mark.parametrize("content", [HEAD.replace("fox", "dog"), HEAD[:100], ""])
def test_what_was_replaced_after_the_digest_is_not_published(
    keyed: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text(HEAD)
    change_after_digest(monkeypatch, source, content, "w")
    with pytest.raises(
        RecordError, match="changed while it was read; release it again when it has stopped changing"
    ):
        privatize_file(keyed, source, target)
    assert not target.exists()
    assert not (tmp_path / "out.txt.receipt.json").exists()


def test_nothing_of_what_was_replaced_is_written_to_a_stream(
    keyed: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, sink = tmp_path / "in.txt", io.BytesIO()
    source.write_text(HEAD)
    layout = make_layout(source)
    change_after_digest(monkeypatch, source, HEAD.replace("fox", "dog"), "w")
    with open_source(source) as opened, pytest.raises(RecordError, match="changed while it was read"):
        privatize_stream(keyed, opened, sink, layout)
    assert not sink.getvalue()


def test_fresh_noise_needs_no_digest(embedding: Embedding, tmp_path: Path) -> None:
    source = tmp_path / "log.txt"
    source.write_text(HEAD)
    with open_source(source) as opened:
        source.write_text(HEAD * 2)
        opened.check_unchanged()
        assert b"".join(opened.chunks()).decode() == HEAD, "it is read as far as it went when it was opened"


def test_a_time_that_was_set_back_hides_no_change(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text(HEAD)
    before = source.stat()
    with open_source(source) as opened:
        opened.digest()
        opened.check_unchanged()
        source.write_text(HEAD.replace("fox", "dog"))
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        with pytest.raises(RecordError, match="changed while it was read"):
            opened.check_unchanged()


def test_after_an_addition_the_bytes_are_looked_at_again_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "log.txt"
    source.write_text(HEAD)
    with open_source(source) as opened:
        opened.digest()
        with source.open("a") as file:
            file.write("more\n")
        looked = []
        made = FileSource._digest_of_bytes

        def look(each: FileSource) -> str:
            looked.append(each.name)
            return made(each)

        monkeypatch.setattr(FileSource, "_digest_of_bytes", look)
        for _ in range(3):
            opened.check_unchanged()
    assert len(looked) == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
def test_a_file_that_does_not_say_how_long_it_is_is_not_taken_for_empty(
    keyed: Privatizer, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match="does not say how long it is; copy it to a file first"):
        privatize_file(keyed, Path("/proc/self/status"), tmp_path / "out.txt", format="text")
    assert not (tmp_path / "out.txt").exists()


def test_a_file_of_a_folder_that_changes_while_it_is_read_is_not_released(
    keyed: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("the fox")
    check = FileSource.check_not_written

    def write(source: FileSource) -> None:
        (folder / "a.txt").write_text("the dog")
        check(source)

    monkeypatch.setattr(FileSource, "check_not_written", write)
    with pytest.raises(RecordError, match="file 1 by name: changed while it was read"):
        privatize_file(keyed, folder, tmp_path / "out", format="folder")
    assert not (tmp_path / "out").exists()
