"""The comparison itself: every mechanism, brought to every target, released, attacked and used."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Ids
from deniable.audit.results import summarise_embedding
from deniable.channel.channel import Channel
from deniable.comparison.matching import TOLERANCE, Match, Matcher, Target
from deniable.comparison.measurements import SavedMeasurements
from deniable.comparison.probe import Probe, make_probe
from deniable.comparison.readings import QUICK, THOROUGH, Reading, ReadingEffort, read_privacy
from deniable.comparison.received import ReceivedAccuracy, ReceivedTask, channels_of, learn_words
from deniable.comparison.results import ByPlace, ComparisonResult, MeanAndSpread, Row, SampleCounts, TextCounts, Worth
from deniable.comparison.texts import Texts, cut_texts, split_texts
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.learning.scores import sklearn
from deniable.mechanisms.catalogue import CATALOGUE, ChosenMechanism, checked_options, entry_of
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.randomness import SecureRandomness
from deniable.records.labelled import LabelledTexts
from deniable.utility.receiver import DecodingEffort
from deniable.version import __version__

FORMAT = 1
TARGETS = (
    Target(reading="average", value=0.1),
    Target(reading="average", value=0.3),
    Target(reading="worst", value=0.5),
    Target(reading="adversary", value=0.2),
    Target(reading="adversary", value=0.4),
)
"""What mechanisms are brought to unless other targets are given."""
DECODING = DecodingEffort(support=10_000, directions=300)
"""How finely receivers know the channel unless told otherwise: many channels are made, so they are coarser than those of one release."""
_ROWS_AT_ONCE = 16_384


@dataclass(frozen=True, kw_only=True)
class ComparisonSettings:
    """How a comparison is made: its targets, releases at each ε, words that privacy is read on, the seed, and how much is drawn.

    ``decoding`` says how finely a receiver knows the channel; with None, released text is read as it stands only.
    """

    targets: tuple[Target, ...] = TARGETS
    runs: int = 2
    words: int = 1_000
    seed: int = 0
    quick: ReadingEffort = QUICK
    thorough: ReadingEffort = THOROUGH
    decoding: DecodingEffort | None = DECODING

    def __post_init__(self) -> None:
        validated_count(self.runs, "runs")
        validated_count(self.words, "words")
        validated_count(self.seed, "seed", at_least=0)
        if not self.targets:
            raise InvalidParameter("targets", "none", "give at least one reading that all mechanisms shall have in common")


def compare_mechanisms(
    data: LabelledTexts,
    embedding: Embedding,
    mechanisms: Sequence[ChosenMechanism] | None = None,
    *,
    settings: ComparisonSettings | None = None,
    train: int | None = None,
    test: int | None = None,
    longest: int | None = None,
    keep: Path | None = None,
    channel_report: Report | None = None,
    report: Report | None = None,
) -> ComparisonResult:
    """Compare mechanisms at equal privacy: ε is chosen for each so that all have the same reading, then text is released and used.

    Without ``mechanisms``, all that need no option take part. A classifier learns from ``train`` texts drawn at random (half of them
    by default) and is tested on ``test`` others (all the rest by default), of at most ``longest`` words each. Measured numbers are
    saved in the folder ``keep``, if one is given: the same call goes on from there after it was stopped.

    What a receiver gets is measured too, unless ``settings.decoding`` is None: released text on both sides or at test time only, as it
    stands and decoded. ``channel_report`` hears how much of a channel is made for that, ``report`` how many rows are there.

    :raises InvalidParameter: if an argument is not allowed.
    :raises UnusableAuditData: if there are too few texts, or the texts to learn from have one label only.
    :raises MissingExtra: if scikit-learn is not installed.
    """
    sklearn("linear_model", "comparing mechanisms")
    settings = ComparisonSettings() if settings is None else settings
    for count, name in ((train, "train"), (test, "test"), (longest, "longest")):
        if count is not None:
            validated_count(count, name)
    taking_part, left_out = comparable_mechanisms() if mechanisms is None else (list(mechanisms), {})
    for mechanism in taking_part:
        mechanism(embedding, epsilon=1.0)  # a wrong option is found before the work begins
    learn, tested = (cut_texts(part, embedding, longest=longest) for part in split_texts(data, train=train, test=test, seed=settings.seed))
    comparison = Comparison(embedding, learn, tested, settings, saved=SavedMeasurements(keep), channel_report=channel_report)
    rows: list[Row] = []
    for mechanism in taking_part:
        for row in comparison.rows(mechanism):
            rows.append(row)
            if report is not None:
                report(len(rows), len(taking_part) * len(settings.targets))
    probe = comparison.probe
    return ComparisonResult(
        version=__version__,
        embedding=summarise_embedding(embedding),
        seed=settings.seed,
        runs=settings.runs,
        tolerance=dict(TOLERANCE),
        targets=settings.targets,
        mechanisms=tuple(name_of(mechanism) for mechanism in taking_part),
        texts=TextCounts(learn=len(learn.labels), test=len(tested.labels), words=len(learn.ids)),
        sample=SampleCounts(words=settings.words, distinct=len(probe.ids), guess=float(probe.shares.max())),
        original=comparison.original(),
        guess=max(tested.labels.count(label) for label in set(learn.labels)) / len(tested.labels),
        left_out=left_out,
        rows=tuple(rows),
        decoding=settings.decoding,
    )


def comparable_mechanisms() -> tuple[list[ChosenMechanism], dict[str, str]]:
    """Return every mechanism that needs no option, and those left out with the reason."""
    left_out = {
        name: f"which needs an option: --mechanism {name}:{option.name}=…"
        for name, entry in CATALOGUE.items()
        for option in entry.options
        if option.default is None
    }
    return [ChosenMechanism(name=name) for name in CATALOGUE if name not in left_out], left_out


def name_of(mechanism: ChosenMechanism) -> str:
    """Return a mechanism as it is typed, NAME or NAME:OPTION=VALUE,…; a list of sensitive words is not shown."""
    options = [name if name == "sensitive" else f"{name}={value}" for name, value in mechanism.options.items()]
    return f"{mechanism.name}:{','.join(options)}" if options else mechanism.name


@dataclass(frozen=True, kw_only=True)
class Utility:
    """What one release is good for: accuracy on the task, words unchanged, how far words moved; and how fast it was."""

    accuracy: float
    unchanged: float
    distance: float
    words_per_second: float


class Comparison:
    """Compares mechanisms over one embedding on one task."""

    def __init__(
        self,
        embedding: Embedding,
        learn: Texts,
        test: Texts,
        settings: ComparisonSettings,
        *,
        saved: SavedMeasurements | None = None,
        channel_report: Report | None = None,
    ) -> None:
        """Prepare the words that privacy is read on: a sample of the words of the texts to learn from."""
        self._received, self._channel_report = ReceivedTask(embedding, learn, test), channel_report
        self._embedding, self._learn, self._test, self._settings = embedding, learn, test, settings
        self._saved = SavedMeasurements(None) if saved is None else saved
        self.probe: Probe = make_probe(embedding, learn.ids, words=settings.words, seed=settings.seed)

    def original(self) -> float:
        """Return the accuracy of a classifier that learnt from original text."""
        learn, test = self._learn, self._test
        return accuracy(learn.words, learn.labels, test.words, test.labels)

    def rows(self, mechanism: ChosenMechanism) -> Iterator[Row]:
        """Yield one row for each target: where the mechanism meets it and what it is worth there, or why it cannot.

        :raises InvalidParameter: if there is no such mechanism or option.
        """
        compared, seed = _Compared(mechanism, self._embedding), self._settings.seed
        quick, thorough = self._settings.quick, self._settings.thorough
        matcher = Matcher(self._reader(compared, quick, seed + 1), self._reader(compared, thorough, seed + 2))
        matches = [matcher.match(target) for target in self._settings.targets]
        met = [match.reached.epsilon for match in matches if match.reached is not None]
        decoding = self._settings.decoding
        channel = None if decoding is None else channels_of(compared.chosen, self._embedding, met, decoding, report=self._channel_report)
        for match in matches:
            yield self._row(compared, match, channel)

    def _row(self, compared: _Compared, match: Match, channel: Callable[[float], Channel] | None) -> Row:
        row = Row(mechanism=compared.name, reading=match.target.reading, target=match.target.value, problem=match.problem)
        if match.reached is None:
            return row
        runs = [self._utility(compared, match.reached.epsilon, run) for run in range(self._settings.runs)]
        worth = Worth(
            epsilon=match.reached.epsilon,
            reached=match.reached,
            accuracy=_mean_and_spread([run.accuracy for run in runs]),
            unchanged=_mean_and_spread([run.unchanged for run in runs]),
            distance=_mean_and_spread([run.distance for run in runs]),
            words_per_second=min(run.words_per_second for run in runs),
        )
        if channel is not None:
            worth = self._with_received(worth, compared, channel)
        return replace(row, worth=worth)

    def _with_received(self, worth: Worth, compared: _Compared, channel: Callable[[float], Channel]) -> Worth:
        runs = [self._accuracies(compared, worth.epsilon, channel, run) for run in range(self._settings.runs)]

        def brought_together(name: str) -> MeanAndSpread:
            return _mean_and_spread([getattr(run, name) for run in runs])

        return replace(
            worth,
            as_released=ByPlace(train=worth.accuracy, test=brought_together("test"), both=brought_together("both")),
            decoded=ByPlace(**{place: brought_together(f"decoded_{place}") for place in ("train", "test", "both")}),
        )

    def _accuracies(self, compared: _Compared, epsilon: float, channel: Callable[[float], Channel], run: int) -> ReceivedAccuracy:
        texts = {"learn": self._learn.digest, "test": self._test.digest}
        how = None if self._settings.decoding is None else asdict(self._settings.decoding)
        key = {**self._key(compared, epsilon), "what": "received", **texts, "decoding": how, "run": run}
        return self._saved.get(key, ReceivedAccuracy, lambda: self._received.measure(compared.make(epsilon), channel(epsilon)))

    def _utility(self, compared: _Compared, epsilon: float, run: int) -> Utility:
        key = {**self._key(compared, epsilon), "what": "utility", "learn": self._learn.digest, "test": self._test.digest, "run": run}
        return self._saved.get(key, Utility, lambda: self._measure(compared.make(epsilon)))

    def _measure(self, mechanism: Mechanism) -> Utility:
        learn, test = self._learn, self._test
        randomness = SecureRandomness()
        mechanism.perturb(learn.ids[:1], randomness)  # whatever a mechanism prepares on first use is not its speed
        started = time.perf_counter()
        released = mechanism.perturb(learn.ids, randomness)
        seconds = time.perf_counter() - started
        return Utility(
            accuracy=accuracy(learn.with_words(self._embedding, released), learn.labels, test.words, test.labels),
            unchanged=float((released == learn.ids).mean()),
            distance=mean_distance(self._embedding, learn.ids, released) / self.probe.typical,
            words_per_second=len(released) / max(seconds, 1e-9),
        )

    def _reader(self, compared: _Compared, effort: ReadingEffort, seed: int) -> Callable[[float], Reading]:
        def read(epsilon: float) -> Reading:
            sample = {"words": self._settings.words, "seed": self._settings.seed, "text": self._learn.digest}
            how = {"draws": effort.draws, "judged": effort.judged, "seed": seed}
            key = {**self._key(compared, epsilon), "what": "privacy", "sample": sample, "effort": how}
            return self._saved.get(key, Reading, lambda: read_privacy(compared.make(epsilon), self.probe, effort=effort, seed=seed))

        return read

    def _key(self, compared: _Compared, epsilon: float) -> dict[str, Any]:
        return {"format": FORMAT, "embedding": self._embedding.fingerprint, "mechanism": compared.identity, "epsilon": epsilon}


class _Compared:
    """A mechanism that takes part: its name as typed, what identifies it in saved measurements, and what makes it at an ε."""

    def __init__(self, mechanism: ChosenMechanism, embedding: Embedding) -> None:
        # A list of words is read from its file once, not at every ε.
        read = replace(mechanism, options=checked_options(entry_of(mechanism.name), mechanism.options))
        self.name, self.chosen = name_of(mechanism), read
        self.identity = {"name": mechanism.name, "parameters": dict(read(embedding, epsilon=1.0).guarantee.parameters)}
        # Runs share what a mechanism prepared.
        self.make: Callable[[float], Mechanism] = lru_cache(1)(lambda epsilon: read(embedding, epsilon=epsilon))


def accuracy(learn: list[list[str]], labels: list[str], test: list[list[str]], truth: list[str]) -> float:
    """Return the accuracy of TF-IDF and logistic regression that learnt from some texts, on others.

    :raises MissingExtra: if scikit-learn is not installed.
    """
    return float((learn_words(learn, labels).predict(test) == np.array(truth)).mean())


def mean_distance(embedding: Embedding, before: Ids, after: Ids) -> float:
    """Return the mean distance between words and what became of them."""
    total = 0.0
    for start in range(0, len(before), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        gaps = embedding.rows(before[part]).astype(np.float64) - embedding.rows(after[part])
        total += float(np.linalg.norm(gaps, axis=1).sum())
    return total / len(before)


def _mean_and_spread(values: Sequence[float]) -> MeanAndSpread:
    return MeanAndSpread(mean=float(np.mean(values)), spread=float(np.std(values, ddof=1)) if len(values) > 1 else None)
