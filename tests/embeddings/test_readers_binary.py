from __future__ import annotations

import lzma
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from deniable.embeddings import store
from deniable.embeddings.derived import restrict
from deniable.embeddings.embedding import Embedding
from deniable.errors import MissingExtra
from tests.embeddings.conftest import Added, Refused

WORDS = ["in", "for", "no\u00a0break", "New_York", "😀"]
VECTORS = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)


def binary(
    words: list[str] | list[bytes], vectors: np.ndarray, *, count: int | None = None, after: bytes = b""
) -> bytes:
    raw = [word.encode() if isinstance(word, str) else word for word in words]
    body = b"".join(word + b" " + row.tobytes() + after for word, row in zip(raw, vectors, strict=True))
    return f"{len(words) if count is None else count} {vectors.shape[1]}\n".encode() + body


@pytest.mark.parametrize("after", [b"", b"\n"])
def test_word2vec_binary_comes_back(added: Added, after: bytes) -> None:
    embedding = added(lzma.compress(binary(WORDS, VECTORS, after=after)))
    assert store.info("added").source_format == "word2vec-binary"
    assert list(embedding.words) == WORDS
    np.testing.assert_array_equal(embedding.vectors, VECTORS)


def test_every_cut_of_a_word2vec_binary_is_refused(refused: Refused) -> None:
    content = binary(WORDS, VECTORS)
    for length in range(len(content) - 30, len(content)):
        assert "cut off" in refused(content[:length], format="word2vec-binary").problem
    assert "cut off" in refused(content[:60]).problem


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (binary(WORDS, VECTORS, count=10**15), "cut off"),  # and nothing is allocated
        (binary(WORDS, VECTORS, count=3), "bytes follow"),
        (binary([b"ok", b"\xff\xfe"], VECTORS[:2]), "not UTF-8"),
        (b"a 1 2\n", "does not begin"),
        (b"0 5\n\x00", "nothing to read"),
    ],
)
def test_what_is_wrong_is_said(refused: Refused, content: bytes, problem: str) -> None:
    assert problem in refused(content, format="word2vec-binary").problem


def test_repeated_words_are_refused_or_counted(refused: Refused, added: Added) -> None:
    content = binary(["a", "b", "a"], VECTORS[:3])
    assert "word 3: the word 'a' stands on word 1 already" in refused(content).problem
    embedding, facts = added(content, duplicates="first"), store.info("added")
    assert (facts.words, facts.repeated) == (2, 1)
    np.testing.assert_array_equal(embedding.vectors, VECTORS[:2])


def test_first_counts_words_not_the_unknown_token(added: Added) -> None:
    embedding = added(binary(["<unk>", "a", "b", "c"], VECTORS[:4]), first=2)
    assert list(embedding.words) == ["a", "b"]
    np.testing.assert_array_equal(embedding.unknown, VECTORS[0])


def test_a_binary_that_is_only_called_packed_is_read(added: Added) -> None:
    assert len(added(binary(WORDS, VECTORS), name="v.bin.gz")) == 5


def test_without_gensim_the_pip_command_is_given_for_fasttext_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("gensim", "gensim.models", "gensim.models.fasttext"):
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "v.bin"
    path.write_bytes(struct.pack("<ii", 793712314, 12))
    with pytest.raises(MissingExtra, match="pip install"):
        store.add(path, "x")
    path.write_bytes(binary(WORDS, VECTORS))
    assert store.add(path, "x").words == len(WORDS)


@pytest.fixture(scope="module")
def fasttext_model(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[str], np.ndarray]:
    from gensim.models.fasttext import FastText, save_facebook_model

    model = FastText(vector_size=6, min_count=1, bucket=50, seed=1, workers=1, epochs=1)
    sentences = [["hello", "world", "naïve"], ["hello", "again"]] * 5
    model.build_vocab(sentences)
    model.train(sentences, total_examples=len(sentences), epochs=1)
    path = tmp_path_factory.mktemp("fasttext") / "m.bin"
    save_facebook_model(model, str(path))
    return path.read_bytes(), model.wv.index_to_key, model.wv.vectors


def test_fasttext_binary_comes_back_and_its_subwords_survive_restricting_and_saving(
    added: Added, fasttext_model: tuple[bytes, list[str], np.ndarray]
) -> None:
    content, words, vectors = fasttext_model
    whole, facts = added(content), store.info("added")
    assert (facts.source_format, facts.subwords, list(whole.words)) == ("fasttext-binary", True, words)
    np.testing.assert_allclose(whole.vectors, vectors, rtol=1e-5)
    store.save(restrict(whole, first=2), "part")
    part = Embedding.open("part")
    assert whole.subwords is not None
    assert part.subwords is not None
    assert part.subwords.vectors(["unheard"]).any()
    np.testing.assert_array_equal(part.subwords.vectors(["unheard"]), whole.subwords.vectors(["unheard"]))
