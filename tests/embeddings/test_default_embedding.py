"""The embedded default is what its provenance says it is, and can be made again to the byte."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from deniable.embeddings.content import content_fingerprint, shadowed_rows
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.places import provenance_of
from deniable.words.cutter import Tokeniser
from deniable.words.languages import normalise

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "src" / "deniable" / "embeddings" / "data"
GLOVE = ROOT.parent / "shared" / "data" / "embeddings" / "glove.6B.50d.txt.bz2"
PACKAGE = ROOT / "build" / "cuss-2.2.0.tgz"

# The first 12 digits of the sha256 of words that must never be an output; digests, so that nobody has to read
# them here.
NEVER = {
    "120f6e5b4ea3", "6ac3c336e409", "85fc17f7069a", "9ae315a94e42", "d75a838dc758", "796e43a5a8cd", "e7b98c6aa5b9",  # noqa: E501
    "8f5083e3e5c7", "c3de533e9b7f", "566f532d486c", "c2c3b68b4883", "0be9b885f4a3", "ad6cacf3af98", "e512a0558344",  # noqa: E501
    "f59e28f8bb64", "13a465fc6616", "0f28c4960d96", "f50c51ed2315", "158869a97379", "31506a8448a7",
}  # fmt: skip


@pytest.fixture(scope="module")
def default() -> Embedding:
    return Embedding.open()


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return import_module("scripts.embedding.make")


def test_holds_50_000_words_of_50_finite_float32_numbers(default: Embedding) -> None:
    assert len(default) == len(set(default.words)) == len(default.index) == 50_000
    assert default.vectors.shape == (50_000, 50)
    assert default.vectors.dtype == default.unknown.dtype == np.float32
    assert np.isfinite(default.vectors).all()


def test_what_the_provenance_presets_is_what_the_content_gives(default: Embedding) -> None:
    assert default.fingerprint == content_fingerprint(default.words, default.vectors, default.unknown)
    assert default.cased is False
    assert not any(word != word.lower() for word in default.words)
    assert default.shadowed.dtype == np.int64
    assert default.shadowed.tolist() == shadowed_rows(default.vectors).tolist()


def test_the_unknown_word_is_the_mean_of_all_vectors(default: Embedding) -> None:
    mean = [math.fsum(column) / 50_000 for column in default.vectors.astype(np.float64).T.tolist()]
    assert default.unknown.tolist() == np.array(mean, dtype=np.float32).tolist()


def test_the_files_are_those_of_the_provenance_and_fit_into_6_mb() -> None:
    for name, digest in provenance_of().files_sha256.items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == digest, name
    assert sum(file.stat().st_size for file in DATA.iterdir()) <= 6_000_000


def test_opens_without_work_for_each_word() -> None:
    Embedding.open()
    calls: list[str] = []
    sys.setprofile(lambda frame, event, argument: calls.append(event))
    try:
        Embedding.open()
    finally:
        sys.setprofile(None)
    assert 0 < len(calls) < 10_000, "a call for each of the 50,000 words"


def test_words_come_in_order_of_frequency(default: Embedding) -> None:
    ids = default.ids(["the", "people", "doctor", "encryption", "sculptured"]).tolist()
    assert ids[0] == 0
    assert ids == sorted(ids)
    assert default.unknown_id not in ids


@pytest.mark.parametrize(
    "word",
    "a i 's n't 're 've 'll 'd 'm e-mail o'clock u.s. café 2010 20th".split(),
)
def test_knows_words_as_people_type_them(default: Embedding, word: str) -> None:
    assert word in default.index


@pytest.mark.parametrize(
    "word",
    "drug sex gay lesbian black muslim escort rectum breast hiv rape suicide".split(),
)
def test_knows_the_words_of_medicine_and_identity(default: Embedding, word: str) -> None:
    assert word in default.index


@pytest.mark.parametrize(
    "word",
    ", 1.5 10,000 6-3 0800 &amp; mr. formula_1 http nytimes.com colspan xxxx dehl".split(),
)
def test_does_not_know_what_is_no_word(default: Embedding, word: str) -> None:
    assert word not in default.index


def test_holds_none_of_the_words_that_must_never_come_out(default: Embedding) -> None:
    assert not [
        i for i, word in enumerate(default.words) if hashlib.sha256(word.encode()).hexdigest()[:12] in NEVER
    ]


def test_every_word_keeps_the_rule_of_the_script(default: Embedding, script: ModuleType) -> None:
    assert [word for word in default.words if script.unusable(word)] == []
    assert not set(default.words) & script.lines_by_hand("artefacts.txt")


def test_the_tokeniser_returns_every_word_as_one_word(default: Embedding) -> None:
    tokeniser = Tokeniser(default.index)
    assert [word for word in default.words if tokeniser.words(normalise(word)) != [word]] == []


def test_the_lists_by_hand_are_those_of_the_provenance(script: ModuleType) -> None:
    for name, digest in provenance_of().by_hand_sha256.items():
        assert hashlib.sha256((script.BY_HAND / name).read_bytes()).hexdigest() == digest, name


def test_another_version_of_an_input_is_refused(script: ModuleType, tmp_path: Path) -> None:
    other = tmp_path / "glove.6B.50d.txt"
    other.write_text("the 0.1 0.2\n")
    with pytest.raises(SystemExit, match="another version"):
        list(script.read_glove(other))


@pytest.mark.slow
@pytest.mark.skipif(not GLOVE.exists(), reason=f"{GLOVE} is not there")
@pytest.mark.skipif(not PACKAGE.exists(), reason="npm pack cuss@2.2.0 --pack-destination build")
def test_the_script_makes_the_same_bytes(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "embedding" / "make.py"
    subprocess.run(
        [sys.executable, script, GLOVE, PACKAGE, "--output", tmp_path],
        check=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    for name in ("words.txt", "vectors.npy", "unknown.npy", "provenance.json"):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name
