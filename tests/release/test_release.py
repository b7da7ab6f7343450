from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import (
    Embedding,
    EmbeddingNotFound,
    InsecureSeededRandomness,
    InvalidParameter,
    Multivariate,
    Release,
    SanTextPlus,
    Vickrey,
)
from deniable.embeddings import store
from deniable.errors import MalformedEmbedding
from deniable.noise.key_file import write_new_key
from deniable.records import privatize_file
from deniable.release.release import resolve_release


def test_equal_settings_make_equal_releases_and_one_privatizer_per_process(name: str) -> None:
    one, other = (
        Release(epsilon=epsilon, embedding=name, keep_words=words)
        for epsilon, words in ((6, ["a", "b"]), (6.0, ("b", "a")))
    )
    assert one == other
    assert one.describe() == other.describe()
    assert one.shared_privatizer() is pickle.loads(pickle.dumps(other)).shared_privatizer()
    assert one.make() is not one.make()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"epsilon": 0, "record_epsilon": 6},
        {"epsilon": 6, "record_epsilon": -6},
        {"epsilon": 0},
        {"record_epsilon": "6"},
        {"epsilon": 6, "unknown": "keep"},
        {"epsilon": 6, "keep_words": "word"},
        {"epsilon": 6, "mechanism": "vikrey"},
        {"epsilon": 6, "mechanism": "vickrey", "mechanism_options": {"tt": 0.5}},
        {"epsilon": 6, "mechanism": "vickrey", "mechanism_options": {"t": "half"}},
        {"epsilon": 6, "mechanism": "santext-plus"},
        {"epsilon": 6, "mechanism": "vickrey", "mechanism_options": {"t": object()}},
    ],
)
def test_settings_that_are_not_allowed_are_refused_before_anything_is_opened(
    settings: dict[str, object],
) -> None:
    with pytest.raises(InvalidParameter):
        Release(embedding="there-is-none", **settings)  # type: ignore[arg-type]


def test_a_pinned_release_refuses_another_embedding_of_the_same_name(name: str) -> None:
    pinned = Release(epsilon=6, embedding=name).pin()
    pinned.make()
    store.remove(name)
    store.save(Embedding(["other"], np.ones((1, 2)), name=name), name)
    with pytest.raises(MalformedEmbedding, match="another embedding here"):
        pinned.make()


def test_an_embedding_that_is_not_installed_is_named(home: object) -> None:
    with pytest.raises(EmbeddingNotFound, match="nowhere"):
        Release(epsilon=6, embedding="nowhere").pin()


class Workshop:
    """Makes mechanisms that are a number of times as noisy as they say."""

    def __init__(self, times: float) -> None:
        self._times = times

    def make(self, embedding: Embedding, *, epsilon: float) -> Multivariate:
        return Multivariate(embedding, epsilon=epsilon / self._times)

    @classmethod
    def plain(cls, embedding: Embedding, *, epsilon: float) -> Multivariate:
        return cls(1.0).make(embedding, epsilon=epsilon)


def test_a_method_of_an_object_is_refused_because_its_name_says_nothing_of_the_object() -> None:
    with pytest.raises(InvalidParameter, match="not made on the spot"):
        Release(epsilon=1, mechanism=Workshop(2.0).make)
    assert (
        Release(epsilon=1, mechanism=Workshop.plain).describe()
        == Release(epsilon=1, mechanism=Workshop.plain).describe()
    )


def test_a_mechanism_made_on_the_spot_is_refused_because_a_cache_could_not_tell_it_from_another() -> None:
    with pytest.raises(InvalidParameter, match="not made on the spot"):
        Release(epsilon=1, mechanism=lambda embedding, epsilon: Multivariate(embedding, epsilon=epsilon))


