from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniable.embeddings import store, stored
from deniable.embeddings.content import UNPRINTABLE, content_fingerprint
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.places import BUILT_IN
from deniable.errors import EmbeddingExists, EmbeddingNotFound, InvalidParameter, MalformedEmbedding

REAL = Path(__file__).parents[3] / "shared" / "data" / "embeddings"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "v.txt"
    path.write_bytes("the 1 2\nThé 3 4\n<unk> 9 9\nsame 1 2\n".encode())
    return path


def entries() -> list[str]:
    return sorted(entry.name for entry in store.store_folder().iterdir() if entry.name != ".lock")


def test_add_notes_everything_that_opening_must_not_compute(file: Path) -> None:
    info = store.add(file, "small", licence="CC0")
    assert (info.name, info.words, info.dimension, info.cased) == ("small", 3, 2, True)
    assert (info.shadowed, info.unknown) == (1, "own")
    assert (info.source, info.source_format, info.licence, info.repeated) == ("v.txt", "glove", "CC0", 0)
    assert info.source_sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    embedding = Embedding.open("small")
    assert list(embedding.words) == ["the", "Thé", "same"]
    assert embedding.unknown.tolist() == [9, 9]
    assert embedding.shadowed.tolist() == [2]
    assert embedding.cased
    in_memory = Embedding(embedding.words, embedding.vectors, unknown=[9, 9])
    assert embedding.fingerprint == info.fingerprint == in_memory.fingerprint
    assert {"fingerprint", "cased", "shadowed"} <= set(vars(embedding))
    assert entries() == ["small"]
    assert sorted(path.name for path in Path(str(info.folder)).iterdir()) == sorted(
        ["meta.json", "words.txt", "vectors.npy", "unknown.npy", "shadowed.npy"]
    )


def test_opening_maps_the_vectors_and_copies_nothing() -> None:
    vectors = np.ones((20_000, 100), dtype=np.float32)
    store.save(Embedding([f"w{i}" for i in range(20_000)], vectors), "large")
    tracemalloc.start()
    embedding = Embedding.open("large")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(embedding.vectors.base, np.memmap)
    assert not embedding.vectors.flags.writeable
    assert not embedding.unknown.flags.writeable
    assert peak < vectors.nbytes / 2
    assert (embedding.vectors.dtype, embedding.vectors.shape) == (np.dtype(np.float32), (20_000, 100))


