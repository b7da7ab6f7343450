from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InvalidParameter, Multivariate, Privatizer
from deniable.calibration.choice import Targets, evaluate
from deniable.calibration.measure import calibrate
from deniable.calibration.protection import protect, stays_itself
from deniable.embeddings import store
from deniable.errors import MalformedEmbedding
from deniable.randomness import InsecureSeededRandomness
from strategies import random_embedding


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    return tmp_path


def lonely() -> Embedding:
    """Return 60 words near one another and two far away, which hardly ever change."""
    vectors = np.random.default_rng(0).standard_normal((62, 4))
    vectors[60] = 30.0
    vectors[61] = -25.0
    return Embedding([f"w{i}" for i in range(62)], vectors, name="lonely")


def test_exposed_words_are_found_and_protected_so_that_every_word_meets_the_target() -> None:
    embedding, targets = lonely(), Targets(max_unchanged=0.6)
    before = evaluate(calibration := calibrate(embedding, rays=200, keep=False), 1.0, targets)
    exposed = calibration.ids[before.failing]
    assert {60, 61} <= set(exposed.tolist())
    safe = protect(embedding, exposed)
    after = evaluate(calibrate(safe, rays=200, keep=False), 1.0, targets)
    assert len(after.failing) == 0
    assert (stays_itself(Multivariate(safe, epsilon=1.0), exposed, rays=200) <= 0.6).all()
    distances = np.linalg.norm(embedding.vectors[60] - embedding.vectors, axis=1)
    distances[exposed] = np.inf
    assert safe.stands_in(np.array([60]))[0] == distances.argmin()


def test_the_map_is_part_of_the_fingerprint_and_survives_the_store(home: Path) -> None:
    plain = lonely()
    by_nearest, by_unknown = protect(plain, np.array([60])), protect(plain, np.array([60]), by="unknown")
    assert len({plain.fingerprint, by_nearest.fingerprint, by_unknown.fingerprint}) == 3
    store.save(by_unknown, "safe")
    opened = Embedding.open("safe")
    assert opened.fingerprint == by_unknown.fingerprint == store.verify("safe")
    assert opened.protected.tolist() == [60]
    assert opened.stands_in(np.array([59, 60])).tolist() == [59, opened.unknown_id]
    meta = store.info("safe").meta
    assert meta is not None
    assert (meta.format_version, meta.protected) == (2, 1)
    (home / "embeddings" / "safe" / "protection.npy").unlink()
    with pytest.raises(MalformedEmbedding, match="protection"):
        Embedding.open("safe")


@pytest.mark.parametrize("policy", ["perturb", "redact", "drop", "error"])
def test_text_goes_in_by_the_map_and_the_receipt_says_so(policy: str) -> None:
    safe = protect(lonely(), np.array([60, 61]), by="unknown")
    source = InsecureSeededRandomness(insecure_seed=1)
    private = Privatizer(Multivariate(safe, epsilon=50.0), unknown=policy, randomness=source)  # type: ignore[arg-type]
    released = private("w60 w61 w3")
    assert len(released.split()) == 3
    assert not {"w60", "w61"} & set(released.split())
    assert released.split()[2] == "w3"
    receipt = private.receipt().to_dict()
    assert receipt["embedding"]["protected_words"] == 2
    assert receipt["counts"]["protected_words"] == 2
    assert "π" in receipt["guarantee"]["statement"]
    assert "protected: 2" in private.receipt().summary()


def test_what_cannot_be_protected_is_refused() -> None:
    embedding = random_embedding(5, 2)
    with pytest.raises(InvalidParameter, match="all words"):
        protect(embedding, np.arange(5))
    with pytest.raises(InvalidParameter, match="protect"):
        protect(embedding, np.array([1]), by="magic")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="already"):
        protect(protect(embedding, np.array([1])), np.array([2]))


def test_a_smaller_vocabulary_keeps_the_protection() -> None:
    from deniable.embeddings.restrict import restrict

    safe = protect(lonely(), np.array([60, 61]))
    stand_in = safe.words[safe.stands_in(np.array([60]))[0]]
    kept = restrict(safe, keep=["w60", stand_in])
    assert kept.words[kept.stands_in(kept.ids(["w60"]))[0]] == stand_in
    gone = restrict(safe, exclude=[stand_in])
    assert gone.stands_in(gone.ids(["w60"]))[0] == gone.unknown_id
