"""Learns from the original and from releases, judges both, and repeats it with fresh noise and another
split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Unpack

import numpy as np

from deniable.arrays import Ids
from deniable.calibration.matching import SHARES, AverageUnchanged
from deniable.channel.channel import Channel
from deniable.channel.making import DIRECTIONS
from deniable.decoding.priors import SUPPORT
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.learning.perturbation import changed_share
from deniable.learning.scores import class_scores
from deniable.learning.summary import MeasuredEmbedding, Outcome, points_of
from deniable.learning.version import Classify, Learner, Version, original_version, released_version
from deniable.learning.word_classifier import CountLearner, LinearLearner
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours.threads import threads as threads_of_this_process
from deniable.parameters import validated_count, validated_epsilon, validated_share
from deniable.progress import Report, part_of
from deniable.records.labelled import ReadingOptions
from deniable.utility.findings import Circumstances, Findings
from deniable.utility.readings import AS_RELEASED, DECODED, Measured, TextReading, choose, decoded_points
from deniable.utility.receiver import DecodingEffort, counted_version, decoded_version, open_channel_of
from deniable.utility.texts import ClassifiedTexts, read_classified

VALIDATION = 0.25
"""The share of the texts to learn from by which a reading is chosen."""

RELEASED_PLACES = ("train", "test", "both")
_NOT_ASKED_FOR = "decoding was switched off"
_ONLY_LINEAR = "this learner reads words as released; decoded text needs the linear model"


def measure_utility(
    data: str | Path,
    *,
    text_column: str,
    label_column: str,
    epsilons: Sequence[float] = (),
    embedding: str | Path | Embedding = "default",
    mechanism: ChosenMechanism | None = None,
    learner: Learner | None = None,
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

    The file is CSV, TSV, JSON Lines or Parquet; ``format``, ``delimiter``, ``header`` and ``encoding`` say
    how it is read, as for ``privatize_file``. Without ``epsilons``, the values are those at which an average
    word stays itself in 5, 25, 50, 75, 95 and 99 % of the draws. ``learner`` is TF-IDF with logistic
    regression unless another is given, such as the paper's biLSTM of ``deniable.lab``. Everything is done
    ``runs`` times, with fresh noise and another ``held_out`` share of every class to judge by. ``texts``
    takes at most that many texts, drawn at random. ``acceptable_loss`` is the loss of accuracy that the
    findings' advice accepts; the advice is for somebody who is given released text only, to learn from and to
    judge.

    Released text is read in two ways: its words as released, and decoded (how often each word is expected
    behind it), if no other learner is given. Which way is chosen in every run on a part of the texts to learn
    from, and the advice goes by that. Decoding takes the first ``support`` words of the embedding for what
    may have gone in, and ``directions`` rays, points or draws from each; ``decode=False`` leaves it out.

    ``channel_report`` hears how much of the channels is made, those of the words that were released;
    ``report`` how many releases were measured. Nothing of the releases is kept.

    :raises InvalidParameter: if a value is not allowed or a column is not there.
    :raises MissingExtra: if the library of the model is not installed.
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
    decodes = decode and learner is None
    learner = LinearLearner() if learner is None else learner
    average = AverageUnchanged(space, chosen)
    values = values or sorted({average.epsilon(share) for share in SHARES})
    mechanisms = {value: chosen(space, epsilon=value) for value in values}
    opened: list[Channel] = []

    def open_channel(epsilon: float, released: Sequence[Version]) -> Channel:
        part = None if channel_report is None else part_of(channel_report, values.index(epsilon), len(values))
        channel = open_channel_of(space, chosen, epsilon, effort, released, report=part)
        opened[:] = [channel]
        return channel

    measured = measure(
        classified,
        mechanisms,
        learner,
        open_channel=open_channel if decodes else None,
        runs=runs,
        held_out=held_out,
        threads=threads_of_this_process(),
        report=report,
    )
    return Findings(
        points=points_of(measured.released),
        decoded=decoded_points(measured, opened[0]) if decodes else None,
        unchanged={value: average.at(value) for value in values},
        majority=majority_scores(classified.labels, held_out, runs=runs),
        acceptable_loss=acceptable_loss,
        about=Circumstances(
            texts=len(classified.texts),
            classes=classified.classes,
            left_out=classified.left_out,
            model=learner.name,
            mechanism=chosen.name,
            mechanism_options=chosen.identity(space)["parameters"],
            embedding=MeasuredEmbedding.of(space),
            runs=runs,
            held_out=held_out,
            judged=len(stratified_split(classified.labels, held_out, seed=1)[1]),
            average_unchanged_from=average.source,
            not_decoded="" if decodes else _ONLY_LINEAR if decode else _NOT_ASKED_FOR,
        ),
    )


def measure(
    data: ClassifiedTexts,
    mechanisms: Mapping[float, Mechanism],
    learner: Learner,
    *,
    runs: int,
    held_out: float,
    open_channel: Callable[[float, Sequence[Version]], Channel] | None = None,
    threads: int = 1,
    report: Report | None = None,
) -> Measured:
    """Return one outcome for each run, ε and place of the perturbation; ``report`` hears how many releases
    were measured.

    ``at`` is "nowhere", "train" (learn from released, judge original text), "test" (the other way round) or
    "both". With ``open_channel``, which returns what decodes the releases at one ε, released text is also
    decoded, and every run chooses one of the two readings on validation texts.

    :raises MissingExtra: if scikit-learn is not installed.
    """
    embedding = next(iter(mechanisms.values())).embedding
    original = original_version(data.texts, embedding)
    original = original if open_channel is None else counted_version(original, embedding)
    learners: dict[TextReading, Learner] = {AS_RELEASED: learner} | (
        {} if open_channel is None else {DECODED: CountLearner()}
    )
    outcomes: dict[TextReading, list[Outcome]] = {AS_RELEASED: [], DECODED: []}
    choices, trials = [], []
    for run in range(1, runs + 1):
        learnt, judged = stratified_split(data.labels, held_out, seed=run)
        judges = {
            name: _Judge(each, original, data.labels, learnt, judged, seed=run)
            for name, each in learners.items()
        }
        validators = (
            {} if open_channel is None else _validators(learners, original, data.labels, learnt, seed=run)
        )
        outcomes[AS_RELEASED].append(
            _outcome("nowhere", None, run, judges[AS_RELEASED].unperturbed(), 0.0, 0)
        )
        trials.append((run, judges, validators))
    done, total = 0, runs * len(mechanisms)
    for epsilon, mechanism in sorted(mechanisms.items()):
        releases = [released_version(original, mechanism, threads=threads) for _ in trials]
        channel = None if open_channel is None else open_channel(epsilon, releases)
        for (run, judges, validators), release in zip(trials, releases, strict=True):
            changed, words = changed_share(original.passages, release.passages), len(release.passages.ids)
            released = release if channel is None else decoded_version(release, channel)
            for name, judge in judges.items():
                outcomes[name] += [
                    _outcome(at, epsilon, run, scores, changed, words)
                    for at, scores in judge.scores(released).items()
                ]
            validated = {name: validator.scores(released) for name, validator in validators.items()}
            choices += [
                choose(at, epsilon, run, {name: scores[at]["accuracy"] for name, scores in validated.items()})
                for at in (() if channel is None else RELEASED_PLACES)
            ]
            done += 1
            if report is not None:
                report(done, total)
    return Measured(released=outcomes[AS_RELEASED], decoded=outcomes[DECODED], choices=choices)


class _Judge:
    """Learns from some texts and judges others: the original ones, a release, or one after the other."""

    def __init__(
        self, learner: Learner, original: Version, labels: Ids, learnt: Ids, judged: Ids, *, seed: int
    ) -> None:
        self._learner, self._original, self._labels, self._learnt, self._judged = (
            learner,
            original,
            labels,
            learnt,
            judged,
        )
        self._seed = seed
        self._clean = learner.learn(original, learnt, labels, seed=seed)

    def unperturbed(self) -> dict[str, float]:
        """Return the scores of what learnt from the original, on the original."""
        return self._score(self._clean, self._original)

    def scores(self, released: Version) -> dict[str, dict[str, float]]:
        """Return the scores where text is perturbed at training time, at test time and at both."""
        noisy = self._learner.learn(released, self._learnt, self._labels, seed=self._seed)
        return {
            "train": self._score(noisy, self._original),
            "test": self._score(self._clean, released),
            "both": self._score(noisy, released),
        }

    def _score(self, classify: Classify, version: Version) -> dict[str, float]:
        return class_scores(classify(version, self._judged), self._labels[self._judged])


def _validators(
    learners: Mapping[TextReading, Learner], original: Version, labels: Ids, learnt: Ids, *, seed: int
) -> dict[TextReading, _Judge]:
    """Return what judges a part of the texts to learn from, after learning from the rest of them; nothing if
    there are too few."""
    rest, validation = stratified_split(labels[learnt], VALIDATION, seed=seed)
    if not len(validation):
        return {}
    return {
        name: _Judge(each, original, labels, learnt[rest], learnt[validation], seed=seed)
        for name, each in learners.items()
    }


def stratified_split(labels: Ids, held_out: float, *, seed: int) -> tuple[Ids, Ids]:
    """Return places to learn from and places to judge by, with the same share of every class held out, at
    least one text of each."""
    rng = np.random.Generator(np.random.PCG64(seed))
    learnt, judged = [], []
    for number in range(int(labels.max()) + 1):
        places = rng.permutation(np.flatnonzero(labels == number))
        held = min(max(1, round(held_out * len(places))), len(places) - 1)
        judged.append(places[:held])
        learnt.append(places[held:])
    return np.sort(np.concatenate(learnt)), np.sort(np.concatenate(judged))


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
