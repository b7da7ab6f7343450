"""The card that a client gets is enough to decode: it makes the very channel that the service drew from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from deniable.channel.columns import columns_of
from deniable.embeddings import store
from deniable.interfaces import Mechanism
from deniable.purposes import install_shaped
from deniable.release.card import card_from
from deniable.service import facts
from deniable.service.app import Service
from deniable.service.messages import Choice
from deniable.service.rules import Rules
from deniable.service.settings import Allowed
from deniable.words.cutter import Cutter
from deniable.words.frequency import by_rank
from deniable.words.never_release import NeverRelease
from tests.service.running import allowed, make_settings, running
from tests.support.made_purpose import made_embedding, public_texts


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Allowed:
    """A shaped embedding, without the words of a list."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(made_embedding(), "made", licence="CC0")
    install_shaped("made", "shaped", [public_texts()], dimension=4)
    (tmp_path / "never.txt").write_text("\n".join(made_embedding().words[3:9]), encoding="utf-8")
    return allowed(
        embeddings=("shaped", "made"), epsilon=4.0, never_release=("names", str(tmp_path / "never.txt"))
    )


def columns(mechanism: Mechanism, words: list[str]) -> Any:
    ids = np.array(Cutter(mechanism.embedding).ids(words), dtype=np.int64)
    channel = columns_of(mechanism, ids, seed=7, points=facts.POINTS_TO_DECODE)
    return np.array(list(channel.columns(ids)))[:, np.argsort(channel.inputs)]


@pytest.mark.parametrize("embedding", ["shaped", "made"])
def test_the_card_of_a_client_makes_the_channel_of_the_service(
    tmp_path: Path, release: Allowed, embedding: str
) -> None:
    settings = make_settings(tmp_path, release=release)
    service = Service(settings)
    texts = [" ".join(made_embedding().words[:20])] * 5
    with running(settings, service) as client:
        asked = client.post("/privatize", texts=texts, embedding=embedding, words=True).json()
        rows = ("\n".join(["text", *texts]) + "\n").encode()
        job = client.upload(rows, name="rows.csv", column="text", embedding=embedding, wait=600).headers[
            "location"
        ]
        of_file = client.get(f"{job}/card").json()
        alone = client.get("/card", embedding=embedding).json()
        told = client.post("/decode", text=" ".join(asked["words"][0]), embedding=embedding).json()
    assert asked["card"] == alone
    assert of_file == {**alone, "columns": ["text"]}
    listed = set(made_embedding().words[3:9])
    words = [word for text in asked["words"] for word in text]
    assert not listed & set(words)
    card = card_from(alone)
    mechanism = card.make_mechanism(card.open_embedding())
    own = service.rules.prepare(service.rules.release(Choice(embedding=embedding))).private.mechanism
    assert mechanism.embedding.fingerprint == own.embedding.fingerprint
    known = sorted(set(words) & set(mechanism.embedding.words))
    assert np.array_equal(columns(mechanism, known), columns(own, known))
    best = np.argmax(columns(mechanism, asked["words"][0]) * by_rank(mechanism.embedding), axis=1)
    assert [guess["guess"] for guess in told["guesses"]] == [mechanism.embedding.words[i] for i in best]


def test_another_epsilon_does_not_look_through_the_list_again(
    tmp_path: Path, release: Allowed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took a quarter of a second for the built-in list, at every move of the slider, and nobody else was
    served meanwhile."""
    rules = Service(make_settings(tmp_path, release=release)).rules

    def looked_through(*_: object) -> bool:
        raise AssertionError

    monkeypatch.setattr(NeverRelease, "holds", looked_through)
    cards = [
        card_from(msgspec.json.decode(rules.prepare(rules.release(Choice(epsilon=epsilon))).card))
        for epsilon in (1.5, 2.5)
    ]
    assert cards[0].epsilon == 1.5
    assert cards[0].embedding.never_release == cards[1].embedding.never_release is not None


def test_what_was_spent_is_read_by_the_policies_of_the_release(tmp_path: Path) -> None:
    rules = Rules(make_settings(tmp_path))
    drawn = rules.prepare(rules.release(Choice(punctuation="keep", epsilon=1.0)))
    redacted = rules.prepare(rules.release(Choice(unknown="redact", epsilon=1.0)))
    assert drawn.spent("the [redacted] man") == 3.0
    assert drawn.words("the [redacted] man") == ["the", "redacted", "man"]
    assert redacted.spent("the [redacted] man") == 2.0
