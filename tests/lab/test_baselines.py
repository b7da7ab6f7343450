from __future__ import annotations

from pathlib import Path

import pytest

from deniable.errors import InvalidParameter
from deniable.lab.baselines.collection import Collection
from deniable.lab.baselines.incognito_like import IncognitoLike
from deniable.lab.baselines.versatile import VersatileSemantic
from deniable.lab.baselines.wordnet import WordNet


def collection() -> Collection:
    pytest.importorskip("bm25s")
    people = {
        f"p{i}": [["install", "printer", "driver", "ubuntu"], ["sound", "card", "broken"]] for i in range(30)
    }
    people["p0"].append(["wedding", "budapest", "printer", "driver"])
    return Collection(people)


def test_statistical_scrambling_releases_other_words_from_where_the_text_is_found() -> None:
    pytest.importorskip("nltk")
    from deniable.lab.baselines.versatile import KEPT, VersatileStatistical

    scrambler = VersatileStatistical(collection())
    queries = scrambler.candidates(["my", "printers", "fail"])
    assert queries == [] or all("printer" not in query for query in queries)
    queries = scrambler.candidates(["printer"])
    assert {word for query in queries for word in query} <= {
        "install",
        "driver",
        "ubuntu",
        "wedding",
        "budapest",
    }
    assert all(1 <= len(query) <= 3 for query in queries)
    assert len(queries) <= KEPT
    # "driver" stands beside "printer" always and elsewhere never; "sound" never does.
    assert scrambler.scramble([["printer"], ["unheard"]])[1] == []
    assert not {"sound", "card"} & set(scrambler.scramble([["printer"]])[0])


def test_rare_and_linkable_words_are_sensitive() -> None:
    scrambler = IncognitoLike(collection())
    assert scrambler.sensitive("nowhere")
    assert scrambler.sensitive("http://x.org")
    assert scrambler.sensitive("555")
    assert not scrambler.sensitive("printer")
    assert scrambler.scramble([["my", "printer", "sound", "4711"]]) == [["printer", "sound"]]
    assert scrambler.name == "Incognito-like (without noise)"


def test_noise_adds_frequent_words_and_keeps_the_rest_in_order() -> None:
    scrambler = IncognitoLike(collection(), noise=2.0, seed=3)
    made = scrambler.scramble([["printer", "sound"]] * 20)
    assert sum(len(text) for text in made) > 60
    assert all(text.index("printer") <= len(text) - 1 - text[::-1].index("sound") for text in made)
    with pytest.raises(InvalidParameter):
        IncognitoLike(collection(), noise=-1)


class Ladder:
    """A WordNet of one branch."""

    steps = ("poodle", "dog", "animal", "thing")

    def hypernym(self, word: str, depth: int) -> list[str] | None:
        if word not in self.steps[:-1]:
            return None
        return [self.steps[min(self.steps.index(word) + depth, len(self.steps) - 1)]]


def test_semantic_scrambling_goes_up_and_leaves_what_has_nothing_above() -> None:
    pytest.importorskip("bm25s")
    scrambler = VersatileSemantic(Ladder(), depth=2)  # type: ignore[arg-type]
    assert scrambler.scramble([["the", "poodle", "zork", "animal"]]) == [["the", "animal", "zork", "thing"]]


def test_a_folder_without_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"data\.noun"):
        WordNet(tmp_path)
