"""The page of a tuned space says what it must, whatever names and words it is given, and loads nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deniable.audit.named import NamedShares
from deniable.measures.catalogue import Setting
from deniable.measures.estimate import Estimate
from deniable.measures.sweep import Row
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
from deniable.tuning.search import READINGS, Space, Trial
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


def share(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value, blind=0.0)


def tried(dimension: int | None, strength: float | None, accuracy: float) -> Trial:
    space = Space(embedding=made_embedding(), dimension=dimension, strength=strength)
    rows = []
    for epsilon in (2.0, 3.0, 4.0):
        told = share(accuracy + epsilon / 100)
        found = {"attacker": share(epsilon / 40), "unchanged": share(0.1)} | dict.fromkeys(READINGS, told)
        rows.append(Row(Setting(embedding=space.embedding, epsilon=epsilon), found))
    return Trial(space=space, epsilon=3.0, accuracy=accuracy, rows=tuple(rows))


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
    isolated = Isolated(count=2, words=50_000, shown=(text, text))
    return tuning_page(findings(text), name="tuned", isolated=isolated).html()


def said_with(**change: object) -> str:
    """Return the text of the page of other findings."""
    return outline(tuning_page(replace(findings(), **change), name="tuned").html()).text  # type: ignore[arg-type]


def test_the_page_is_well_formed_loads_nothing_and_only_shows_names_and_words() -> None:
    plain, hostile = outline(page()), outline(page(HOSTILE))
    assert (hostile.tags, hostile.attributes) == (plain.tags, plain.attributes)
    assert "{{ 7 * 7 }}" in hostile.text
    assert (plain.problems, plain.outside, plain.tags.count("svg")) == ([], [], 1)
    assert any("chosen space: from" in label for label in plain.labels)


def test_what_is_wrong_with_the_labels_is_said_on_the_page_and_in_json() -> None:
    said = "the labels of a.csv cannot be told"
    assert "The labels of a.csv cannot be told" in said_with(warnings=(said,))
    assert "cannot be told" not in outline(page()).text
    found = replace(findings(), warnings=(said,))
    assert (found.to_dict()["warnings"], findings().to_dict()["warnings"]) == ([said], [])


def test_the_better_way_to_read_leads_and_the_page_names_what_was_matched() -> None:
    stronger = AttackFinding(alone=named(0.07, 0.3), in_context=named(0.093, 0.28))
    assert (stronger.words, stronger.kinds) == (0.093, 0.3)
    assert "reads in context names 9.3 %" in said_with(shaped=stronger)
    assert "looks at single words names 9 %" in said_with()
    assert "ε was matched on kinds" not in said_with(reading="named")
    assert "ε was matched on kinds" in said_with(reading="kinds")


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
        ({}, "This was not measured. To know them before the release: deniable calibrate", "--protect"),
    ],
)
def test_what_was_not_measured_is_said_to_be_so(change: dict[str, object], says: str, not_said: str) -> None:
    text = said_with(**change)
    assert says in text
    assert not_said not in text


def test_the_commands_release_and_protect_with_the_mechanism_that_epsilon_was_matched_for() -> None:
    release = "privatize FILE --column TEXT --embedding tuned{} --epsilon 2.54 --never-release names -o OUT"
    protect = "calibrate --embedding tuned --epsilon 2.54 --max-unchanged 0.5 --protect nearest --as tuned-"
    assert release.format("") in said_with()
    text = outline(page()).text
    parts = ("Words that hardly change", protect, release.format("-protected"), "The trade-off")
    places = [text.index(each) for each in parts]
    assert places == sorted(places), "the command comes after the words that it protects"
    other = ChosenMechanism(name="santext-plus", options={"p": 0.3, "sensitive": ["wordaa"]})
    found, isolated = replace(findings(), mechanism=other), Isolated(count=2, words=50_000, shown=("word",))
    text = outline(tuning_page(found, name="tuned", isolated=isolated).html()).text
    for command in (
        "privatize FILE --column TEXT --embedding tuned-protected",
        "calibrate --embedding tuned",
    ):
        assert f"{command} --mechanism santext-plus -O p=0.3 -O sensitive=… --epsilon 2.54" in text
    shown = found.to_dict()
    assert (shown["mechanism"], shown["mechanism_options"]) == ("santext-plus", {"p": 0.3, "sensitive": "…"})