def test_a_mechanism_travels_by_its_name_and_plain_options(name: str, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("soup\nbread\n")
    typed = {"sensitive": str(tmp_path / "words.txt"), "p": "0.1"}
    release = Release(epsilon=6, embedding=name, mechanism="santext-plus", mechanism_options=typed)
    (tmp_path / "words.txt").unlink()  # other machines do not have it
    sent = pickle.loads(pickle.dumps(release.pin()))
    assert (
        sent.make().mechanism.guarantee
        == SanTextPlus(Embedding.open(name), epsilon=6, sensitive=["soup", "bread"], p=0.1).guarantee
    )
    assert Release(epsilon=6, mechanism=Vickrey, mechanism_options={"t": 0.5}) == Release(
        epsilon=6, mechanism="vickrey", mechanism_options={"t": "0.5"}
    )
    assert Release(epsilon=6, mechanism="vickrey").describe() != Release(epsilon=6).describe()


def test_noise_is_given_in_place_of_fresh_noise_and_never_beside_a_key(name: str, tmp_path: Path) -> None:
    seeded = [
        Release(epsilon=1, embedding=name).make(randomness=InsecureSeededRandomness(insecure_seed=7))
        for _ in range(2)
    ]
    assert seeded[0]("word1 word2") == seeded[1]("word1 word2")
    assert seeded[0].settings.seeded
    write_new_key(tmp_path / "key")
    with pytest.raises(InvalidParameter, match="the noise comes from the key"):
        Release(epsilon=1, embedding=name, key_file=tmp_path / "key").make(
            randomness=InsecureSeededRandomness(insecure_seed=7)
        )


def test_a_file_is_released_by_a_release(name: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,text\n1,word1 word2\n")
    receipt = privatize_file(
        Release(epsilon=1e6, embedding=name), tmp_path / "in.csv", tmp_path / "out.csv", columns=["text"]
    )
    assert receipt is not None
    assert receipt.tally.words == 2
    assert (tmp_path / "out.csv").read_text() == "id,text\n1,word1 word2\n"


@pytest.mark.parametrize(
    ("settings", "per_word", "per_record"),
    [
        ({"epsilon": 6}, 6, None),
        ({"record_epsilon": 6}, None, 6),
        ({"epsilon": 6, "record_epsilon": 60}, 6, 60),
        ({"max_unchanged": 0.5, "quantile": 0.95}, 5.5, None),
        ({"max_unchanged": 0.5, "quantile": 0.95, "record_epsilon": 60}, 5.5, 60),
    ],
)
def test_what_may_be_spent_reaches_the_privatizer(
    settings: dict[str, Any], per_word: float | None, per_record: float | None
) -> None:
    described = resolve_release(**settings).make().receipt().settings
    assert (described.ceiling, described.record_epsilon) == (per_word, per_record)


@pytest.mark.parametrize("name", ["epsilon", "record_epsilon"])
def test_wrong_spending_is_refused_before_the_embedding_is_opened(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Embedding, "open")
    settings: dict[str, Any] = {"epsilon": 6, "record_epsilon": 60, name: 0}
    with pytest.raises(InvalidParameter, match=f"^{name} = 0"):
        resolve_release(**settings)


def test_other_wrong_settings_are_refused_before_the_embedding_is_opened_for_its_calibration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(Embedding, "open")
    with pytest.raises(InvalidParameter, match=r"^unknown = 'keep'"):
        resolve_release(max_unchanged=0.5, unknown="keep")


def test_a_calibration_is_not_asked_for_an_epsilon_that_is_given() -> None:
    with pytest.raises(InvalidParameter, match="give one of the two"):
        resolve_release(max_unchanged=0.5, epsilon=6)


def test_an_epsilon_that_a_few_isolated_words_force_is_explained() -> None:
    messages: list[str] = []
    assert resolve_release(max_unchanged=0.5, say=messages.append).epsilon == 1
    which, why = messages
    assert (
        which
        == "ε = 1: by the calibration of all 50,000 words, N_w, how often a word stays itself, is at most "
        "0.5 for every word"
    )
    assert "a few isolated words" in why
    assert "--quantile" in why
    assert "calibrate --protect" in why


@pytest.mark.parametrize(("max_unchanged", "quantile"), [(0.5, 0.95), (0.0002, 0.5)])
def test_an_epsilon_that_all_words_force_is_not_blamed_on_a_few(
    max_unchanged: float, quantile: float
) -> None:
    messages: list[str] = []
    resolve_release(max_unchanged=max_unchanged, quantile=quantile, say=messages.append)
    assert len(messages) == 1
