from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniable.embeddings.content import UNKNOWN_TOKENS
from deniable.embeddings.readers import open_embedding_file, text
from deniable.embeddings.readers.text import is_number
from deniable.embeddings.store import add, info
from deniable.errors import InvalidParameter
from tests.embeddings.conftest import Added, Refused

ODD_WORDS = [
    "a\u0085b",
    "\u2028",
    "no\u00a0break",
    "\u00a0",
    "😀",
    ". . .",
    "at name@domain.com",
    "\u3000",
    "\x1c",
    "\x0b",
    "0.5",
    "nan",
    "\ufeff",
]


def write(
    path: Path,
    words: list[str],
    vectors: np.ndarray,
    *,
    header: bool = False,
    end: str = "\n",
    after: str = "",
) -> Path:
    body = [
        f"{word} {' '.join(repr(float(v)) for v in row)}{after}"
        for word, row in zip(words, vectors, strict=True)
    ]
    head = [f"{len(words)} {vectors.shape[1]}{after}"] if header else []
    path.write_bytes((end.join(head + body) + end).encode("utf-8"))
    return path


def read_all(path: Path, **options: object) -> tuple[list[str], np.ndarray, str]:
    with open_embedding_file(path, **options) as raw:  # type: ignore[arg-type]
        blocks = list(raw.blocks)
        return (
            [word for block in blocks for word in block[0]],
            np.concatenate([block[1] for block in blocks]),
            raw.format,
        )


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("after", ["", " "])
def test_words_with_any_white_space_but_line_breaks_survive(
    tmp_path: Path, header: bool, end: str, after: str
) -> None:
    vectors = np.random.default_rng(0).normal(size=(len(ODD_WORDS), 4)).astype(np.float32)
    path = write(tmp_path / "v.txt", ODD_WORDS, vectors, header=header, end=end, after=after)
    words, read, format_name = read_all(path)
    assert words == ODD_WORDS
    np.testing.assert_array_equal(read, vectors)
    assert format_name == ("word2vec-text" if header else "glove")


def _is_storable(word: str) -> bool:
    return (
        bool(word.strip(" "))
        and not is_number(word.rpartition(" ")[2].encode())
        and word not in UNKNOWN_TOKENS
        and word[0] != "\ufeff"
    )


WORDS = st.lists(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\x00")
        | st.sampled_from("\u0085\u2028\u00a0 😀"),
        min_size=1,
    ).filter(_is_storable),
    min_size=2,
    max_size=20,
    unique=True,
)
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(words=WORDS, data=st.data(), header=st.booleans(), block_bytes=st.integers(1, 300))
def test_any_words_and_values_come_back_exactly(
    tmp_path: Path, words: list[str], data: st.DataObject, header: bool, block_bytes: int
) -> None:
    dimension = data.draw(st.integers(2, 5))
    values = data.draw(st.lists(FLOATS, min_size=len(words) * dimension, max_size=len(words) * dimension))
    vectors = np.array(values, dtype=np.float32).reshape(len(words), dimension)
    path = write(tmp_path / "v.txt", words, vectors, header=header)
    options = {"format": "word2vec-text" if header else "glove"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK_BYTES", block_bytes)
        if not header:
            # Words full of spaces may outvote the others on the dimension; one plain word in front of each
            # settles it.
            words = [f"w{i}" for i in range(len(words))] + words
            vectors = np.concatenate([vectors, vectors])
            patch.setattr(text, "BLOCK_BYTES", 1 << 20)
            write(path, words, vectors)
        read_words, read, _ = read_all(path, **options)
    assert read_words == words
    np.testing.assert_array_equal(read, vectors)


@pytest.mark.parametrize("block_bytes", range(1, 40))
def test_no_line_is_lost_wherever_a_block_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(b"6 1\n" + b"".join(b"w%d 0.%d\n" % (i, i) for i in range(6)))
    monkeypatch.setattr(text, "BLOCK_BYTES", block_bytes)
    words, vectors, _ = read_all(path)
    assert words == [f"w{i}" for i in range(6)]
    np.testing.assert_array_equal(vectors[:, 0], np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5], dtype=np.float32))


