"""The page of a tuned space says what it must, whatever names and words it is given, and loads nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deniable.audit.named import NamedShares
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.tuning.findings import (
    AttackFinding,
    AttributeFinding,
    AttributeReading,
    Counts,
    Isolated,
    Sample,
    TuningFindings,
)
from deniable.tuning.page import tuning_page
from deniable.tuning.search import Point, Space, Trial
from deniable.utility.accuracy import DecodingEffort
from deniable.utility.summary import MeasuredEmbedding
from tests.report.html_check import outline
from tests.report.test_page import HOSTILE
from tests.support.made_purpose import made_embedding

BLIND = NamedShares(words=0.05, kinds=0.12, judged=40_000, judged_kinds=20_000)


def named(words: float, kinds: float) -> NamedShares:
    return replace(BLIND, words=words, kinds=kinds)


def attribute(name: str, shaped: float) -> AttributeFinding:
    one, other = (
        AttributeReading(accuracy=each, lowest=each, highest=each, reading="decoded")
        for each in (shaped, shaped - 0.1)
    )
    return AttributeFinding(
        name=name, values=4, judged=300, original=0.85, majority=0.25, shaped=one, as_it_is=other
    )


def told(share: float) -> dict[str, float]:
    return {"as_released": share - 0.1, "decoded": share - 0.05, "mean_vectors": share}


def tried(dimension: int | None, strength: float | None, accuracy: float) -> Trial:
    points = tuple(
        Point(epsilon=epsilon, attacker=epsilon / 40, unchanged=0.1, told=told(accuracy + epsilon / 100))
        for epsilon in (2.0, 3.0, 4.0)
    )
    space = Space(embedding=made_embedding(), dimension=dimension, strength=strength)
    return Trial(space=space, epsilon=3.0, accuracy=accuracy, points=points)


def findings(text: str = "word") -> TuningFindings:
    effort = DecodingEffort(support=3_000, directions=60)
    return TuningFindings(
        source=text,
        sha256="0" * 64,
        public=text,
        mechanism=ChosenMechanism(),
        embedding=MeasuredEmbedding(name=text, fingerprint="1" * 32, words=50_000, dimension=50),
        reading="context",
        target=0.1,
        space=Space(embedding=made_embedding(), dimension=16, strength=2.0),
        epsilon=2.54,
        epsilon_as_it_is=5.16,
        label=attribute(text, 0.7),
        others=(
            attribute(text, 0.4),
            AttributeFinding(name=text, values=1, judged=0, problem="there is nothing to learn"),
        ),
        kinds="100 clusters of the public vectors; 150 frequent words stand apart",
        blind=BLIND,
        shaped=AttackFinding(alone=named(0.09, 0.3), in_context=named(0.08, 0.31)),
        as_it_is=AttackFinding(alone=named(0.095, 0.25), in_context=named(0.1, 0.26)),
        tried=(tried(None, None, 0.5), tried(16, None, 0.6), tried(16, 2.0, 0.7), tried(16, 4.0, 0.69)),
        samples=(Sample(original=text, shaped=text, as_it_is=text),),
        counts=Counts(
            texts=2_000,
            left_out=3,
            shape=800,
            learn=600,
            choose=300,
            judge=300,
            attacked_words=41_000,
            unknown=0.02,
        ),
        quick=effort,
        thorough=effort,
        runs=2,
    )


def page(text: str = "word") -> str:
    return tuning_page(
        findings(text), name="tuned", isolated=Isolated(count=2, words=50_000, shown=(text, text))
    ).html()


def test_names_and_words_are_only_shown() -> None:
    plain, hostile = outline(page()), outline(page(HOSTILE))
    assert hostile.tags == plain.tags
    assert hostile.attributes == plain.attributes
    assert "{{ 7 * 7 }}" in hostile.text


def test_the_page_is_well_formed_and_loads_nothing() -> None:
    found = outline(page())
    assert found.problems == []
    assert found.outside == []
    assert found.tags.count("svg") == 1
    assert any("chosen space: from" in label for label in found.labels)


def test_what_survives_by_design_is_said_before_all_else_and_what_is_worse_is_said_too() -> None:
    text = outline(page()).text
    places = [
        text.index(heading)
        for heading in ("What survives by design", "What else survives", "What an attacker names")
    ]
    assert places == sorted(places)
    assert "shows more of the kinds of words than the one without the map" in text
    assert "Context did not help here" in text
    assert "was not measured: there is nothing to learn" in text
    assert "70.0 % (decoded)" in text
    assert "--protect nearest" in text


def test_what_is_wrong_with_the_labels_is_said_on_the_page_and_in_json() -> None:
    said = "the labels of a.csv cannot be told"
    found = replace(findings(), warnings=(said,))
    assert "The labels of a.csv cannot be told" in outline(tuning_page(found, name="tuned").html()).text
    assert "cannot be told" not in outline(page()).text
    assert (found.to_dict()["warnings"], findings().to_dict()["warnings"]) == ([said], [])


def test_the_page_leads_with_the_attacker_who_names_most() -> None:
    stronger = AttackFinding(alone=named(0.07, 0.3), in_context=named(0.093, 0.28))
    text = outline(tuning_page(replace(findings(), shaped=stronger), name="tuned").html()).text
    assert "An attacker who reads in context names 9.3 % of the words" in text
    assert "An attacker who looks at single words names 9 % of the words" in outline(page()).text
    assert (stronger.words, stronger.kinds) == (0.093, 0.3)
    assert "in the better of the two ways" in text


def test_the_page_says_on_which_attacker_spaces_were_matched() -> None:
    words, kinds = (
        tuning_page(replace(findings(), reading=reading), name="tuned") for reading in ("named", "kinds")
    )
    of_words, of_kinds = outline(words.html()), outline(kinds.html())
    assert "named at most 10 % of the words, looking at each word by itself" in of_words.text
    assert "ε was matched on kinds" not in of_words.text
    assert (
        "ε was matched on kinds: of the kinds of less frequent words an attacker names 31 %; one who sees "
        "nothing, 12 %" in of_kinds.text
    )
    assert (
        "named at most 10 % of the kinds of less frequent words, in the better of the two ways"
        in of_kinds.text
    )
    assert "At an attacker who names 10 % of the kinds of less frequent words" in of_kinds.text
    assert "at an attacker who names as many kinds of less frequent words" in of_kinds.text
    assert any(
        "% of the kinds of less frequent words that an attacker names" in label for label in of_kinds.labels
    )
    assert "shows more of the kinds of words than the one without the map" not in of_kinds.text, (
        "it was brought to equal kinds"
    )
    more_words = AttackFinding(alone=named(0.15, 0.2), in_context=None)
    shown = outline(
        tuning_page(replace(findings(), reading="kinds", shaped=more_words), name="tuned").html()
    ).text
    assert (
        "At an equal share of kinds named, this space shows more of the words than the one without the map."
        in shown
    )


@pytest.mark.parametrize(
    ("change", "says", "not_said"),
    [
        ({"others": ()}, "Nothing else was measured", "These attributes were not declared"),
        (
            {"shaped": AttackFinding(alone=named(0.09, 0.2), in_context=None)},
            "No attacker in context was tried",
            "Context did not help",
        ),
        ({"blind": replace(BLIND, judged_kinds=0)}, "–", "of the kinds of less frequent words are named"),
    ],
)
def test_what_was_not_measured_is_said_to_be_so(change: dict[str, object], says: str, not_said: str) -> None:
    text = outline(tuning_page(replace(findings(), **change), name="tuned").html()).text  # type: ignore[arg-type]
    assert says in text
    assert not_said not in text


def test_the_commands_release_and_protect_with_the_mechanism_that_epsilon_was_matched_for() -> None:
    release = "privatize FILE --column TEXT --embedding tuned{} --epsilon 2.54 --never-release names -o OUT"
    assert release.format("") in outline(tuning_page(findings(), name="tuned").html()).text
    text = outline(page()).text
    assert (
        "calibrate --embedding tuned --epsilon 2.54 --max-unchanged 0.5 --protect nearest --as "
        "tuned-protected" in text
    )
    places = [
        text.index(each)
        for each in ("Words that hardly change", "--protect", release.format("-protected"), "The trade-off")
    ]
    assert places == sorted(places), "the command comes after the words that it protects"
    found = replace(
        findings(),
        mechanism=ChosenMechanism(name="santext-plus", options={"p": 0.3, "sensitive": ["wordaa"]}),
    )
    text = outline(
        tuning_page(found, name="tuned", isolated=Isolated(count=2, words=50_000, shown=("word",))).html()
    ).text
    for command in (
        "privatize FILE --column TEXT --embedding tuned-protected",
        "calibrate --embedding tuned",
    ):
        assert f"{command} --mechanism santext-plus -O p=0.3 -O sensitive=… --epsilon 2.54" in text
    assert "Mechanism: santext-plus (" in text
    assert (found.to_dict()["mechanism"], found.to_dict()["mechanism_options"]) == (
        "santext-plus",
        {"p": 0.3, "sensitive": "…"},
    )


def test_a_page_without_a_calibration_says_that_words_were_not_looked_at() -> None:
    text = outline(tuning_page(findings(), name="tuned").html()).text
    assert (
        "This was not measured. To know them before the release: deniable calibrate --embedding tuned "
        "--epsilon 2.54" in text
    )
