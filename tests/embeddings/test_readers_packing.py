from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable

import pyarrow as pa
import pytest

from deniable.embeddings.readers import packing as packed_files
from tests.embeddings.conftest import Added, Refused

TEXT = b"".join(b"w%d 0.%d -1.5\n" % (i, i) for i in range(500))


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
    "zip": lambda content: zipped({"v.txt": content}),
}


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_files_are_told_by_content_not_by_name(added: Added, packing: str) -> None:
    assert len(added(PACKERS[packing](TEXT))) == 500


@pytest.mark.parametrize("packing", PACKERS)
def test_cut_off_packed_files_are_refused(refused: Refused, packing: str) -> None:
    packed = PACKERS[packing](b"".join(b"w%d 0.%d -1.5\n" % (i, i * i) for i in range(50_000)))
    assert "damaged or cut off" in refused(packed[: len(packed) // 2]).problem
    assert "damaged or cut off" in refused(packed[:-2]).problem


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MOST_UNPACKED", 1 << 20), ("MOST_GROWN", 10), ("GROWN_FROM", 100)):
        monkeypatch.setattr(packed_files, name, value)


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("packing", PACKERS)
def test_a_bomb_is_refused_at_the_limit(refused: Refused, packing: str) -> None:
    error = refused(PACKERS[packing](b"w 0.5\n" + b"0" * (8 << 20)))
    assert "past the limit for packed files" in error.problem


@pytest.mark.usefixtures("limit")
def test_the_ratio_counts_only_past_its_start() -> None:
    far = packed_files.has_grown_too_far
    assert [far(100, 1), far(101, 1), far(500, 50), far(501, 50)] == [False, True, False, True]
    assert [far(1 << 20, 1 << 20), far((1 << 20) + 1, 1 << 20)] == [False, True]


@pytest.mark.usefixtures("limit")
def test_a_plain_file_knows_no_limit(added: Added) -> None:
    assert len(added(TEXT * 200, duplicates="first")) == 500


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (zipped({"a.txt": TEXT, "b.txt": TEXT}), "2 files (a.txt, b.txt)"),
        (zipped({}), "0 files (nothing)"),
        (gzip.compress(bz2.compress(TEXT)), "packed twice"),
        (gzip.compress(b""), "empty"),
    ],
    ids=["two files", "no file", "packed twice", "empty"],  # packed bytes hold the time
)
def test_what_holds_not_one_file_is_refused(refused: Refused, content: bytes, problem: str) -> None:
    assert problem in refused(content).problem


def test_the_folder_that_macos_adds_does_not_count(added: Added) -> None:
    assert len(added(zipped({"v.txt": TEXT, "__MACOSX/._v.txt": b"x"}))) == 500


def test_an_encrypted_zip_is_refused(refused: Refused) -> None:
    packed = bytearray(zipped({"v.txt": TEXT}))
    packed[6] |= 1
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in refused(bytes(packed)).problem


def test_progress_counts_bytes_of_the_file_to_its_end(added: Added) -> None:
    packed = gzip.compress(TEXT)
    seen: list[tuple[int, int | None]] = []
    added(packed, report=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(packed), len(packed))
