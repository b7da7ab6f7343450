"""The fingerprint of a stored embedding is computed anew before a key is used with it."""

from __future__ import annotations

import json
import os
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

from deniable import Keyed, Multivariate, Privatizer
from deniable.embeddings import store
from deniable.embeddings.content import files_state
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.subwords import Subwords
from deniable.errors import MalformedEmbedding
from tests.support.strategies import random_embedding

TOO_LARGE = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 4), }"


@pytest.fixture
def folder() -> Path:
    made = random_embedding(30, 4)
    made.subwords = Subwords(np.ones((5, 4), np.float32), minn=2, maxn=3)
    store.save(made, "stored")
    return store.store_folder() / "stored"


def change_last(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-4:] = struct.pack("<f", 0.25)
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["vectors.npy", "unknown.npy", "subwords.npy"])
def test_other_vectors_under_the_same_fingerprint_are_refused_with_a_key(folder: Path, name: str) -> None:
    change_last(folder / name)
    mechanism = Multivariate(Embedding.open("stored"), epsilon=5)
    with pytest.raises(MalformedEmbedding, match="remove it and add it again") as caught:
        Privatizer(mechanism, randomness=Keyed.new())
    assert str(folder) in str(caught.value)
    Privatizer(mechanism)("w1")  # fresh noise depends on no fingerprint


def test_another_word_and_the_fingerprint_of_another_embedding_are_refused(folder: Path) -> None:
    words, meta = (folder / "words.txt").read_text(), json.loads((folder / "meta.json").read_text())
    other = {**meta, "fingerprint": random_embedding(30, 4, seed=1).fingerprint}
    for text, said in ((words.replace("w7\n", "x7\n"), meta), (words, other)):
        (folder / "words.txt").write_text(text)
        (folder / "meta.json").write_text(json.dumps(said))
        with pytest.raises(MalformedEmbedding, match="fingerprint"):
            Privatizer(Multivariate(Embedding.open("stored"), epsilon=5), randomness=Keyed.new())


def test_what_is_whole_is_read_once_and_again_only_after_a_change(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[str] = []
    real = Embedding.compute_fingerprint

    def counted(embedding: Embedding) -> str:
        computed.append(real(embedding))
        return computed[-1]

    monkeypatch.setattr(Embedding, "compute_fingerprint", counted)
    for _ in range(3):
        Privatizer(Multivariate(Embedding.open("stored"), epsilon=5), randomness=Keyed.new())
    assert len(computed) == 1
    change_last(folder / "vectors.npy")
    with pytest.raises(MalformedEmbedding):
        Embedding.open("stored").check_content()
    assert len(computed) == 2


def test_a_change_that_keeps_size_and_time_is_noticed(folder: Path) -> None:
    Embedding.open("stored").check_content()
    about = (folder / "vectors.npy").stat()
    change_last(folder / "vectors.npy")
    os.utime(folder / "vectors.npy", ns=(about.st_atime_ns, about.st_mtime_ns))
    with pytest.raises(MalformedEmbedding):
        Embedding.open("stored").check_content()


def test_files_that_were_exchanged_after_opening_do_not_count_as_looked_at(
    folder: Path, tmp_path: Path
) -> None:
    good = tmp_path / "good.npy"
    shutil.copyfile(folder / "vectors.npy", good)
    change_last(folder / "vectors.npy")
    opened = Embedding.open("stored")  # holds the changed vectors
    good.rename(folder / "vectors.npy")
    Embedding.open("stored").check_content()
    with pytest.raises(MalformedEmbedding):
        opened.check_content()


def test_vectors_changed_under_an_open_embedding_are_noticed(folder: Path) -> None:
    opened = Embedding.open("stored")
    opened.check_content()
    with (folder / "vectors.npy").open("r+b") as file:
        file.seek(-4, 2)
        file.write(struct.pack("<f", 0.25))
    with pytest.raises(MalformedEmbedding):
        opened.check_content()


def test_what_is_in_memory_has_nothing_to_check() -> None:
    random_embedding(3, 2).check_content()
    Embedding.open().check_content()


def test_all_files_that_the_fingerprint_is_made_of_are_watched(folder: Path) -> None:
    names = {Path(entry[0]).name for entry in files_state(folder)}
    assert names == {"meta.json", "words.txt", "vectors.npy", "unknown.npy", "subwords.npy", "subwords.json"}


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "\x1b[31m"},
        {"fingerprint": "../../x"},
        {"words": -1},
        {"dimension": 0},
        {"shadowed": -5},
        {"words": 2**62, "dimension": 2**62},
    ],
)
def test_a_description_that_cannot_be_is_refused(folder: Path, change: dict[str, object]) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps({**meta, **change}))
    with pytest.raises(MalformedEmbedding):
        Embedding.open("stored")


@pytest.mark.parametrize("name", ["vectors.npy", "unknown.npy", "shadowed.npy", "subwords.npy"])
@pytest.mark.parametrize("header", [TOO_LARGE, b"PK\x03\x04", b""])
def test_an_array_that_claims_more_than_it_holds_is_refused(folder: Path, name: str, header: bytes) -> None:
    (folder / name).write_bytes(header.ljust(128))
    with pytest.raises(MalformedEmbedding, match=name.split(".")[0].rstrip("s")):
        Embedding.open("stored")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 3e38])
def test_vectors_that_are_no_numbers_are_refused_when_they_are_first_used(folder: Path, value: float) -> None:
    content = bytearray((folder / "vectors.npy").read_bytes())
    content[-4:] = struct.pack("<f", value)
    (folder / "vectors.npy").write_bytes(content)
    opened = Embedding.open("stored")
    assert opened.dimension == 4
    with pytest.raises(MalformedEmbedding, match="word 30: the vector of 'w29'"):
        _ = opened.vectors


@pytest.mark.parametrize(
    "name",
    ["meta.json", "words.txt", "vectors.npy", "unknown.npy", "shadowed.npy", "subwords.npy", "subwords.json"],
)
def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(MalformedEmbedding, match="regular file"):
        Embedding.open("stored")


def test_a_pipe_in_place_of_the_index_keeps_nobody_waiting(folder: Path) -> None:
    scan = pytest.importorskip("deniable.neighbours.scan")
    os.mkfifo(folder / "scan-index.bin")
    assert scan.ScanNeighbours(Embedding.open("stored")).nearest(np.zeros((1, 4), np.float32)).shape == (1,)
