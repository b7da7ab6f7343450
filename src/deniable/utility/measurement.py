"""Learns from the original and from releases of labelled texts, judges both, and repeats it with fresh noise
and another split.

Messages never show a label or a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Unpack

import numpy as np

from deniable.arrays import Ids
from deniable.calibration.run import SHARES, sampled, source_of
from deniable.channel.channel import Channel
from deniable.channel.making import DIRECTIONS
from deniable.decoding.priors import SUPPORT
from deniable.embeddings.embedding import Embedding
from deniable.errors import TaskDataError
from deniable.interfaces import Mechanism
from deniable.measures.texts import cut_texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours.threads import threads as threads_of_this_process
from deniable.parameters import validated_count, validated_epsilon, validated_share
from deniable.progress import Report, part_of
from deniable.records.formats.layout import ReadingOptions
from deniable.records.reading import LabelledTexts, labelled_records
from deniable.utility.accuracy import (
    AS_RELEASED,
    DECODED,
    MODEL,
    PLACES,
    Accuracy,
    DecodingEffort,
    Reading,
    Version,
    open_channel_of,
    release_texts,
    stratified_split,
)
from deniable.utility.classifiers import class_scores, sklearn
from deniable.utility.findings import CHOSEN, Choice, Circumstances, Decoding, Findings
from deniable.utility.summary import MeasuredEmbedding, Outcome, points_of

VALIDATION = 0.25
"""The share of the texts to learn from by which a reading is chosen."""

FEWEST_TEXTS, FEWEST_OF_A_CLASS = 20, 4

_NOT_ASKED_FOR = "decoding was switched off"


def read_classified(
    path: Path,
    *,
    text_column: str,
    label_column: str,
    most: int | None = None,
    **reading: Unpack[ReadingOptions],
) -> LabelledTexts:
    """Return the texts of a file; at most ``most`` of them, drawn at random.

    :raises InvalidParameter: if a column is not there.
    :raises RecordError: if the file cannot be read.
    :raises TaskDataError: if nothing can be learnt from it: too few texts, one class, or classes with hardly
        a text.
    """
    records = list(labelled_records(path, label_column=label_column, text_column=text_column, **reading))
    usable = [(label, text) for label, text in records if label.strip() and text.strip()]
    left_out = len(records) - len(usable)
    if not any(label.strip() for label, _ in records):
        raise TaskDataError(path, f"none of its {len(records):,} records has a label in {label_column!r}")
    if not usable:
        raise TaskDataError(
            path, f"none of its {len(records):,} records has both a label and a text that is not empty"
        )
    if most is not None and validated_count(most, "texts") < len(usable):
        places = np.sort(np.random.default_rng(0).choice(len(usable), most, replace=False))
        usable = [usable[place] for place in places]
    labels, chosen = map(list, zip(*usable, strict=True))
    _check(path, Counter(labels), left_out)
    return LabelledTexts(source=str(path), labels=labels, texts=chosen, left_out=left_out)


def numbered(data: LabelledTexts) -> Ids:
    """Return the number of the class of each text, from 0."""
    return np.unique(np.array(data.labels), return_inverse=True)[1].astype(np.int64)


def _check(path: Path, counts: Counter[str], left_out: int) -> None:
    total = counts.total()
    besides = f" ({left_out:,} records without a text or a label were left out)" if left_out else ""
    rare = sum(count < FEWEST_OF_A_CLASS for count in counts.values())
    problem = ""
    if total < FEWEST_TEXTS:
        problem = (
            f"has {total} texts to learn from{besides}; "
            f"it needs at least {FEWEST_TEXTS}, better a few hundred"
        )
    elif len(counts) == 1:
        problem = f"all {total:,} texts have the same label{besides}; a classifier needs two classes or more"
    elif rare:
        problem = (
            f"{rare:,} of its {len(counts):,} labels have fewer than {FEWEST_OF_A_CLASS} "
            f"of the {total:,} texts; "
            "remove those texts or merge the labels, and check that the column holds classes"
        )
    if problem:
        raise TaskDataError(path, problem)


def measure_utility(
    data: str | Path,
    *,
    text_column: str,
    label_column: str,
    epsilons: Sequence[float] = (),
    embedding: str | Path | Embedding = "default",
    mechanism: ChosenMechanism | None = None,
    runs: int = 3,
    held_out: float = 0.25,
    texts: int | None = None,
    acceptable_loss: float = 0.02,
    decode: bool = True,
    support: int = SUPPORT,
    directions: int = DIRECTIONS,
    channel_report: Report | None = None,
    report: Report | None = None,
    **reading: Unpack[ReadingOptions],
) -> Findings:
    """Measure what ε costs a classifier on the labelled texts of a file: learn from released and original
    text, judge both.

    Without ``epsilons``, the values are those at which an average word stays itself in 5, 25, 50, 75, 95 and
    99 % of the draws. Everything is done ``runs`` times, with fresh noise and another ``held_out`` share of
    every class to judge by, on at most ``texts`` texts. The advice accepts ``acceptable_loss`` of accuracy,
    and is for somebody who is given released text only.

    Released text is read as released and decoded, whichever is better on a part of the texts to learn from.
    Decoding takes the first ``support`` words of the embedding for what may have gone in, and ``directions``
    rays, points or draws from each; ``decode=False`` leaves it out. ``channel_report`` receives the progress
    of channels, ``report`` that of releases, of which nothing is kept.

    :raises InvalidParameter: if a value is not allowed or a column is not there.
    :raises MissingExtra: if scikit-learn is not installed.
    :raises RecordError: if the file cannot be read.
    :raises TaskDataError: if nothing can be learnt from it: too few texts, one class, or classes with hardly
        a text.
    """
    runs, held_out = validated_count(runs, "runs"), validated_share(held_out, "held_out", below_one=True)
    acceptable_loss = validated_share(acceptable_loss, "acceptable_loss")
    values = sorted({validated_epsilon(e) for e in epsilons})
    effort = DecodingEffort(support=support, directions=directions)
    chosen = ChosenMechanism() if mechanism is None else mechanism
    classified = read_classified(
        Path(data), text_column=text_column, label_column=label_column, most=texts, **reading
    )
    space = embedding if isinstance(embedding, Embedding) else Embedding.open(embedding)
    sklearn("linear_model", "a classifier")
    sample, labels = sampled(space, chosen), numbered(classified)
    values = values or sorted({sample.epsilon_reaching(share) for share in SHARES})
    mechanisms = {value: chosen(space, epsilon=value) for value in values}

    def open_channel(epsilon: float, released: Sequence[Version]) -> Channel:
        part = None if channel_report is None else part_of(channel_report, values.index(epsilon), len(values))
        return open_channel_of(space, chosen, epsilon, effort, released, report=part)

    measured = measure(
        classified,
        mechanisms,
        open_channel=open_channel if decode else None,
        runs=runs,
        held_out=held_out,
        threads=threads_of_this_process(),
        report=report,
    )
    return Findings(
        points={name: points_of(outcomes) for name, outcomes in measured.outcomes.items()},
        decoding=measured.decoding,
        choices=measured.choices,
        unchanged={value: sample.average(value)[0] for value in values},
        majority=majority_scores(labels, held_out, runs=runs),
        acceptable_loss=acceptable_loss,
        about=Circumstances(
            texts=len(classified.texts),
            classes=len(set(classified.labels)),
            left_out=classified.left_out,
            model=MODEL,
            mechanism=chosen.name,
            mechanism_options=chosen.identity(space)["parameters"],
            embedding=MeasuredEmbedding.of(space),
            runs=runs,
            held_out=held_out,
            judged=len(stratified_split(labels, held_out, seed=1)[1]),
            average_unchanged_from=source_of(sample),
            not_decoded="" if decode else _NOT_ASKED_FOR,
        ),
    )


class Measured(NamedTuple):
    """One outcome for each run, ε and place, by reading; no choices where nothing was decoded."""

    outcomes: dict[str, list[Outcome]]
    choices: list[Choice]
    decoding: Decoding | None


def measure(
    data: LabelledTexts,
    mechanisms: Mapping[float, Mechanism],
    *,
    runs: int,
    held_out: float,
    open_channel: Callable[[float, Sequence[Version]], Channel] | None = None,
    threads: int = 1,
    report: Report | None = None,
) -> Measured:
    """Return one outcome for each run, ε and place: "nowhere", "train" (learn from released, judge original
    text), "test" (the other way round) or "both". With ``open_channel`` released text is decoded too, and
    every run chooses a reading on validation texts."""
    embedding = next(iter(mechanisms.values())).embedding
    original, labels = Version(cut_texts(data.texts, embedding), embedding), numbered(data)
    readings: list[Reading] = [AS_RELEASED] if open_channel is None else [AS_RELEASED, DECODED]

    def accuracies(learnt: Ids, judged: Ids) -> dict[Reading, Accuracy]:
        return {each: Accuracy(original, labels, learnt, judged, reading=each) for each in readings}

    trials, choices = [], list[Choice]()
    outcomes: dict[str, list[Outcome]] = {AS_RELEASED: []}
    if open_channel is not None:
        outcomes |= {DECODED: [], CHOSEN: []}
    for run in range(1, runs + 1):
        learnt, judged = stratified_split(labels, held_out, seed=run)
        rest, validation = stratified_split(labels[learnt], VALIDATION, seed=run)
        judges = accuracies(learnt, judged)
        validators = accuracies(learnt[rest], learnt[validation]) if len(validation) else {}
        clean = class_scores(judges[AS_RELEASED].original(), labels[judged])
        outcomes[AS_RELEASED].append(_outcome("nowhere", None, run, clean, 0.0, 0))
        trials.append((run, judged, judges, validators))
    done, channel = 0, None
    for epsilon, mechanism in sorted(mechanisms.items()):
        releases = [release_texts(original.texts, mechanism, threads=threads) for _ in trials]
        channel = None if open_channel is None else open_channel(epsilon, releases)
        for (run, judged, judges, validators), release in zip(trials, releases, strict=True):
            released = Version(release.texts, embedding, channel)
            ids = release.texts.ids
            changed = float((ids != original.texts.ids).mean())
            told = {name: judge.told(released) for name, judge in judges.items()}
            validated = (
                {} if channel is None else {name: each.shares(released) for name, each in validators.items()}
            )
            for at in PLACES:
                reached = {
                    str(name): _outcome(
                        at, epsilon, run, class_scores(labels_told[at], labels[judged]), changed, len(ids)
                    )
                    for name, labels_told in told.items()
                }
                if channel is not None:
                    shares = {str(name): each[at] for name, each in validated.items()}
                    choices.append(choose(at, epsilon, run, shares))
                    reached[CHOSEN] = reached[choices[-1].reading]
                for name, outcome in reached.items():
                    outcomes[name].append(outcome)
            done += 1
            if report is not None:
                report(done, runs * len(mechanisms))
    if channel is None:
        return Measured(outcomes, choices, None)
    decoding = Decoding(support=len(channel) - 1, directions=channel.directions, method=channel.method)
    return Measured(outcomes, choices, decoding)


def choose(at: str, epsilon: float, run: int, validation: Mapping[str, float]) -> Choice:
    """Return the reading with the higher accuracy on validation texts; words as released if they
    are alike."""
    decoded = bool(validation) and validation[DECODED] > validation[AS_RELEASED]
    return Choice(
        at=at, epsilon=epsilon, run=run, reading=DECODED if decoded else AS_RELEASED, validation=validation
    )


def majority_scores(labels: Ids, held_out: float, *, runs: int) -> dict[str, float]:
    """Return the scores of always naming the class that is most frequent among the texts to learn from."""
    found = []
    for run in range(1, runs + 1):
        learnt, judged = stratified_split(labels, held_out, seed=run)
        most = int(np.bincount(labels[learnt]).argmax())
        found.append(class_scores(np.full(len(judged), most), labels[judged]))
    return {name: float(np.mean([scores[name] for scores in found])) for name in found[0]}


def _outcome(
    at: str, epsilon: float | None, run: int, scores: dict[str, float], changed: float, words: int
) -> Outcome:
    return Outcome(
        at=at, epsilon=epsilon, run=run, scores=scores, words={"all": words}, changed={"all": changed}
    )
