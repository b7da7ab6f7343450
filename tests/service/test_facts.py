"""What is told of words, embeddings and mechanisms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deniable import Embedding, Multivariate
from deniable.channel.explanation import explain_word
from deniable.release.note import quote_calibration
from deniable.service.settings import Allowed
from deniable.words.never_release import BUILT_IN, NeverRelease, built_in_words
from tests.service.running import Client, allowed, make_settings, running


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    release = allowed(mechanisms=("multivariate", "vickrey", "tem"), max_epsilon=12)
    with running(make_settings(tmp_path_factory.mktemp("service"), release=release)) as opened:
        yield opened


def test_a_word_is_explained_as_the_command_explains_it(client: Client) -> None:
    reply = client.get("/explain/doctor", epsilon=6).json()
    told = reply["explanation"]
    here = explain_word(Multivariate(Embedding.open(), epsilon=6), "doctor", draws=300)
    assert here.unchanged is not None
    assert told["unchanged"]["probability"] == pytest.approx(here.unchanged.probability)
    assert reply["points"][0] == {
        "word": "doctor",
        "x": 0.0,
        "y": 0.0,
        "probability": pytest.approx(here.unchanged.probability),
    }
    assert len({point["word"] for point in reply["points"]}) == len(reply["points"]) > 20
    assert all(math.isfinite(point["x"]) and math.isfinite(point["y"]) for point in reply["points"])
    assert client.post("/explain", word="doctor", epsilon=6).json() == reply


def test_more_noise_is_a_wider_ring(client: Client) -> None:
    rings = [
        client.post("/explain", word="doctor", epsilon=epsilon).json()["noise"] for epsilon in (3, 6, 12)
    ]
    assert rings[0] == pytest.approx(2 * rings[1]) == pytest.approx(4 * rings[2])
    assert client.post("/explain", word="doctor", mechanism="vickrey").json()["noise"] is None


def test_an_unknown_word_is_explained_as_unknown(client: Client) -> None:
    assert client.post("/explain", word="zorblattsecret").json()["explanation"]["known"] is False


@pytest.mark.parametrize(
    "asked",
    [
        {"word": "two words"},
        {"word": ""},
        {"word": "doctor", "top": 0},
        {"word": "doctor", "epsilon": 13},
        {},
    ],
)
def test_what_is_no_word_is_refused_without_an_echo(client: Client, asked: dict[str, Any]) -> None:
    reply = client.post("/explain", **asked)
    assert reply.status == 422
    assert "two words" not in reply.error


def test_words_are_told_with_how_often_they_stay(client: Client) -> None:
    reply = client.post("/words", text="My doctor, zorblattsecret: my aluminum").json()
    assert [(one["word"], one["known"]) for one in reply["words"]] == [
        ("my", True),
        ("doctor", True),
        ("zorblattsecret", False),
        ("my", True),
        ("aluminum", True),
    ]
    assert reply["words"][0]["row"] == reply["words"][3]["row"]
    rows, epsilons = reply["rows"], reply["epsilons"]
    assert (epsilons[0], epsilons[-1]) == (1.0, 12.0)
    assert all(row == sorted(row) for row in rows), "a word stays more often with a larger ε"
    place = min(range(len(epsilons)), key=lambda i: abs(epsilons[i] - 6))
    here = explain_word(Multivariate(Embedding.open(), epsilon=epsilons[place]), "doctor", draws=1000)
    assert here.unchanged is not None
    assert rows[reply["words"][1]["row"]][place] == pytest.approx(here.unchanged.probability, abs=0.08)


def test_words_of_a_mechanism_without_rays_have_no_figures(client: Client) -> None:
    assert client.post("/words", text="my doctor", mechanism="vickrey").json()["rows"] is None


def test_too_many_words_are_refused(client: Client) -> None:
    assert client.post("/words", text="fox " * 501).status == 413
    assert client.post("/decode", text="fox " * 61).status == 413


def test_a_stranger_reads_more_at_a_larger_epsilon(client: Client) -> None:
    named, words = (
        {},
        6 * ["my", "doctor", "said", "the", "encryption", "keys", "were", "stolen"],
    )  # enough for chance to decide nothing
    for epsilon in (2, 12):
        made = client.post("/privatize", text=" ".join(words), epsilon=epsilon).json()
        told = client.post("/decode", text=made["text"], epsilon=epsilon).json()
        named[epsilon] = sum(
            word == guess["guess"] == guess["candidates"][0]["word"]
            for word, guess in zip(words, told["guesses"], strict=True)
        )
        assert "Bayes" in told["by"]
    assert named[2] < 20 < 30 < named[12]


def test_decoding_of_other_mechanisms_is_refused(client: Client) -> None:
    assert client.post("/decode", text="fox", mechanism="tem").status == 422


def test_lists_are_those_that_the_operator_allows(client: Client) -> None:
    assert [one["name"] for one in client.get("/mechanisms").json()] == ["multivariate", "vickrey", "tem"]
    assert client.get("/embeddings").json()[0] == {
        "name": "default",
        "words": 50_000,
        "dimension": 50,
        "fingerprint": Embedding.open().fingerprint,
        "protected_words": 0,
    }
    allowed = client.get("/allowed").json()
    assert (allowed["max_epsilon"], allowed["keyed"]) == (12, False)


def test_the_calibration_and_the_card_are_given(client: Client) -> None:
    table = client.get("/calibration/default").json()["table"]
    assert table[0]["unchanged"]["mean"] < table[-1]["unchanged"]["mean"]
    assert client.get("/calibration/default", mechanism="tem").status == 404
    assert client.get("/calibration/absent").status == 422
    assert client.get("/card", epsilon=3).json()["epsilon_per_word"] == 3
    assert client.get("/card", epsilon=13).status == 422


def test_words_that_never_come_out_are_left_out_of_what_is_open_and_counted(tmp_path: Path) -> None:
    (tmp_path / "drugs.txt").write_text("doctor\nzorblatt anywhere\n", encoding="utf-8")
    settings = make_settings(
        tmp_path,
        release=Allowed(epsilon=50.0, max_epsilon=50.0, never_release=(str(tmp_path / "drugs.txt"),)),
    )
    with running(settings) as client:
        told = client.get("/embeddings").json()[0]
        assert (told["name"], told["words"], told["never_released_words"]) == ("default", 49_998, 2), (
            "doctor, and anywhere"
        )
        made = client.post("/privatize", texts=["doctor"] * 50).json()
        assert "doctor" not in made["texts"]
        assert client.get("/card").json()["embedding"]["never_release"]["words"] == ["anywhere", "doctor"]
        made = client.post("/privatize", texts=["stolen doctor"] * 50, never_release=["Stolen"]).json()
        assert not {"doctor", "stolen"}.intersection(" ".join(made["texts"]).split()), "a client adds words"
        card = client.get("/card", never_release="stolen,names").json()["embedding"]["never_release"]
        assert set(card["words"]) == {"anywhere", "doctor", "stolen"}
        assert [each["name"] for each in card["lists"]] == ["names-2"]
        for listed in (["x.txt"], [""], ["a"] * 10_001):
            assert client.post("/privatize", text="doctor", never_release=listed).status == 422


def test_names_never_come_out_unless_the_operator_says_so(tmp_path: Path) -> None:
    settings = make_settings(tmp_path, release=Allowed(epsilon=4.0))
    names = built_in_words(BUILT_IN["names"])
    with running(settings) as client:
        told = client.get("/embeddings").json()[0]
        assert (told["words"] + told["never_released_words"], told["source"]) == (
            50_000,
            Embedding.open().fingerprint,
        )
        made = client.post(
            "/privatize", texts=["John Smith of Boston", "Fox, O'Brien and Nguyen"] * 25, words=True
        )
        released = {word for words in made.json()["words"] for word in words}
        assert len(released) > 20
        assert not any(NeverRelease.of("names").holds(word) for word in released), names & released
        guesses = client.post("/decode", text="doctor said hospital").json()["guesses"]
        for guess in guesses:
            chances = [each["probability"] for each in guess["candidates"]]
            assert chances == sorted(chances, reverse=True)
            assert 0.0 < sum(chances) <= 1.0 + 1e-4


def test_the_factor_of_a_release_is_that_of_its_calibration(client: Client) -> None:
    told = client.post("/decode", text="doctor", epsilon=6).json()["factor"]
    quote = quote_calibration(Multivariate(Embedding.open(), epsilon=6))
    assert quote is not None
    assert quote.capacity is not None
    assert told == quote.capacity.at_most
