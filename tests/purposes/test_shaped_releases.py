"""Calibration, protection, keyed releases, cards, receipts and decoding on a shaped space work as on any
other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, Keyed, MalformedCard, Multivariate, Privatizer
from deniable.arrays import Floats, Ids
from deniable.calibration import Protection, Targets, calibrate
from deniable.channel.outputs import output_distribution
from deniable.decoding.decoder import Decoder
from deniable.embeddings import store
from deniable.mechanisms.catalogue import CATALOGUE, make_mechanism
from deniable.purposes import install_shaped
from deniable.records import privatize_file
from deniable.release.card import read_card
from tests.support.made_purpose import hidden_direction, made_embedding, public_texts

KEY = bytes(range(32))


@pytest.fixture(autouse=True)
def shaped(home: Path) -> str:
    store.save(made_embedding(), "made", licence="CC0")
    return install_shaped("made", "shaped", [public_texts(classes=3)], dimension=3, strength=2.0).name


def private_at(epsilon: float) -> Privatizer:
    return Privatizer(Multivariate(Embedding.open("shaped"), epsilon=epsilon))


def draw(space: Embedding, *, draws: int, epsilon: float) -> Ids:
    """Return what each word becomes in some draws, a row for each word."""
    ids = np.repeat(np.arange(len(space)), draws)
    source = InsecureSeededRandomness(insecure_seed=1)
    return Multivariate(space, epsilon=epsilon).perturb(ids, source).reshape(len(space), draws)


def unchanged(space: Embedding, *, draws: int, epsilon: float) -> Floats:
    """Return how often each word stays itself."""
    same = draw(space, draws=draws, epsilon=epsilon) == np.arange(len(space))[:, None]
    return np.asarray(same.mean(axis=1))


def common_texts(count: int) -> list[str]:
    """Return texts whose words are as frequent as their rank says."""
    rng, shares = np.random.default_rng(0), 1.0 / np.arange(1, 251)
    return [" ".join(rng.choice(made_embedding().words, 20, p=shares / shares.sum())) for _ in range(count)]


def decoding_helps(texts: list[str], released: list[str], decoder: Decoder) -> bool:
    """Return whether more words are right as decoded than as released."""
    decoded = [decoder(text) for text in released]
    said, heard, guessed = (np.array(" ".join(each).split()) for each in (texts, released, decoded))
    return bool((guessed == said).mean() > (heard == said).mean())


def test_calibration_measures_the_shaped_space_and_receipts_quote_it() -> None:
    found = calibrate("shaped", targets=Targets(max_unchanged=0.5), draws=300)
    assert found.epsilon is not None
    space = Embedding.open("shaped")
    assert unchanged(space, draws=400, epsilon=found.epsilon).max() < 0.5 + 0.1
    before = calibrate("made", targets=Targets(max_unchanged=0.5), draws=300)
    assert before.epsilon != pytest.approx(found.epsilon, rel=0.05)
    private = Privatizer(Multivariate(space, epsilon=found.epsilon))
    private("wordaa wordab")
    quoted = private.receipt().calibration
    assert quoted is not None
    assert quoted.words == len(space)
    assert 0.4 < quoted.unchanged.worst < 0.6


def test_exposed_words_of_a_shaped_space_are_protected_and_the_map_stays_known() -> None:
    safe = Protection(name="safe", most_protected=0.1)
    found = calibrate("shaped", targets=Targets(max_unchanged=0.3), draws=300, protect=safe)
    assert found.protected is not None
    assert found.protected.words_mapped > 0
    assert found.protected.exposed_words_left == 0
    facts = store.describe("safe", verified=True)
    assert facts.licence == "CC0"
    assert facts.linear_map == store.describe("shaped").linear_map
    assert facts.map_verified is True
    statement = Privatizer(Multivariate(Embedding.open("safe"), epsilon=1.0)).settings.guarantee["statement"]
    assert "by a public map π of the embedding" in statement
    assert "under a public linear map" in statement


def test_keyed_releases_repeat_and_differ_from_those_in_the_space_before() -> None:
    text = " ".join(made_embedding().words[:40])

    def release(name: str) -> str:
        private = Privatizer(Multivariate(Embedding.open(name), epsilon=2.0), randomness=Keyed(KEY))
        return next(iter(private.many([text], record_ids=["a"]))) or ""

    assert release("shaped") == release("shaped")
    assert release("shaped") != release("made")


def test_receipts_and_cards_state_the_mapped_metric(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("text\nwordaa wordbb\nwordcc unheard\n")
    private = private_at(3.0)
    receipt = privatize_file(private, tmp_path / "in.csv", tmp_path / "out.csv", columns=["text"])
    assert receipt is not None
    space = Embedding.open("shaped")
    assert space.linear_map is not None
    noted = json.loads(receipt.to_json())
    assert noted["embedding"]["map"]["source_fingerprint"] == made_embedding().fingerprint
    assert noted["embedding"]["map"]["digest"] == space.linear_map.digest
    assert noted["embedding"]["map"]["public"][0]["sha256"] == public_texts(classes=3).sha256
    assert (
        "distances between vectors, where the mechanism has any, are those of the mapped ones."
        in noted["guarantee"]["statement"]
    )
    assert "labels as in made.csv survive by design" in receipt.summary()
    card = read_card(tmp_path / "out.csv.card.json")
    assert card == private.card.for_columns(["text"])
    assert card.embedding.map is not None
    assert card.embedding.map.digest == space.linear_map.digest
    said = " ".join(card.in_words)
    assert "Made to survive: the label of made.csv (3 classes: class0, class1, class2)." in said
    assert (
        "Where the mechanism goes by distances between vectors, these, and ε with them, are those of the "
        "mapped space." in said
    )


def test_the_card_of_a_shaped_space_holds_nothing_of_the_text(tmp_path: Path) -> None:
    written = []
    for name, text in (("one", "wordaa wordbb wordcc"), ("two", "wordxa unheard of")):
        (tmp_path / f"{name}.txt").write_text(text + "\n")
        privatize_file(private_at(3.0), tmp_path / f"{name}.txt", tmp_path / f"{name}.out")
        written.append((tmp_path / f"{name}.out.card.json").read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize(
    "change",
    [
        *({"digest": "x"}, {"source_fingerprint": "0" * 31}, {"kind": "bent"}),
        *({"purposes": [1]}, {"colour": "red"}, {"purposes": None}),
    ],
)
def test_a_card_with_a_map_that_cannot_be_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    data = private_at(3.0).card.to_dict()
    data["embedding"]["map"] |= change
    (tmp_path / "x.card.json").write_text(json.dumps(data))
    with pytest.raises(MalformedCard):
        read_card(tmp_path / "x.card.json")


def test_a_receiver_decodes_with_the_card_if_the_shaped_space_was_handed_over() -> None:
    private, texts = private_at(1.5), common_texts(150)
    released = [text or "" for text in private.many(texts)]
    assert decoding_helps(texts, released, Decoder.learn(private.card, released, effort=200))
    store.remove("shaped")
    with pytest.raises(MalformedCard, match="Ask the data holder for its folder"):
        private.card.open_embedding()


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_mechanism_draws_in_a_shaped_space(name: str) -> None:
    space = Embedding.open("shaped")
    options = {"santext-plus": {"sensitive": space.words[:3]}}.get(name, {})
    mechanism = make_mechanism(name, space, epsilon=2.0, options=options)
    released = mechanism.perturb(np.arange(len(space) + 1), InsecureSeededRandomness(insecure_seed=2))
    assert ((released >= 0) & (released < len(space))).all()
    found = output_distribution(mechanism, 4, draws=50)
    assert found.probabilities.sum() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_the_purpose_alone_is_released_with_a_key_and_decoded(classes: int) -> None:
    install_shaped("made", "alone", [public_texts(classes=classes)], dimension=0)
    space = Embedding.open("alone")
    assert space.dimension == classes - 1
    private = Privatizer(Multivariate(space, epsilon=1.5), randomness=Keyed(KEY))
    texts, ids = common_texts(100), [str(number) for number in range(100)]
    released = [text or "" for text in private.many(texts, record_ids=ids)]
    again = Privatizer(Multivariate(Embedding.open("alone"), epsilon=1.5), randomness=Keyed(KEY))
    assert list(again.many(texts, record_ids=ids)) == released
    assert decoding_helps(texts, released, Decoder.learn(private.card, released))
    assert any("Made to survive" in sentence for sentence in private.card.in_words)


def test_what_survives_is_the_purpose() -> None:
    # At an equal share of words unchanged, a released word tells more of the hidden direction in the shaped
    # space.
    source, shaped = made_embedding(), Embedding.open("shaped")
    along = source.vectors @ hidden_direction()
    kept = {}
    for name, space in (("made", source), ("shaped", shaped)):
        grid = np.geomspace(0.3, 20.0, 40).tolist()
        epsilon = next(each for each in grid if unchanged(space, draws=30, epsilon=each).mean() > 0.1)
        released = draw(space, draws=60, epsilon=epsilon)
        kept[name] = float(np.corrcoef(along[released].ravel(), np.repeat(along, 60))[0, 1])
    assert kept["shaped"] > kept["made"] + 0.1