ODD = st.sampled_from("\u200b\u200d\u00ad\u00a0\u3000😀")
WORD = st.text(st.characters(exclude_categories=["Cs"]) | ODD, min_size=1).filter(
    lambda word: not UNPRINTABLE.search(word)
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(words=st.lists(WORD, min_size=1, max_size=20, unique=True))
def test_any_words_survive_saving(words: list[str]) -> None:
    words = list(dict.fromkeys([*words, "plain"]))  # never only a word that stands for the unknown word
    embedding = Embedding(words, np.arange(2.0 * len(words)).reshape(-1, 2))
    try:
        store.save(embedding, "words")
        again = Embedding.open("words")
        assert list(again.words) == list(embedding.words)
        assert again.fingerprint == embedding.fingerprint == store.verify("words")
        np.testing.assert_array_equal(again.unknown, embedding.unknown)
        np.testing.assert_array_equal(again.vectors, embedding.vectors)
    finally:
        store.remove("words")


@pytest.mark.parametrize(
    "name", ["", "a b", "a\n", "x" * 101, "nul\x00", *r". .. .hidden a/b ../x a\b ä default Default".split()]
)
def test_names_that_could_leave_the_store_are_refused(file: Path, name: str) -> None:
    with pytest.raises(InvalidParameter):
        store.add(file, name)
    with pytest.raises(InvalidParameter):
        store.save(Embedding(["a"], [[1.0]]), name)
    with pytest.raises(InvalidParameter):
        store.remove(name)
    assert not store.store_folder().exists()


def test_a_taken_name_is_refused_and_the_first_stays(file: Path, tmp_path: Path) -> None:
    first = store.add(file, "name")
    other = tmp_path / "other.txt"
    other.write_bytes(b"x 1\n")
    with pytest.raises(EmbeddingExists):
        store.add(other, "name")
    assert store.info("name") == first
    assert entries() == ["name"]


def test_of_two_adds_at_once_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(b"".join(b"w%d 1 %d\n" % (i, i) for i in range(2000)))
    barrier, results = threading.Barrier(4), []

    def race() -> None:
        def wait_once(done: int, total: int | None) -> None:
            if done == 0 or not waited:
                waited.append(True)
                barrier.wait(600)

        waited: list[bool] = []
        try:
            results.append(store.add(path, "race", report=wait_once).name)
        except EmbeddingExists:
            results.append("exists")

    threads = [threading.Thread(target=race) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["exists", "exists", "exists", "race"]
    assert entries() == ["race"]
    store.verify("race")


def test_a_killed_add_leaves_nothing_usable_and_is_swept_by_the_next(file: Path) -> None:
    script = f"""
import os, signal
from deniable.embeddings import store
store.add({str(file)!r}, "killed", report=lambda done, total: os.kill(os.getpid(), signal.SIGKILL))
"""
    ended = subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        env={**os.environ, "PYTHONPATH": "src"},
        cwd=Path(__file__).parents[2],
    )
    assert ended.returncode == -signal.SIGKILL
    assert [name.startswith(".adding-") for name in entries()] == [True]
    assert store.installed() == []
    store.add(file, "next")
    assert entries() == ["next"]


def _add_slowly(file: Path, started: object, go_on: object) -> None:
    def wait(done: int, total: int | None) -> None:
        started.set()  # type: ignore[attr-defined]
        go_on.wait(600)  # type: ignore[attr-defined]

    store.add(file, "slow", report=wait)


def test_the_folder_of_a_living_process_is_not_swept(file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    started, go_on = context.Event(), context.Event()
    process = context.Process(target=_add_slowly, args=(file, started, go_on))
    process.start()
    assert started.wait(600)
    store.add(file, "quick")
    go_on.set()
    process.join(600)
    assert process.exitcode == 0
    assert entries() == ["quick", "slow"]


def test_an_interrupt_leaves_nothing(file: Path) -> None:
    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add(file, "x", report=interrupt)
    assert entries() == []


def test_remove_and_list(file: Path) -> None:
    store.add(file, "b")
    store.add(file, "a")
    assert [info.name for info in store.installed()] == ["a", "b"]
    store.remove("a")
    assert [info.name for info in store.installed()] == ["b"]
    assert entries() == ["b"]
    with pytest.raises(EmbeddingNotFound, match=f"installed: {', '.join(BUILT_IN)}, b"):
        store.remove("a")


def test_what_is_not_there_is_not_found(file: Path, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingNotFound, match="'glove'; installed: default"):
        Embedding.open("glove")
    with pytest.raises(EmbeddingNotFound):
        Embedding.open(tmp_path / "nowhere")
    with pytest.raises(InvalidParameter, match="add it to the store first"):
        Embedding.open(file)
    with pytest.raises(MalformedEmbedding, match=r"no meta\.json"):
        Embedding.open(tmp_path)


def test_a_folder_opens_by_its_path_and_through_embedding_open(file: Path) -> None:
    info = store.add(file, "byname")
    for place in (str(info.folder), Path(str(info.folder)), "byname"):
        assert Embedding.open(place).fingerprint == info.fingerprint
    assert Embedding.open("byname").folder == Path(str(info.folder))


@pytest.mark.parametrize(
    ("damaged", "content"),
    [
        ("meta.json", None),
        ("meta.json", b"{"),
        ("meta.json", b'{"format_version": 1}'),
        ("meta.json", b"\xff"),
        ("words.txt", None),
        ("words.txt", b"a\n"),
        ("words.txt", b"a\nb\nc"),
        ("words.txt", b"\xff\nb\nc\n"),
        ("vectors.npy", None),
        ("vectors.npy", b""),
        ("vectors.npy", b"\x93NUMPY junk"),
        ("unknown.npy", b"junk"),
        ("shadowed.npy", None),
    ],
)
def test_damage_is_said_on_opening_and_can_be_removed(
    file: Path, damaged: str, content: bytes | None
) -> None:
    path = Path(str(store.add(file, "damaged").folder)) / damaged
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(MalformedEmbedding, match="add it again"):
        Embedding.open("damaged")
    assert [info.name for info in store.installed()] == ["damaged"]
    store.remove("damaged")
    assert entries() == []


def test_arrays_that_do_not_fit_the_description_are_refused(file: Path) -> None:
    folder = Path(str(store.add(file, "x").folder))
    original = (folder / "vectors.npy").read_bytes()
    for wrong in (
        np.zeros((3, 3), "<f4"),
        np.zeros((3, 2), "<f8"),
        np.zeros((2, 2), "<f4"),
        np.array([[object(), 1]] * 3),
    ):
        np.save(folder / "vectors.npy", wrong, allow_pickle=True)
        with pytest.raises(MalformedEmbedding):
            Embedding.open("x")
    (folder / "vectors.npy").write_bytes(original[:-4])
    with pytest.raises(MalformedEmbedding):
        Embedding.open("x")


def test_a_later_format_says_to_upgrade(file: Path) -> None:
    path = Path(str(store.add(file, "x").folder)) / "meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format_version": stored.FORMAT_VERSION + 1}))
    with pytest.raises(MalformedEmbedding, match="upgrade deniable"):
        Embedding.open("x")


