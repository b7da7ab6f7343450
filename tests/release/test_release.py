from __future__ import annotations

import dataclasses
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
from deniable.release.fields import FIELDS
from deniable.release.release import resolve_release


def test_the_table_of_fields_is_whole_spells_every_option_once_and_shows_no_key() -> None:
    assert list(FIELDS) == [field.name for field in dataclasses.fields(Release)]
    flags = [flag for field in FIELDS.values() for flag in field.flags]
    assert len(flags) == len(set(flags))
    assert not any(field.by_client for field in FIELDS.values() if field.keyed)


def test_equal_settings_make_equal_releases_and_one_privatizer_per_process(name: str) -> None:
    one = Release(epsilon=6, embedding=name, keep_words=["a", "b"])
    other = Release(epsilon=6.0, embedding=name, keep_words=("b", "a"))
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
        {"max_unchanged": 0.5, "unknown": "keep"},
        {"max_unchanged": 0.5, "epsilon": 6},
    ],
)
def test_settings_that_are_not_allowed_are_refused_before_anything_is_opened(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Embedding, "open")
    with pytest.raises(InvalidParameter):
        resolve_release(**settings)


def test_a_pinned_release_refuses_another_embedding_of_the_same_name(name: str) -> None:
    pinned = Release(epsilon=6, embedding=name).pin()
    pinned.make()
    store.remove(name)
    store.save(Embedding(["other"], np.ones((1, 2)), name=name), name)
    with pytest.raises(MalformedEmbedding):
        pinned.make()
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


def test_a_mechanism_that_its_name_does_not_tell_from_another_is_refused() -> None:
    on_the_spot = lambda embedding, epsilon: Multivariate(embedding, epsilon=epsilon)  # noqa: E731
    for made in (Workshop(2.0).make, on_the_spot):
        with pytest.raises(InvalidParameter) as refused:
            Release(epsilon=1, mechanism=made)
        assert refused.value.name == "mechanism"
    first, second = (Release(epsilon=1, mechanism=Workshop.plain) for _ in range(2))
    assert first.describe() == second.describe()


def test_a_mechanism_travels_by_its_name_and_plain_options(name: str, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("soup\nbread\n")
    typed = {"sensitive": str(words), "p": "0.1"}
    release = Release(epsilon=6, embedding=name, mechanism="santext-plus", mechanism_options=typed)
    words.unlink()  # other machines do not have it
    made = pickle.loads(pickle.dumps(release.pin())).make().mechanism
    expected = SanTextPlus(Embedding.open(name), epsilon=6, sensitive=["soup", "bread"], p=0.1)
    assert made.guarantee == expected.guarantee
    by_class = Release(epsilon=6, mechanism=Vickrey, mechanism_options={"t": 0.5})
    assert by_class == Release(epsilon=6, mechanism="vickrey", mechanism_options={"t": "0.5"})
    assert Release(epsilon=6, mechanism="vickrey").describe() != Release(epsilon=6).describe()


def test_noise_is_given_in_place_of_fresh_noise_and_never_beside_a_key(name: str, tmp_path: Path) -> None:
    seed = InsecureSeededRandomness(insecure_seed=7)
    release = Release(epsilon=1, embedding=name)
    first, second = release.make(randomness=seed), release.make(randomness=type(seed)(insecure_seed=7))
    assert first("word1 word2") == second("word1 word2")
    assert first.settings.seeded
    write_new_key(tmp_path / "key")
    with pytest.raises(InvalidParameter) as refused:
        Release(epsilon=1, embedding=name, key_file=tmp_path / "key").make(randomness=seed)
    assert refused.value.name == "randomness"


def test_a_file_is_released_by_a_release(name: str, tmp_path: Path) -> None:
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("id,text\n1,word1 word2\n")
    receipt = privatize_file(Release(epsilon=1e6, embedding=name), source, target, columns=["text"])
    assert receipt is not None
    assert receipt.tally.words == 2
    assert target.read_text() == source.read_text()


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


def test_an_epsilon_that_a_few_isolated_words_force_is_explained_and_no_other() -> None:
    messages: list[str] = []
    assert resolve_release(max_unchanged=0.5, say=messages.append).epsilon == 1
    which, why = messages
    assert which.startswith("ε = 1: ")
    assert "50,000 words" in which
    assert "--quantile" in why
    assert "calibrate --protect" in why
    for max_unchanged, quantile in ((0.5, 0.95), (0.0002, 0.5)):
        messages.clear()
        resolve_release(max_unchanged=max_unchanged, quantile=quantile, say=messages.append)
        assert len(messages) == 1
