from __future__ import annotations

from pathlib import Path

import pytest

from deniable.errors import InvalidParameter
from deniable.lab.baselines import (
    KEPT,
    Collection,
    IncognitoLike,
    VersatileSemantic,
    VersatileStatistical,
    WordNet,
)

pytest.importorskip("bm25s")


def collection() -> Collection:
    people = {
        f"p{i}": [["install", "printer", "driver", "ubuntu"], ["sound", "card", "broken"]] for i in range(30)
    }
    people["p0"].append(["wedding", "budapest", "printer", "driver"])
    return Collection(people)


def test_statistical_scrambling_releases_other_words_from_where_the_text_is_found() -> None:
    pytest.importorskip("nltk")
    scrambler = VersatileStatistical(collection())
    assert all("printer" not in query for query in scrambler.candidates(["my", "printers", "fail"]))
    queries = scrambler.candidates(["printer"])
    words = {word for query in queries for word in query}
    assert words <= {"install", "driver", "ubuntu", "wedding", "budapest"}
    assert all(1 <= len(query) <= 3 for query in queries)
    assert len(queries) <= KEPT
    # "driver" stands beside "printer" always and elsewhere never; "sound" never does.
    assert scrambler.scramble([["printer"], ["unheard"]])[1] == []
    assert not {"sound", "card"} & set(scrambler.scramble([["printer"]])[0])


def test_rare_and_linkable_words_are_sensitive() -> None:
    scrambler = IncognitoLike(collection())
    assert all(scrambler.sensitive(word) for word in ("nowhere", "http://x.org", "555"))
    assert not scrambler.sensitive("printer")
    assert scrambler.scramble([["my", "printer", "sound", "4711"]]) == [["printer", "sound"]]
    assert scrambler.name == "Incognito-like (without noise)"


def test_noise_adds_frequent_words_and_keeps_the_rest_in_order() -> None:
    released = IncognitoLike(collection(), noise=2.0, seed=3).scramble([["printer", "sound"]] * 20)
    assert sum(len(text) for text in released) > 60
    assert all(text.index("printer") <= len(text) - 1 - text[::-1].index("sound") for text in released)
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
    scrambler = VersatileSemantic(Ladder(), depth=2)  # type: ignore[arg-type]
    assert scrambler.scramble([["the", "poodle", "zork", "animal"]]) == [["the", "animal", "zork", "thing"]]


def test_a_folder_without_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"data\.noun"):
        WordNet(tmp_path)
