"""How a space was mapped is kept with it, survives what is made of it, and is checked like everything else
that is stored."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from deniable import Embedding, InvalidParameter
from deniable.calibration.choice import protect
from deniable.channel.explanation import explain_word, explain_words
from deniable.cli.app import app
from deniable.embeddings import store
from deniable.embeddings.linear_map import AXES, MAP, LinearMap, MapOrigin
from deniable.embeddings.store import install_restricted
from deniable.embeddings.stored import META
from deniable.errors import EmbeddingExists, MalformedEmbedding
from deniable.mechanisms import Multivariate
from deniable.purposes import PublicTexts, install_reduced, install_shaped, shape
from tests.support.made_purpose import made_embedding, public_texts


@pytest.fixture
def shaped() -> Path:
    """The folder of a shaped embedding; what it was made from is installed as made."""
    store.save(made_embedding(), "made", licence="CC0")
    return Path(str(install_shaped("made", "shaped", [public_texts()], dimension=4).folder))


def test_a_map_is_read_as_it_was_stored(shaped: Path) -> None:
    opened = Embedding.open("shaped")
    again = store.describe("shaped", verified=True)
    assert opened.linear_map is not None
    assert opened.linear_map.digest == again.map_digest
    assert opened.linear_map.origin == again.linear_map
    assert opened.linear_map.origin.source_fingerprint == made_embedding().fingerprint
    assert (again.verified, again.map_verified) == (True, True)
    assert again.licence == "CC0"
    noted = again.to_dict()["linear_map"]
    assert json.loads(json.dumps(noted))["public"][0]["sha256"] == public_texts().sha256


def test_what_is_made_of_a_mapped_space_says_so_too(shaped: Path) -> None:
    smaller = install_restricted("shaped", "smaller", first=100)
    safe = protect(Embedding.open("shaped"), np.array([5]))
    store.save(safe, "safe")
    for name in ("smaller", "safe"):
        facts = store.describe(name, verified=True)
        assert facts.linear_map == store.describe("shaped").linear_map
        assert facts.map_verified is True
    assert (smaller.words, smaller.licence) == (100, "CC0")


def test_a_part_of_a_mapped_space_is_installed_and_shown(shaped: Path) -> None:
    done = CliRunner().invoke(
        app, ["embeddings", "restrict", "shaped", "--first", "50", "--as", "part"], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    told = CliRunner().invoke(app, ["embeddings", "show", "part"], catch_exceptions=False).output
    for line in ("linear map:", "purpose 1:", "words:               50"):
        assert line in done.output
        assert line in told


def test_vectors_that_are_not_what_the_map_makes_are_found(shaped: Path) -> None:
    opened = Embedding.open("shaped")
    vectors = opened.vectors.copy()
    vectors[7] += 0.5
    other = Embedding(opened.words, vectors, unknown=opened.unknown)
    other.linear_map = opened.linear_map
    store.save(other, "other")
    assert store.verify("other") == other.fingerprint
    with pytest.raises(
        MalformedEmbedding, match="its vectors are not those of 'made' under the map that it states"
    ):
        store.describe("other", verified=True)


def test_without_its_source_a_map_cannot_be_verified(shaped: Path) -> None:
    store.remove("made")
    facts = store.describe("shaped", verified=True)
    assert (facts.verified, facts.map_verified) == (True, False)


def test_names_and_numbers_are_checked_before_the_work(shaped: Path) -> None:
    with pytest.raises(EmbeddingExists):
        install_reduced("made", "shaped")
    with pytest.raises(InvalidParameter, match="must be 1 to 100 letters"):
        install_reduced("made", "no name")
    with pytest.raises(InvalidParameter, match="choose at most 12"):
        install_reduced("made", "new", dimension=40)
    assert sorted(facts.name for facts in store.installed()) == ["made", "shaped"]


DIGEST, IMPOSSIBLE, DIMENSIONS = "the map has the digest", "cannot be", "do not make up its 5 dimensions"
DAMAGE: dict[str, tuple[str, dict[str, Any], str]] = {
    "a later format": ("map", {"format_version": 2}, "upgrade deniable"),
    "too few scales": ("map", {"scales": [1.0] * 4}, "must state 5"),
    "a scale of 0": ("map", {"scales": [0.0] * 5}, "must state 5|cannot be"),
    "another scale": ("map", {"scales": [1.0] * 4 + [9.0]}, DIGEST),
    "no digest": ("map", {"digest": "x"}, DIGEST),
    "another digest": ("map", {"digest": "0" * 32}, DIGEST),
    "no fingerprint": ("origin", {"source_fingerprint": "../.."}, IMPOSSIBLE),
    "another kind": ("origin", {"kind": "bent"}, "cannot be read"),
    "a purpose of a reduced space": ("origin", {"kind": "reduced"}, "without a purpose"),
    "no purpose": ("origin", {"public": []}, "without a purpose"),
    "no strength": ("origin", {"strength": None}, "without a strength"),
    "a strength below 0": ("origin", {"strength": -1.0}, IMPOSSIBLE),
    "a strength beyond all": ("origin", {"strength": 1e6}, IMPOSSIBLE),
    "a dimension below 0": ("origin", {"dimension": -1}, IMPOSSIBLE),
    "no axes of five": ("origin", {"dimension": 0}, DIMENSIONS),
    "fewer axes than there are": ("origin", {"dimension": 1}, DIMENSIONS),
    "more directions than were learnt": ("origin", {"dimension": 3, "directions": 2}, DIMENSIONS),
    "another source": ("origin", {"source": "other"}, DIGEST),
    "a source of other content": ("origin", {"source_fingerprint": "0" * 32}, DIGEST),
    "another strength": ("origin", {"strength": 7.0}, DIGEST),
    "fewer than no texts": ("public", {"texts": -1}, IMPOSSIBLE),
    "more texts than can be": ("public", {"texts": 1 << 60}, IMPOSSIBLE),
    "a purpose without a direction": ("public", {"directions": 0}, IMPOSSIBLE),
    "a seed of no draw": ("public", {"seed": 0}, IMPOSSIBLE),
    "too many classes": ("public", {"classes": ["a"] * 501}, IMPOSSIBLE),
    "another name": ("public", {"name": "other.csv"}, DIGEST),
    "another sha256": ("public", {"sha256": "0" * 64}, DIGEST),
    "another number of texts": ("public", {"texts": 999}, DIGEST),
    "other classes": ("public", {"classes": ["x" * 300_000] * 2}, DIGEST),
    "a draw": ("public", {"drawn_from": 999, "seed": 1}, DIGEST),
    "a wrong sha256": ("public", {"sha256": "abc"}, IMPOSSIBLE),
    "classes that are numbers": ("public", {"classes": [1, 2]}, "cannot be read"),
    "nothing": ("map", {}, "cannot be read"),
    "too many purposes": ("origin", {}, IMPOSSIBLE),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_description_is_refused(shaped: Path, damage: str) -> None:
    part, change, says = DAMAGE[damage]
    data = json.loads((shaped / MAP).read_text(encoding="utf-8"))
    origin = data["origin"]
    {"map": data, "origin": origin, "public": origin["public"][0]}[part].update(change)
    if damage == "nothing":
        data.clear()
    if damage == "too many purposes":
        origin["public"] *= 21
    (shaped / MAP).write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(MalformedEmbedding, match=says):
        Embedding.open("shaped")
    assert re.search(says, store.info("shaped").problem or ""), "and it is not shown to anybody"


def test_the_digest_of_a_map_stands_in_the_description_of_the_embedding(shaped: Path) -> None:
    digest = store.info("shaped").map_digest
    data = json.loads((shaped / MAP).read_text(encoding="utf-8"))
    data["origin"]["public"][0]["name"] = "other.csv"
    forge(shaped, data, meta=False)
    with pytest.raises(MalformedEmbedding, match=f"meta.json says {digest}"):
        Embedding.open("shaped")
    forge(shaped, data, meta=True)
    assert Embedding.open("shaped").linear_map.digest != digest  # type: ignore[union-attr]
    meta = json.loads((shaped / META).read_text(encoding="utf-8"))
    del meta["map_digest"]
    (shaped / META).write_text(json.dumps(meta), encoding="utf-8")
    with pytest.raises(MalformedEmbedding, match=r"meta\.json says None"):
        Embedding.open("shaped")


def forge(folder: Path, data: dict[str, Any], *, meta: bool) -> None:
    """Write a changed map with a digest that is right, into the description of the embedding too."""
    origin = msgspec.convert(data["origin"], MapOrigin)
    digest = LinearMap(axes=np.load(folder / AXES), scales=np.array(data["scales"]), origin=origin).digest
    (folder / MAP).write_text(json.dumps(data | {"digest": digest}), encoding="utf-8")
    if meta:
        stated = json.loads((folder / META).read_text(encoding="utf-8"))
        (folder / META).write_text(json.dumps(stated | {"map_digest": digest}), encoding="utf-8")


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b"{}" + b" " * (1 << 20)])
def test_a_description_that_is_none_is_refused_and_listed_as_damaged(shaped: Path, content: bytes) -> None:
    (shaped / MAP).write_bytes(content)
    with pytest.raises(MalformedEmbedding):
        Embedding.open("shaped")
    assert store.info("shaped").problem is not None


def test_missing_and_strange_files_are_refused(shaped: Path) -> None:
    axes = np.load(shaped / AXES)
    for wrong, says in (
        (axes[:, :0], "not orthonormal|cannot be read"),
        (axes[:3], "cannot be read"),
        (axes.astype(np.float64), "cannot be read"),
        (axes * 1.01, "not orthonormal"),
        (np.full_like(axes, np.nan), "not orthonormal"),
        (axes[::-1], "digest"),
    ):
        np.save(shaped / AXES, np.ascontiguousarray(wrong))
        with pytest.raises(MalformedEmbedding, match=says):
            Embedding.open("shaped")
    (shaped / AXES).unlink()
    with pytest.raises(MalformedEmbedding, match="cannot be read"):
        Embedding.open("shaped")
    np.save(shaped / AXES, axes)
    (shaped / MAP).rename(shaped / "elsewhere")
    os.mkfifo(shaped / MAP)
    with pytest.raises(MalformedEmbedding, match=r"map\.json"):
        Embedding.open("shaped")


@pytest.mark.parametrize("also_the_digest", [False, True])
def test_a_description_that_hides_the_map_is_refused(shaped: Path, also_the_digest: bool) -> None:
    meta = json.loads((shaped / "meta.json").read_text())
    hidden = {"mapped": False} | ({"map_digest": None} if also_the_digest else {})
    (shaped / "meta.json").write_text(json.dumps(meta | hidden))
    with pytest.raises(MalformedEmbedding, match="says that its vectors were not mapped, and there is a map"):
        Embedding.open("shaped")
    assert "and there is a map" in str(store.info("shaped").problem)


def test_what_somebody_wrote_into_a_description_does_not_act_on_a_terminal(shaped: Path) -> None:
    data = json.loads((shaped / MAP).read_text(encoding="utf-8"))
    data["origin"]["source"] = "made\x1b[2J"
    data["origin"]["public"][0].update(
        name="a\x1b]0;b\x07.csv" * 1_000, classes=["\u202egood", "bad\n" * 100_000]
    )
    forge(shaped, data, meta=True)
    for origin in (store.describe("shaped").linear_map, Embedding.open("shaped").linear_map.origin):  # type: ignore[union-attr]
        assert origin is not None
        assert all(sentence.isprintable() for sentence in origin.in_words())
        assert max(map(len, origin.in_words())) < 700


def test_strange_names_and_labels_are_stored_as_they_are_shown() -> None:
    texts = public_texts()
    strange = [f"{label}\x1b\ud800" + "x" * 200 for label in texts.labels]
    made = shape(
        made_embedding(name="a\nb" * 200),
        [PublicTexts.of(strange, texts.texts, source="c\udcff.csv")],
        dimension=4,
    )
    store.save(made, "strange")
    opened = Embedding.open("strange")
    assert opened.linear_map is not None
    assert made.linear_map is not None
    assert opened.linear_map.origin == made.linear_map.origin
    assert opened.linear_map.digest == made.linear_map.digest
    assert len(opened.linear_map.origin.public[0].classes[0]) == 100


def test_explanations_tell_which_neighbours_came_nearer_or_went_away(
    shaped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, opened = made_embedding(), Embedding.open("shaped")
    word = opened.words[17]

    def order(embedding: Embedding) -> list[str]:
        distances = np.linalg.norm(embedding.vectors.astype(np.float64) - embedding.vectors[17], axis=1)
        return [embedding.words[i] for i in np.argsort(distances, kind="stable")]

    moves = explain_word(Multivariate(opened, epsilon=3.0), word, draws=50, top=8).moves
    assert moves is not None
    assert moves.source == "made"
    before, now = order(source), order(opened)
    assert [move.word for move in moves.nearer] == [each for each in now[1:9] if each not in before[1:9]]
    assert [move.word for move in moves.away] == [each for each in before[1:9] if each not in now[1:9]]
    assert moves.nearer
    assert all(
        (move.before, move.now) == (before.index(move.word), now.index(move.word))
        for move in (*moves.nearer, *moves.away)
    )
    with monkeypatch.context() as patch:
        opening: list[str] = []

        def note(name: str) -> Embedding:
            opening.append(name)
            return source

        patch.setattr(Embedding, "open", note)
        first, _ = explain_words(Multivariate(opened, epsilon=3.0), [word, opened.words[18]], draws=50, top=8)
    assert first.moves == moves
    assert opening in ([], ["made"])  # once at most: it is remembered
    unknown = explain_word(Multivariate(opened, epsilon=3.0), "unheard", draws=50, top=8).moves
    assert unknown is not None
    assert min(move.now for move in unknown.nearer) >= 1
    store.remove("made")
    gone = explain_word(Multivariate(opened, epsilon=3.0), word, draws=50)
    assert gone.moves is not None
    assert (gone.moves.source, gone.moves.nearer) == (None, ())
    assert explain_word(Multivariate(source, epsilon=3.0), word, draws=50).moves is None
