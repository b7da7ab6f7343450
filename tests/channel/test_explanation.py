from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from scipy.stats import laplace

from deniable import CusText, Embedding, InvalidParameter, Multivariate
from deniable.channel.explanation import explain_word, explain_words
from deniable.mechanisms.catalogue import make_mechanism
from tests.support.commands import deniable
from tests.support.strategies import line_embedding, random_embedding


def test_the_shares_are_those_of_the_mechanism() -> None:
    embedding = line_embedding(-1.0, 0.0, 2.0)
    explanation = explain_word(Multivariate(embedding, epsilon=0.8), "B", draws=50_000)
    cells = laplace(scale=1 / 0.8).cdf(np.array([-0.5, 1.0]))
    expected = {"a": cells[0], "b": cells[1] - cells[0], "c": 1 - cells[1]}
    for outcome in explanation.outcomes:
        assert abs(outcome.probability - expected[outcome.word]) <= 5 * outcome.standard_error + 1e-12
    assert explanation.word == "b"
    assert explanation.unchanged is not None
    assert explanation.unchanged.probability == {o.word: o.probability for o in explanation.outcomes}["b"]
    assert explanation.distinct == 3


def test_neighbours_come_nearest_first_without_the_word_itself() -> None:
    explanation = explain_word(Multivariate(line_embedding(-1.0, 0.0, 2.0), epsilon=3), "b", draws=10)
    assert [(n.word, n.distance, n.bound) for n in explanation.neighbours] == [
        ("a", 1.0, 3.0),
        ("c", 2.0, 6.0),
    ]


def test_an_unknown_word_is_explained_as_the_unknown_word() -> None:
    explanation = explain_word(Multivariate(random_embedding(20, 3), epsilon=3), "secret", draws=100)
    assert not explanation.known
    assert explanation.unchanged is None
    assert len(explanation.neighbours) == 10


@pytest.mark.parametrize(("name", "value"), [("draws", 0), ("top", 0), ("draws", 1.5)])
def test_bad_numbers_are_refused(name: str, value: float) -> None:
    with pytest.raises(InvalidParameter, match=name):
        explain_word(Multivariate(random_embedding(3, 2), epsilon=1), "w0", **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "...", "don't", "new york"])
def test_what_is_not_one_word_in_a_text_is_refused(text: str) -> None:
    mechanism = Multivariate(Embedding(["do", "n't", "new"], [[0.0], [1.0], [2.0]]), epsilon=1)
    with pytest.raises(InvalidParameter, match="word"):
        explain_word(mechanism, text)


def test_the_command_shows_a_table_and_gives_json() -> None:
    shown = deniable("explain", "hockey", "--epsilon", "6", "--effort", "500")
    assert shown.returncode == 0
    assert "stays itself" in shown.stdout
    assert "basketball" in shown.stdout
    data = json.loads(deniable("explain", "hockey", "--epsilon", "6", "--effort", "500", "--json").stdout)
    assert data["word"] == "hockey"
    assert 0 < data["unchanged"]["probability"] < 1


def test_several_words_and_files_of_words_are_one_table_of_those_that_stay_most_first(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Hockey\nzorblatt7\nNew York\n", encoding="utf-8")
    given = [
        "explain",
        "the",
        "hockey",
        "--words",
        str(tmp_path / "names.txt"),
        "--epsilon",
        "6",
        "--effort",
        "100",
    ]
    data = json.loads(deniable(*given, "--json").stdout)
    assert [each["word"] for each in data] == ["the", "hockey", "zorblatt7", "new", "york"]
    assert [each["known"] for each in data] == [True, True, False, True, True]
    shown = deniable(*given).stdout.splitlines()
    table = [line for line in shown if line.split(" ")[0] in {"the", "hockey", "zorblatt7", "new", "york"}]
    shares = [float(line.split()[1]) for line in table[:-1]]
    assert shares == sorted(shares, reverse=True)
    assert table[-1].split()[:3] == ["zorblatt7", "unknown:", "⊥"]


def test_a_word_of_a_list_is_explained_as_it_is_alone() -> None:
    mechanism = make_mechanism("santext", random_embedding(40, 3), epsilon=2)
    alone = [explain_word(mechanism, word, draws=10) for word in ("w3", "w5")]
    for found, expected in zip(explain_words(mechanism, ["w3 w5", "w3"], draws=10), alone, strict=True):
        assert (found.word, found.outcomes, found.neighbours) == (
            expected.word,
            expected.outcomes,
            expected.neighbours,
        )
    with pytest.raises(InvalidParameter, match="no word to explain"):
        explain_words(mechanism, [" "])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explain", "x", "--epsilon", "0"], "epsilon"),
        (["explain", "x", "--epsilon", "nan"], "epsilon"),
        (["explain", "x"], "epsilon"),
        (["explain", "--epsilon", "3"], "name one or more words"),
        (["explain", "--epsilon", "3", "--words", "absent.txt"], "absent.txt"),
        (["explain", "x", "--epsilon", "3", "--embedding", "absent"], "absent"),
    ],
)
def test_wrong_usage_is_one_clear_message_and_exit_code_2(arguments: list[str], says: str) -> None:
    failed = deniable(*arguments)
    assert failed.returncode == 2
    assert says in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_bound_that_there_is_not_is_none_in_json() -> None:
    explanation = explain_word(CusText(random_embedding(40, 3), epsilon=2, k=4), "w3", draws=10)
    bounds = {
        neighbour["bound"]
        for neighbour in json.loads(json.dumps(explanation.to_dict(), allow_nan=False))["neighbours"]
    }
    assert None in bounds
    assert bounds <= {None, 2.0}


@pytest.mark.parametrize("by", ["nearest", "unknown"])
def test_a_protected_word_is_said_to_go_in_as_another(
    by: Literal["nearest", "unknown"], capsys: pytest.CaptureFixture[str]
) -> None:
    from deniable.calibration.choice import protect
    from deniable.cli.explain import _show

    plain = random_embedding(60, 4)
    safe = protect(plain, np.array([7]), by=by)
    mechanism = Multivariate(safe, epsilon=3.0)
    found = explain_word(mechanism, plain.words[7], draws=50)
    stand_in = int(safe.stands_in(np.array([7]))[0])
    assert found.goes_in_as == ("⊥" if by == "unknown" else plain.words[stand_in])
    assert found.to_dict()["goes_in_as"] == found.goes_in_as
    _show(found, mechanism)
    assert f"it is protected: it goes in as “{found.goes_in_as}”" in " ".join(capsys.readouterr().out.split())
    other = explain_word(mechanism, plain.words[8], draws=50)
    assert other.goes_in_as is None
    assert "goes_in_as" not in other.to_dict()
