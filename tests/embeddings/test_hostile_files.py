"""Embedding files that claim more than they hold: refused with one error, in little time and memory."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import resource
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deniable.arrays import Vectors
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.readers import binary, packing, text
from deniable.embeddings.store import add
from deniable.embeddings.subwords import LONGEST_RUN, Subwords
from deniable.errors import MalformedEmbedding
from tests.embeddings.conftest import Refused

HEAD = struct.pack("<2i", 793712314, 12)


@pytest.fixture(autouse=True)
def bounded() -> object:
    """Fail if a test takes long or much memory, whatever it asserts."""
    started, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.process_time() - started < 600
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 << 10


def size_of(content: bytes) -> str:
    """Return a name for a case."""
    return f"{len(content)} bytes"


def fasttext(
    *,
    words: int = 2,
    bucket: int = 0,
    maxn: int = 0,
    count: int = 2,
    pruned: int = -1,
    rows: int = 2,
    dimension: int = 2,
) -> bytes:
    training = struct.pack("<12id", dimension, 5, 5, 1, 5, 1, 2, 2, bucket, 0, maxn, 100, 1e-4)
    dictionary = struct.pack("<3iqq", count, words, 0, 10, pruned)
    entries = b"".join(b"w%d\0" % i + struct.pack("<qb", 9 - i, 0) for i in range(2))
    matrix = struct.pack("<?qq", False, rows, dimension) + np.ones((2, 2), np.float32).tobytes()
    return HEAD + training + dictionary + entries + matrix


def test_a_small_fasttext_model_is_read(tmp_path: Path) -> None:
    pytest.importorskip("gensim")
    path = tmp_path / "m.bin"
    path.write_bytes(fasttext())
    assert add(path, "ft").words == 2


@pytest.mark.parametrize(
    "content",
    [
        HEAD
        + struct.pack(
            "<12id3iqq", 2, 5, 5, 1, 5, 1, 2, 2, 0, 0, 0, 100, 1e-4, 2**31 - 1, 2**31 - 1, 0, 10, -1
        )
        + b"abc",  # 95 bytes
        fasttext(count=2**31 - 1, words=2**31 - 1),
        fasttext(pruned=2**62),
        fasttext(rows=2**62),
        fasttext(rows=-1),
        fasttext(bucket=2**31 - 1),
        fasttext(dimension=2**31 - 1),
        fasttext(maxn=2**31 - 1),
        fasttext(words=1),
    ],
    ids=size_of,
)
def test_a_fasttext_model_that_claims_too_much_is_refused(refused: Refused, content: bytes) -> None:
    pytest.importorskip("gensim")
    assert "cannot read this fastText model" in refused(content).problem


def test_a_fasttext_word_without_end_is_refused(refused: Refused) -> None:
    pytest.importorskip("gensim")
    content = (
        HEAD
        + struct.pack("<12id3iqq", 2, 5, 5, 1, 5, 1, 2, 2, 0, 0, 0, 100, 1e-4, 1, 1, 0, 10, -1)
        + b"a" * 5_000_000
    )
    assert "word 1 does not end" in refused(content).problem


def test_long_runs_of_characters_are_refused() -> None:
    with pytest.raises(MalformedEmbedding, match="make no sense"):
        Subwords(np.ones((3, 2), np.float32), minn=1, maxn=LONGEST_RUN + 1)


def test_a_word2vec_word_without_end_is_refused_at_once(refused: Refused) -> None:
    content = b"3 2\n" + b"a" * 30_000_000
    assert (
        f"word 1 is longer than {binary.LONGEST_WORD:,} bytes"
        in refused(content, format="word2vec-binary").problem
    )


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1 << 22])
def test_a_word2vec_file_is_read_whatever_the_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    monkeypatch.setattr(binary, "BLOCK_BYTES", block_bytes)
    vectors = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    vectors[7] = np.frombuffer(b"\n a b c \n\n  ", dtype="<f4")  # bytes that look like ends of words
    path = tmp_path / "v.bin"
    path.write_bytes(
        b"50 3\n" + b"".join(b"w%d " % i + row.tobytes() + b"\n" * (i % 2) for i, row in enumerate(vectors))
    )
    add(path, "w2v")
    embedding = Embedding.open("w2v")
    assert list(embedding.words) == [f"w{i}" for i in range(50)]
    np.testing.assert_array_equal(embedding.vectors, vectors)


def npy(shape: str, descr: str = "'<U0'", content: bytes = b"") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


def archive(**arrays: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in arrays.items():
            written.writestr(f"{name}.npy", content)
    return out.getvalue()


VECTORS = npy("(2, 2)", "'<f4'", bytes(16))


@pytest.mark.parametrize(
    "content",
    [
        archive(words=npy("(1000000000,)"), vectors=npy("(1000000000, 0)", "'<f4'")),  # 361 bytes
        archive(words=npy("(1000000000,)", "'<U1'"), vectors=VECTORS),
        archive(words=npy("(2,)", "'<U1'", b"a\0\0\0b\0\0\0"), vectors=npy("(2, 4000000000)", "'<f4'")),
        archive(words=npy("(2,)", "'<U1'", b"a\0\0\0b\0\0\0"), vectors=npy("(2, -3)", "'<f4'")),
        archive(words=npy("(2,)", "'<U1'", b"a\0\0\0b\0\0\0"), vectors=npy("(True, 2)", "'<f4'")),
        archive(words=npy("(2,)", "[[[[" * 50), vectors=VECTORS),
        archive(words=npy("(2,)", "(" * 99), vectors=VECTORS),
        archive(words=b"\x93NUMPY\x02\x00\xff\xff\xff\xff", vectors=VECTORS),
        archive(words=b"\x93NUMPY\x09\x00\x10\x00" + b" " * 16, vectors=VECTORS),
        archive(words=b"\x93NUMPY\x01\x00\x10\x00" + b"'" + b" " * 15, vectors=VECTORS),
    ],
    ids=size_of,
)
def test_an_npz_that_claims_too_much_is_refused(refused: Refused, content: bytes) -> None:
    refused(content, name="v.npz")


def test_an_encrypted_npz_is_refused(refused: Refused) -> None:
    content = bytearray(archive(words=npy("(2,)", "'<U1'", b"a\0\0\0b\0\0\0"), vectors=VECTORS))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    assert "damaged" in refused(bytes(content), name="v.npz").problem


def test_a_zip_whose_names_are_no_text_is_refused(refused: Refused) -> None:
    content = bytearray(archive(words=VECTORS))
    at = content.index(b"PK\x01\x02")
    content[at + 9] |= 0x08  # names are UTF-8
    content[at + 46] = 0xFF
    assert "damaged" in refused(bytes(content)).problem


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_packed_file_may_grow_a_hundredfold_and_no_further(
    refused: Refused, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "GROWN_FROM", 1 << 20)
    line = b"b" + b" 1" * 500 + b"\n"
    content = pack(line.replace(b"b", b"a") + line * ((3 << 20) // len(line)))
    assert len(content) * packing.MOST_GROWN < 3 << 20
    assert "past the limit for packed files" in refused(content, duplicates="first").problem


def safetensors(header: object, content: bytes = bytes(16)) -> bytes:
    written = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(written).to_bytes(8, "little") + written + content


TABLE = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
# Two readers of one header may differ: the entry that is repeated claims more.
TWICE = (
    b'{"__metadata__":{"words":"[\\"a\\", \\"b\\"]"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},'
    b'"w":{"dtype":"F32","shape":[2,999999],"data_offsets":[0,16]}}'
)


@pytest.mark.parametrize(
    "content",
    [
        safetensors({"__metadata__": {"words": "[" * 100_000}, "w": TABLE}),
        safetensors({"__metadata__": {"words": '["a", "b"]'}, "w": {**TABLE, "shape": [2**40, 2**40]}}),
        safetensors(b'{"__metadata__":{"words":"[\\"a\\", \\"b\\"]"},"w":' + b"[" * 50_000),
        (1 << 62).to_bytes(8, "little") + b"{}",
        safetensors(TWICE),
    ],
    ids=size_of,
)
def test_a_safetensors_file_that_claims_too_much_is_refused(refused: Refused, content: bytes) -> None:
    refused(content, name="v.safetensors", format="safetensors")


def test_empty_lines_before_all_words_are_refused(refused: Refused) -> None:
    assert "empty" in refused(b"\n" * 200 + b"a 1\n").problem


def counted_calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows with every call of the parser."""
    calls: list[int] = []
    parse = text.parse_numbers

    def counted(fields: bytes) -> Vectors | None:
        calls.append(len(fields))
        return parse(fields)

    monkeypatch.setattr(text, "parse_numbers", counted)
    return calls


def test_the_bad_line_of_a_large_file_is_found_at_once(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted_calls(monkeypatch)
    lines = b"".join(b"w%d 1\n" % i for i in range(300_000))
    error = refused(lines + b"x zero\n" + b"".join(b"v%d 1\n" % i for i in range(9)))
    assert error.line == 300_001
    assert "'zero' is not a number" in error.problem
    assert len(calls) < 500


def test_the_bad_value_of_a_long_line_is_found_at_once(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted_calls(monkeypatch)
    assert "'bad' is not a number" in refused(b"w " + b"1 " * 500_000 + b"bad\n").problem
    assert len(calls) < 500


def test_detection_of_wide_files_is_quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "BLOCK_BYTES", 1 << 22)
    path = tmp_path / "v.txt"
    path.write_bytes(b"1 400000\nw " + b"1 " * 400_000 + b"\n")
    assert add(path, "wide").dimension == 400_000
