"""Released text is read as it stands and decoded: by the definition, where it must help and where it cannot,
chosen without the judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import Embedding
from deniable.arrays import Ids
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channels
from deniable.decoding.channel_decoder import ChannelDecoder
from deniable.decoding.priors import first_shares
from deniable.interfaces import Mechanism
from deniable.measures.texts import Texts
from deniable.mechanisms.santext import SanText
from deniable.records.reading import LabelledTexts
from deniable.utility import measurement
from deniable.utility.accuracy import (
    AS_RELEASED,
    DECODED,
    Version,
    expected_counts,
    stratified_split,
    whole_counts,
)
from deniable.utility.findings import CHOSEN, Choice, Decoding, Findings
from deniable.utility.measurement import Measured, choose, measure, numbered
from deniable.utility.page import utility_page
from deniable.utility.summary import Outcome, points_of
from tests.decoding.direct import posterior, updated
from tests.support.made_mixture import MIXING, SANTEXT, sided_rows, two_clouds
from tests.support.made_texts import made_rows
from tests.utility.test_measurement import ABOUT

HUGE = 1e6


def classified(rows: list[tuple[str, str]]) -> LabelledTexts:
    labels, texts = map(list, zip(*rows, strict=True))
    return LabelledTexts(source="made", texts=texts, labels=labels)


def open_channels(embedding: Embedding, epsilons: Sequence[float]) -> dict[float, Channel]:
    made = make_channels(embedding, SANTEXT, epsilons=list(epsilons), directions=200, keep=False)
    return dict(zip(epsilons, made, strict=True))


def measured_in(
    rows: list[tuple[str, str]], embedding: Embedding, *epsilons: float, runs: int = 2
) -> Measured:
    channels = open_channels(embedding, epsilons)
    mechanisms: dict[float, Mechanism] = {
        epsilon: SanText(embedding, epsilon=epsilon) for epsilon in epsilons
    }
    return measure(
        classified(rows),
        mechanisms,
        open_channel=lambda epsilon, _: channels[epsilon],
        runs=runs,
        held_out=0.25,
    )


def accuracies(outcomes: list[Outcome], at: str) -> list[float]:
    return [outcome.scores["accuracy"] for outcome in outcomes if outcome.at == at]


def test_expected_counts_are_those_of_the_definition() -> None:
    vectors = np.random.default_rng(1).standard_normal((6, 2))
    embedding = Embedding(list("abcdef"), vectors, name="tiny")
    channel = open_channels(embedding, [3.0])[3.0]
    rng = np.random.default_rng(2)
    released = [rng.choice(list("aabbbcdef"), 4).tolist() for _ in range(200)]
    texts = [" ".join(words) for words in released]
    matrix = np.zeros((7, 6))
    for row, (outputs, chances) in zip(
        matrix, SanText(embedding, epsilon=3.0).probabilities(channel.inputs), strict=True
    ):
        row[outputs] = chances
    counts = np.array([[words.count(word) for word in "abcdef"] for words in released], dtype=float)
    start = first_shares(channel)
    prior, steps = start, ChannelDecoder.learn_from(channel, texts, start=start, most_steps=60).learnt.steps
    for _ in range(steps):
        prior = updated(matrix, prior, counts.sum(axis=0))
    wanted = np.zeros((200, 7))
    wanted[:, channel.inputs] = counts @ posterior(matrix, prior)
    found = expected_counts(released, channel).toarray()
    assert np.abs(found - wanted).max() < 0.01  # the channel leaves a thousandth out
    for wrong in (start, np.full(7, 1 / 7), prior[::-1]):
        assert np.abs(found[:, channel.inputs] - counts @ posterior(matrix, wrong)).max() > 0.05


def test_whole_counts_are_those_of_the_words() -> None:
    embedding = Embedding(["a", "b"], np.eye(2))
    ids, starts = np.array([0, 1, 0, 2], dtype=np.int64), np.array([0, 3, 3, 4], dtype=np.int64)
    assert whole_counts(ids, starts, embedding).toarray().tolist() == [
        [2.0, 1.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0],
    ]
    assert ids.tolist() == [0, 1, 0, 2]


def test_decoding_helps_where_released_forms_mix_and_the_validation_texts_say_so() -> None:
    found = measured_in(sided_rows(160), two_clouds(), MIXING)
    # Of the 60 learnt words of a class few are met again among 150 around it.
    assert max(accuracies(found.outcomes[AS_RELEASED], "both")) < 0.9
    for at in ("train", "test", "both"):
        assert min(accuracies(found.outcomes[DECODED], at)) > 0.95, at
    for at in (
        "test",
        "both",
    ):  # a release that holds the two words themselves here and there is enough for original text
        assert {choice.reading for choice in found.choices if choice.at == at} == {DECODED}, at
        assert accuracies(found.outcomes[CHOSEN], at) == accuracies(found.outcomes[DECODED], at)


def test_decoding_gains_nothing_where_nothing_changed(two_kinds: Embedding) -> None:
    found = measured_in(made_rows(120), two_kinds, HUGE)
    for at in ("train", "test", "both"):
        assert np.mean(accuracies(found.outcomes[DECODED], at)) == pytest.approx(
            np.mean(accuracies(found.outcomes[AS_RELEASED], at)), abs=0.1
        )


def test_decoding_cannot_help_where_the_output_says_nothing(two_kinds: Embedding) -> None:
    found = measured_in(made_rows(400), two_kinds, 1e-6)
    # 200 coin flips lie outside this once in a million times.
    assert all(
        0.3 < np.mean(accuracies(outcomes, at)) < 0.7
        for outcomes in (found.outcomes[AS_RELEASED], found.outcomes[DECODED])
        for at in ("test", "both")
    )


def test_labels_of_judged_texts_have_no_say_in_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding, data = two_clouds(30), classified(made_labels())
    mechanism = SanText(embedding, epsilon=MIXING)
    channels = open_channels(embedding, [MIXING])
    learnt, judged = stratified_split(numbered(data), 0.25, seed=1)

    def split(labels: Ids, held_out: float, *, seed: int) -> tuple[Ids, Ids]:
        return (
            (learnt, judged)
            if len(labels) == len(data.labels)
            else stratified_split(labels, held_out, seed=seed)
        )

    def released(texts: Texts, mechanism: Mechanism, *, threads: int = 1) -> Version:
        return Version(texts.released(Draws(mechanism, seed=5).of_each(texts.ids), embedding), embedding)

    monkeypatch.setattr(measurement, "stratified_split", split)
    monkeypatch.setattr(measurement, "release_texts", released)

    def found_with(changed: Ids) -> Measured:
        labels = np.array(data.labels)
        labels[changed] = np.where(labels[changed] == "yes", "no", "yes")
        return measure(
            replace(data, labels=labels.tolist()),
            {MIXING: mechanism},
            open_channel=lambda epsilon, _: channels[epsilon],
            runs=1,
            held_out=0.25,
        )

    plain, other = found_with(judged[:0]), found_with(judged)
    assert plain.choices == other.choices
    assert len(plain.choices) == 3
    assert accuracies(plain.outcomes[DECODED], "both") != accuracies(other.outcomes[DECODED], "both"), (
        "the labels that changed are judged"
    )
    assert plain.choices != found_with(learnt[: len(learnt) // 3]).choices, (
        "labels of texts to learn from have their say"
    )


def made_labels() -> list[tuple[str, str]]:
    """Texts of one word whose label is wrong one time in five, so that accuracies are neither 0 nor 1."""
    rng = np.random.default_rng(3)
    flipped = {"no": "yes", "yes": "no"}
    return [(flipped[label] if rng.random() < 0.2 else label, text) for label, text in sided_rows(160)]


@pytest.mark.parametrize(
    ("validation", "reading"),
    [
        ({AS_RELEASED: 0.7, DECODED: 0.8}, DECODED),
        ({AS_RELEASED: 0.8, DECODED: 0.7}, AS_RELEASED),
        ({AS_RELEASED: 0.8, DECODED: 0.8}, AS_RELEASED),
        ({}, AS_RELEASED),
    ],
)
def test_the_better_reading_on_validation_texts_is_chosen(validation: dict[str, float], reading: str) -> None:
    assert choose("both", 1.0, 1, validation).reading == reading


def made_findings(
    released: float, decoded: float, *readings: Any, epsilons: tuple[float, ...] = (1.0,)
) -> Findings:
    """Return findings at every ε of as many runs as readings are given, which each run chose; accuracies are
    alike at all places."""

    def outcomes(accuracy: float) -> list[Outcome]:
        return [
            Outcome(
                at=at,
                epsilon=epsilon,
                run=run,
                scores={"accuracy": accuracy, "macro F1": accuracy},
                words={"all": 9},
                changed={"all": 0.5},
            )
            for epsilon in epsilons
            for run in range(1, len(readings) + 1)
            for at in ("train", "test", "both")
        ]

    clean = Outcome(
        at="nowhere",
        epsilon=None,
        run=1,
        scores={"accuracy": 0.9, "macro F1": 0.9},
        words={"all": 0},
        changed={"all": 0.0},
    )
    choices = [
        Choice(at=at, epsilon=epsilon, run=run, reading=reading, validation={AS_RELEASED: 0.5, DECODED: 0.6})
        for epsilon in epsilons
        for run, reading in enumerate(readings, 1)
        for at in ("train", "test", "both")
    ]
    both: dict[str, list[Outcome]] = {AS_RELEASED: outcomes(released), DECODED: outcomes(decoded)}
    taken = {(each.at, each.epsilon, each.run): each.reading for each in choices}
    both[CHOSEN] = [
        each
        for name in (AS_RELEASED, DECODED)
        for each in both[name]
        if taken[each.at, each.epsilon or 0.0, each.run] == name
    ]
    both[AS_RELEASED].append(clean)
    return Findings(
        points={name: points_of(each) for name, each in both.items()},
        decoding=Decoding(support=40, directions=9, method="rays"),
        choices=choices,
        unchanged=dict.fromkeys(epsilons, 0.5),
        majority={"accuracy": 0.5},
        acceptable_loss=0.02,
        about=ABOUT,
    )


def test_the_answer_is_that_of_the_chosen_reading_even_if_the_other_is_better_on_judged_texts() -> None:
    right, wrong = made_findings(0.7, 0.89, DECODED), made_findings(0.7, 0.89, AS_RELEASED)
    assert right.smallest_acceptable() is not None
    assert wrong.smallest_acceptable() is None
    assert "0.890 accuracy against 0.900 (read decoded, as validation texts advise)" in right.headline
    assert wrong.headline.startswith("At no ε looked at")
    for found in (right, wrong):
        assert (
            "Decoding the release first gained 19.0 points; at ε = 1: 0.890 instead of 0.700."
            in found.headline
        )
        assert found.to_dict()["smallest_acceptable_epsilon_by_reading"] == {
            "as released": None,
            "decoded": 1.0,
        }
    assert "gained nothing (-2.0 points)" in made_findings(0.9, 0.88, AS_RELEASED).headline


@pytest.mark.parametrize(
    ("judged", "runs", "epsilons", "chance"),
    [(100, 3, 1, True), (1_000, 3, 1, False), (100, 3, 9, False), (300, 9, 1, False)],
)
def test_a_gain_that_few_judged_texts_give_by_chance_is_called_that(
    judged: int, runs: int, epsilons: int, chance: bool
) -> None:
    made = made_findings(0.60, 0.65, DECODED, epsilons=tuple(float(each) for each in range(1, epsilons + 1)))
    found = replace(made, about=replace(made.about, judged=judged, runs=runs))
    assert ("which may be chance" in found.gain) == chance
    assert (f"{judged:,} texts judged in each of {runs} runs" in found.gain) == chance
    assert "gained 5.0 points" in found.gain


def test_runs_that_choose_differently_are_told_and_averaged() -> None:
    found = made_findings(0.7, 0.8, DECODED, AS_RELEASED)
    assert found.at("both", CHOSEN)[0].scores["accuracy"] in ([0.7, 0.8], [0.8, 0.7])
    assert found.choice_at(found.at("both")[0]) == "decoded in 1 of 2 runs"
    assert "| decoded in 1 of 2 runs |" in found.table()


def test_table_page_json_and_figure_show_both_readings() -> None:
    found = made_findings(0.7, 0.89, DECODED)
    assert "| accuracy | macro F1 | accuracy, decoded | macro F1, decoded | chosen reading |" in found.table()
    assert "| 0.700 | 0.700 | 0.890 | 0.890 | decoded |" in found.table()
    answer = found.to_dict()
    assert [(point["at"], point["reading"]) for point in answer["points"]] == [
        (at, AS_RELEASED) for at in ("nowhere", "train", "test", "both")
    ]
    assert [(point["at"], point["reading"]) for point in answer["decoded_points"]] == [
        (at, DECODED) for at in ("train", "test", "both")
    ]
    assert answer["decoding"]["choices"][0]["validation"] == {AS_RELEASED: 0.5, DECODED: 0.6}
    html = utility_page(made_findings(0.7, 0.89, DECODED, epsilons=(1.0, 2.0))).html()
    for words in (
        "Decoded text",
        "gained 19.0 points",
        "accuracy, decoded",
        "perturbed at both times, decoded",
    ):
        assert words in html, words


def test_without_decoding_nothing_speaks_of_it(tmp_path: Path) -> None:
    made = made_findings(0.7, 0.89, DECODED)
    found = replace(
        made,
        points={AS_RELEASED: made.points[AS_RELEASED]},
        choices=(),
        decoding=None,
        about=replace(ABOUT, not_decoded="made up"),
    )
    assert found.gain == ""
    assert found.smallest_acceptable() is None
    assert "decoded |" not in found.table()
    assert "Words as released only: made up." in found.table()
    answer = found.to_dict()
    assert (answer["decoding"], answer["decoded_points"], answer["not_decoded"]) == (None, [], "made up")
    html = utility_page(found).html()
    assert "made up" in html
    assert "Decoded text" not in html