def test_numbers_are_rounded_to_the_nearest_float32(tmp_path: Path) -> None:
    texts = ["0.1", "-1e-42", "1E5", "+2", "1.", ".5", "3.4028235e38", "1e-60", "0.30000001192092896", "-0"]
    path = tmp_path / "v.txt"
    path.write_text("w " + " ".join(texts) + "\n")
    _, vectors, _ = read_all(path)
    np.testing.assert_array_equal(vectors[0], np.array([float(text) for text in texts], dtype=np.float32))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        *((b"a 1 2\nb 3 4" + tail, "ab") for tail in (b"", b"\n", b"\n\n\n", b"\r\n\r\n")),
        (b"\xef\xbb\xbf2 2\na 1 2\nb 3 4\n", "ab"),  # a byte order mark
        (b"7 3\n8 4\n", "78"),  # one-dimensional GloVe: no header
    ],
)
def test_ends_marks_and_headers_are_told_from_words(added: Added, content: bytes, words: str) -> None:
    assert list(added(content).words) == list(words)


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b"a 1 2 3\nb 1 2\nc 1 2 3\n", 2, "2 values where 3"),
        (b"a 1 2 3\nb 1 2 3 4\nc 1 2 3\n", 2, "4 values where 3"),
        (b"a 1 2 3\nb 1 x 3\nc 1 2 3\n", 2, "'x' is not a number"),
        (b"a 1 2 3\nb 1 " + b"x" * 99 + b" 3\nc 1 2 3\n", 2, "'" + "x" * 50 + "' is not a number"),
        (b"a 1 2 3\nb 1 0x10 3\nc 1 2 3\n", 2, "'0x10' is not a number"),
        (b"a 1 2 3\nb 1 1_0 3\nc 1 2 3\n", 2, "'1_0' is not a number"),
        (b"a 1 2 3\nb 1.5-2  3\nc 1 2 3\n", 2, "'1.5-2' is not a number"),
        (b"a 1 2 3\nb 1  3\nc 1 2 3\n", 2, "a value is missing"),
        (b"a 1 2 3\nb 1\t2 2 3\nc 1 2 3\n", 2, "is not a number"),
        (b"a 1 2 3\nb 1 nan 3\nc 1 2 3\n", 2, "'nan' is not a finite"),
        (b"a 1 2 3\nb 1 -inf 3\nc 1 2 3\n", 2, "'-inf' is not a finite"),
        (b"a 1 2 3\nb 1 1e39 3\nc 1 2 3\n", 2, "'1e39' is not a finite"),
        (b"a 1 2 3\n 1 2 3\nc 1 2 3\n", 2, "the word is empty"),
        (b"a 1 2 3\n\nc 1 2 3\n", 2, "the line is empty"),
        (b"a 1 2 3\nb 1 2 3\na 4 5 6\n", 3, "'a' stands on line 1 already; leave one of them out"),
        (b"a 1 2 3\nb 1 2 3\nc 1 2", 3, "cut off"),
        (b"a 1 2 3\nb\xff 1 2 3\nc 1 2 3\n", 2, "'b\\\\xff' is not UTF-8"),
        (b"a 1 2 3\nb\rb 1 2 3\nc 1 2 3\n", 2, "line break"),
        (b"3 2\na 1 2\nb 3 4\n", None, "the header says 3 words, but the file has 2"),
        (b"1 2\na 1 2\nb 3 4\n", 3, "the header says 1 words, but more follow"),
        (b"2 3\na 1 2\nb 3 4\n", 2, "2 values where 3"),
        (b"2 2\na 1 2\na 3 4\n", 3, "'a' stands on line 2 already"),
        (b"0 2\na 1 2\n", 1, "nothing to read"),
        (b"2 2\n", None, "the header says 2 words, but the file has 0"),
        (b"", None, "the file is empty"),
        (b"\n\n", None, "the file is empty"),
        (b"hello\nworld\n", 1, "not a word followed by numbers"),
        (b"<unk> 1 2\n", None, "only word is the unknown word"),
        (b"\x00\x01\x02 junk \xff\n", None, "no known format"),
        (b"\xff\xfea\x00 \x001\x00\n\x00", None, "no known format"),
        (b"\x80\x04\x95pickle", None, "pickle"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    refused: Refused, content: bytes, line: int | None, said: str
) -> None:
    error = refused(content)
    assert said in error.problem
    assert error.line == line


def test_junk_in_the_middle_of_a_text_is_found(refused: Refused) -> None:
    good = b"".join(b"w%d 1 2 3\n" % i for i in range(500_000))
    error = refused(good + b"\x00\x01\x02\n" + b"z 1 2 3\n")
    assert error.line == 500_001
    assert "binary data" in error.problem


def test_empty_lines_in_the_middle_are_refused_across_blocks(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "BLOCK_BYTES", 9)
    assert refused(b"a 1 2\nb 1 2\n\n\n\n\n\n\n\n\n\n\n\n\nc 1 2\n").line == 3


def test_a_file_without_line_breaks_is_no_text(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "LONGEST_LINE", 1000)
    monkeypatch.setattr(text, "BLOCK_BYTES", 400)
    assert "no line break" in refused(b"a" * 5000).problem


def test_a_forced_header_must_be_there(refused: Refused) -> None:
    assert "is not a header" in refused(b"a 1 2\nb 3 4\n", format="word2vec-text").problem


def test_duplicates_first_keeps_the_first_and_counts_the_others(added: Added) -> None:
    embedding = added(b"4 2\na 1 2\nb 3 4\na 5 6\na 7 8\n", duplicates="first")
    assert info("added").repeated == 2
    assert list(embedding.words) == ["a", "b"]
    np.testing.assert_array_equal(embedding.vectors, [[1, 2], [3, 4]])


@pytest.mark.parametrize("first", [2, 3])
def test_first_reads_no_further(added: Added, first: int) -> None:
    embedding = added(b"9 2\na 1 2\nb 3 4\n<unk> 0 0\nc 5 6\n", first=first)
    assert list(embedding.words) == list("abc")[:first]


def test_unknown_format_and_missing_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(b"a 1 2\n")
    cases: list[tuple[Path, dict[str, Any]]] = [
        (path, {"format": "glovee"}),
        (tmp_path / "none", {}),
        (tmp_path, {}),
        (path, {"duplicates": "last"}),
        (path, {"first": 0}),
    ]
    for file, options in cases:
        with pytest.raises(InvalidParameter):
            add(file, "x", **options)
