"""Training gives an embedding of the public text, most frequent words first, and says what it was trained
on."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from deniable.cli.embeddings.installed import train
from deniable.embeddings import store
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.training import LONGEST_DOCUMENT, Corpus, Training, train_embedding
from deniable.errors import EmbeddingExists, InvalidParameter, MalformedEmbedding, MissingExtra, RecordError

pytest.importorskip("gensim")

TEXT = (
    "The quick brown fox jumps over the lazy dog\nA doctor and a nurse work in the hospital\nthe fox likes "
    "the dog\n" * 30
)
SMALL = Training(dimension=8, min_count=5, epochs=2)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "public.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def command() -> typer.Typer:
    app = typer.Typer()
    app.command()(train)
    return app


def test_words_are_lower_case_and_most_frequent_first(corpus: Path) -> None:
    embedding = train_embedding(corpus, SMALL)
    assert embedding.words[0] == "the"
    assert {"fox", "doctor", "hospital"} <= set(embedding.words)
    assert embedding.dimension == 8
    assert embedding.subwords is None


def test_one_worker_repeats_itself(corpus: Path) -> None:
    assert train_embedding(corpus, SMALL).fingerprint == train_embedding(corpus, SMALL).fingerprint


def test_training_moves_the_vectors(corpus: Path) -> None:
    longer = Training(dimension=8, epochs=4)
    assert not np.array_equal(train_embedding(corpus, SMALL).vectors, train_embedding(corpus, longer).vectors)


def test_first_keeps_the_most_frequent_words(corpus: Path) -> None:
    assert set(train_embedding(corpus, Training(dimension=4, epochs=1, first=3)).words) == {"the", "a", "dog"}


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_packed_text_trains_alike(corpus: Path, ending: str, pack: Callable[[bytes], bytes]) -> None:
    packed = corpus.with_suffix(f".txt.{ending}")
    packed.write_bytes(pack(corpus.read_bytes()))
    assert train_embedding(packed, SMALL).fingerprint == train_embedding(corpus, SMALL).fingerprint


def test_subwords_come_with_the_embedding_and_survive_the_store(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.embeddings.training.BUCKETS", 500)
    embedding = train_embedding(corpus, Training(dimension=8, epochs=1, subwords=True), name="parts")
    assert embedding.subwords is not None
    store.save(embedding, "parts")
    opened = Embedding.open("parts")
    assert opened.subwords is not None
    assert np.array_equal(opened.subwords.vectors(["foxes"]), embedding.subwords.vectors(["foxes"]))
    assert opened.subwords.vectors(["foxes"]).any()


def test_progress_rises_to_the_total_over_all_passes(corpus: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    train_embedding(corpus, SMALL, report=lambda done, total: seen.append((done, total)))
    done = [d for d, _ in seen]
    assert done == sorted(done)
    assert seen[-1] == (3 * corpus.stat().st_size, 3 * corpus.stat().st_size)


def test_a_text_without_frequent_words_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rare.txt"
    path.write_text("each word once\n")
    with pytest.raises(MalformedEmbedding, match="occurs 5 times"):
        train_embedding(path, SMALL)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="no such file"):
        train_embedding(tmp_path / "absent.txt", SMALL)


@pytest.mark.parametrize("setting", ["dimension", "window", "min_count", "epochs", "workers", "first"])
def test_settings_must_be_positive_whole_numbers(setting: str) -> None:
    with pytest.raises(InvalidParameter, match=setting):
        Training(**{setting: 0})  # type: ignore[arg-type]


def test_without_gensim_the_message_gives_the_pip_command(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtra, match=r"\[train\]"):
        train_embedding(corpus, SMALL)


def test_documents_are_cut_where_gensim_would_stop_reading(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("word " * (LONGEST_DOCUMENT + 3))
    assert [len(piece) for piece in Corpus(path)] == [LONGEST_DOCUMENT, 3]


def test_a_line_without_end_loses_no_words(tmp_path: Path) -> None:
    path = tmp_path / "endless.txt"
    path.write_text("some words " * 300_000)
    assert sum(map(len, Corpus(path))) == 600_000


def test_an_error_ends_a_pass_and_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "public.txt"
    path.write_bytes(b"one\n\xff\n")
    documents = Corpus(path)
    assert [list(documents), list(documents)] == [[["one"]], []]
    with pytest.raises(RecordError):
        documents.check()


@pytest.mark.parametrize("content", [gzip.compress(TEXT.encode())[:-20], TEXT.encode("utf-16")])
def test_a_file_that_cannot_be_read_is_refused_rather_than_hanging(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cut.txt.gz"
    path.write_bytes(content)
    with pytest.raises(RecordError):
        train_embedding(path, SMALL)


def test_the_command_warns_trains_stores_and_notes_the_text(corpus: Path, command: typer.Typer) -> None:
    result = CliRunner().invoke(
        command, [str(corpus), "--name", "mine", "--dimension", "8", "--epochs", "1", "--workers", "1"]
    )
    assert result.exit_code == 0, result.output
    assert "must be public" in result.stderr
    assert "8 dimensions" in result.stdout
    source = store.info("mine").source
    assert source is not None
    assert source.startswith("trained on public.txt (sha256 ")
    assert Embedding.open("mine").words[0] == "the"


def test_a_taken_name_is_refused_before_training(corpus: Path, command: typer.Typer) -> None:
    store.save(train_embedding(corpus, SMALL), "taken")
    result = CliRunner().invoke(command, [str(corpus.parent / "absent.txt"), "--name", "taken"])
    assert isinstance(result.exception, EmbeddingExists)