@pytest.mark.parametrize("ids", [[-1], [3], [2, 1], [1, 1]])
def test_shadowed_words_that_cannot_be_are_refused_on_opening(file: Path, ids: list[int]) -> None:
    folder = Path(str(store.add(file, "x").folder))
    np.save(folder / "shadowed.npy", np.array(ids, dtype="<i8"))
    _change_meta(folder, shadowed=len(ids))
    with pytest.raises(
        MalformedEmbedding, match="must hold ids of its 3 words in order: the stored copy is damaged"
    ):
        Embedding.open("x")


def test_verify_finds_a_changed_value_and_changed_notes_about_the_content(file: Path) -> None:
    info = store.add(file, "x")
    folder, vectors = Path(str(info.folder)), (Path(str(info.folder)) / "vectors.npy").read_bytes()
    assert store.verify("x") == info.fingerprint
    (folder / "vectors.npy").write_bytes(vectors[:-1] + b"\x41")
    with pytest.raises(MalformedEmbedding, match="was changed"):
        store.verify("x")
    (folder / "vectors.npy").write_bytes(vectors)
    np.save(folder / "shadowed.npy", np.array([1], dtype="<i8"))
    with pytest.raises(MalformedEmbedding, match="shadowed words, case"):
        store.verify("x")
    np.save(folder / "shadowed.npy", np.array([2], dtype="<i8"))
    store.verify("x")
    _change_meta(folder, cased=False)
    with pytest.raises(MalformedEmbedding, match="shadowed words, case"):
        store.verify("x")


def _change_meta(folder: Path, **changed: object) -> None:
    path = folder / "meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def test_opening_loads_neither_arrow_nor_gensim(file: Path) -> None:
    store.add(file, "x")
    script = """
import sys
from deniable import Embedding
Embedding.open('x')
print([name for name in ('pyarrow', 'gensim') if name in sys.modules])
"""
    ran = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": "src"},
        cwd=Path(__file__).parents[2],
    )
    assert ran.stdout.strip() == "[]"


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the real embeddings are not on this machine")
@pytest.mark.parametrize(
    ("file_name", "words", "dimension", "format_name"),
    [
        ("fasttext.cc.en.300.top2000.npz", 1999, 300, "npz"),  # without </s>, which is no word
        ("glove.6B.50d.txt.bz2", 400_000, 50, "glove"),
        ("glove.840B.300d.34k.w2v.txt.bz2", 33_860, 300, "word2vec-text"),
        ("word2vec.GoogleNews.300d.unit.bolukbasi26k.bin.xz", 26_423, 300, "word2vec-binary"),
    ],
)
def test_the_real_files_are_read(file_name: str, words: int, dimension: int, format_name: str) -> None:
    added = store.add(REAL / file_name, "real")
    assert (added.words, added.dimension, added.source_format) == (words, dimension, format_name)
    embedding = Embedding.open("real")
    assert content_fingerprint(embedding.words, embedding.vectors, embedding.unknown) == added.fingerprint


def test_facts_leave_out_what_their_kind_of_embedding_does_not_have(file: Path) -> None:
    added = store.add(file, "small")
    (Path(str(store.add(file, "broken").folder)) / "meta.json").write_text("{")
    default, *spaces, broken, small = store.describe_all()
    assert [each.name for each in spaces] == list(BUILT_IN[1:])
    assert (default.name, broken.name, small) == ("default", "broken", added)
    lacking = set("unknown created repeated source_format subwords protected".split())
    assert set(default.to_dict()) == set(added.to_dict()) - lacking
    assert (default.to_dict()["size"], default.to_dict()["folder"]) == (None, None)
    assert list(broken.to_dict()) == ["name", "problem", "size", "folder"]
    assert added.to_dict()["licence"] is None
    assert store.describe("small", verified=True).to_dict() == added.to_dict() | {"verified": True}
    assert store.describe() == default
