"""Subword vectors are those of fastText, to the hash."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.embeddings.readers.binary import read_fasttext_binary
from deniable.embeddings.subwords import LONGEST_SPELLING, Subwords, ngram_buckets
from deniable.errors import MalformedEmbedding

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    fasttext = pytest.importorskip("gensim.models.fasttext")

SENTENCES = [
    ["the", "quick", "brown", "fox"],
    ["jumps", "over", "the", "lazy", "dog"],
    ["naïve", "café", "東京", "fox", "dog"],
] * 20


def tiny_model(**options: Any) -> Any:
    return fasttext.FastText(
        SENTENCES, vector_size=8, min_count=1, epochs=2, workers=1, seed=1, bucket=2000, **options
    )


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny_model(min_n=3, max_n=6)


@pytest.fixture(scope="module")
def bin_file(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fasttext") / "tiny.bin"
    fasttext.save_facebook_model(model, str(path))
    return path


@given(
    word=st.text(max_size=20),
    minn=st.integers(1, 4),
    more=st.integers(0, 4),
    buckets=st.integers(1, 2_000_000),
)
def test_hashes_are_those_of_gensim(word: str, minn: int, more: int, buckets: int) -> None:
    ours = ngram_buckets(word, minn, minn + more, buckets)
    assert ours == fasttext.ft_ngram_hashes(word, minn, minn + more, buckets)


def test_a_lone_surrogate_is_hashed_rather_than_raising() -> None:
    assert len(ngram_buckets("a\ud800b", 3, 3, 100)) == 3


def test_vectors_of_unknown_words_are_those_of_gensim(model: Any, bin_file: Path) -> None:
    subwords = read_fasttext_binary(bin_file, source=bin_file).subwords
    assert subwords is not None
    unknown = ["foxes", "doggy", "cafés", "東京都", "quickly", "x"]
    assert not set(unknown) & set(model.wv.key_to_index)
    expected = np.array([model.wv.get_vector(word) for word in unknown])
    np.testing.assert_allclose(subwords.vectors(unknown), expected, rtol=1e-5, atol=1e-7)
    assert subwords.vectors(unknown).dtype == np.float32


def test_words_without_runs_and_endless_words_have_rows_of_zeros() -> None:
    subwords = Subwords(np.ones((10, 4), dtype=np.float32), minn=3, maxn=6)
    rows = subwords.vectors(["", "a", "a" * (LONGEST_SPELLING + 1), "a" * LONGEST_SPELLING])
    assert rows.any(axis=1).tolist() == [False, True, False, True]
    assert subwords.vectors([]).shape == (0, 4)


def test_saved_subwords_open_mapped_and_equal(tmp_path: Path) -> None:
    table = np.random.default_rng(1).normal(size=(50, 4)).astype(np.float32)
    Subwords(table, minn=2, maxn=5).save(tmp_path)
    opened = Subwords.open(tmp_path)
    assert (opened.minn, opened.maxn) == (2, 5)
    assert np.array_equal(opened.table, table)
    assert isinstance(opened.table.base, np.memmap)
    assert not opened.table.flags.writeable


def test_a_model_without_subwords_has_none(tmp_path: Path) -> None:
    path = tmp_path / "plain.bin"
    fasttext.save_facebook_model(tiny_model(min_n=1, max_n=0), str(path))
    assert read_fasttext_binary(path, source=path).subwords is None


@pytest.mark.parametrize("keep", [0, 3, 100, 1000])
def test_a_cut_off_model_is_refused(bin_file: Path, tmp_path: Path, keep: int) -> None:
    cut = tmp_path / "cut.bin"
    cut.write_bytes(bin_file.read_bytes()[:keep])
    with pytest.raises(MalformedEmbedding, match=r"cut\.bin"):
        read_fasttext_binary(cut, source=cut)


def test_damaged_stored_subwords_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MalformedEmbedding, match="cannot be read"):
        Subwords.open(tmp_path)
    Subwords(np.ones((10, 4), dtype=np.float32), minn=3, maxn=6).save(tmp_path)
    np.save(tmp_path / "subwords.npy", np.ones((9, 4), dtype=np.float32))
    with pytest.raises(MalformedEmbedding, match=r"9 rows.*10"):
        Subwords.open(tmp_path)


@pytest.mark.parametrize(
    ("table", "minn", "maxn"),
    [
        (np.ones(4, dtype=np.float32), 3, 6),
        (np.ones((0, 4), dtype=np.float32), 3, 6),
        (np.ones((4, 4), dtype=np.float64), 3, 6),
        (np.ones((4, 4), dtype=np.float32), 0, 6),
        (np.ones((4, 4), dtype=np.float32), 4, 3),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(table: Any, minn: int, maxn: int) -> None:
    with pytest.raises(MalformedEmbedding):
        Subwords(table, minn=minn, maxn=maxn)
