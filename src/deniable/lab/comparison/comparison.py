"""The comparison itself: every mechanism in every embedding is brought to every target, released and used."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from deniable.audit.named import Named, NamedBy
from deniable.audit.results import summarise_embedding
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.kinds import Kinds, make_kinds
from deniable.errors import InvalidParameter, TargetsNotMet, UnusableAuditData
from deniable.lab.comparison.readings import (
    ATTACKERS,
    TARGETS,
    TOLERANCE,
    ComparisonSettings,
    Name,
    PublicContext,
    ReadingEffort,
    SampleUnchanged,
    Target,
    kinds_by_spelling,
    make_sample,
    mean_distance,
    read_context,
)
from deniable.lab.comparison.results import ComparisonResult, MeanAndSpread, PrivacyReadings, Row, SpaceCounts
from deniable.measures.catalogue import Measure, Setting
from deniable.measures.estimate import Estimate, meet
from deniable.measures.sweep import measured, saved, sweep
from deniable.measures.texts import Texts, cut_texts, join_texts
from deniable.mechanisms.catalogue import CATALOGUE, ChosenMechanism, checked_options, entry_of
from deniable.noise.randomness import SecureRandomness
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.purposes.public_texts import are_numbers
from deniable.records.reading import LabelledTexts
from deniable.utility.accuracy import PLACES, Accuracy, Reading, Version, open_channel_of, release_texts
from deniable.utility.classifiers import sklearn
from deniable.version import __version__

_LEAST, _MOST, _START = 1e-6, 1e4, 4.0
"""Where ε is looked for: far down, because ε may be a rate per place of a list of words. Beyond these nothing
changes any more."""
_STRENGTH = 1.0


def compare_mechanisms(
    data: LabelledTexts,
    embedding: Embedding | Sequence[Embedding],
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
    """Compare mechanisms at equal privacy: ε is chosen for each so that all have the same reading, then text
    is released and used.

    Without ``mechanisms``, all that need no option take part. A classifier learns from ``train`` texts drawn
    at random (half of them by default) and is tested on ``test`` others (all the rest by default), of at most
    ``longest`` words each. Measured numbers are saved in the folder ``keep``: the same call goes on from
    there after it was stopped.

    With several embeddings every mechanism takes part in each of them, by default at an equal attacker over
    all words of the text (``audit.named``), who names words as they are spelt. Kinds of words are those of
    the first embedding. ``channel_report`` receives the progress of channels that decode, ``report`` that of
    rows.

    :raises InvalidParameter: if an argument is not allowed.
    :raises RecordError: if the public text cannot be read.
    :raises UnusableAuditData: if there are too few texts, the texts to learn from have one label only, or the
        public text says nothing.
    :raises MissingExtra: if scikit-learn is not installed.
    """
    sklearn("linear_model", "comparing mechanisms")
    embeddings = [embedding] if isinstance(embedding, Embedding) else list(embedding)
    names = [each.name for each in embeddings]
    if not embeddings or len(set(names)) < len(names):
        problem = "give one or more embeddings, each with a name of its own"
        raise InvalidParameter("embedding", ", ".join(names) or "none", problem)
    if settings is None:
        settings = ComparisonSettings(targets=TARGETS if len(embeddings) == 1 else ATTACKERS)
    for count, name in ((train, "train"), (test, "test"), (longest, "longest")):
        if count is not None:
            validated_count(count, name)
    taking_part, left_out = comparable_mechanisms() if mechanisms is None else (list(mechanisms), {})
    for each, mechanism in product(embeddings, taking_part):
        mechanism(each, epsilon=1.0)  # a wrong option is found before the work begins
    parts = split_texts(data, train=train, test=test, seed=settings.seed)
    rows: list[Row] = []
    spaces: list[Space] = []
    kinds: tuple[Embedding, Kinds] | None = None
    for each in embeddings:
        learn, tested = (some_words(part, each, longest=longest) for part in parts)
        if kinds is None and any(target.reading == "kinds" for target in settings.targets):
            words = np.bincount(np.concatenate([learn.ids, tested.ids]), minlength=len(each))
            kinds = each, make_kinds(each, counts=words)
        public = None if settings.public is None else read_context(each, settings.public, data.texts)
        space = Space(
            each, learn, tested, settings, public=public, kinds=kinds, keep=keep, report=channel_report
        )
        spaces.append(space)
        for row in chain.from_iterable(map(space.rows, taking_part)):
            rows.append(row if len(embeddings) == 1 else replace(row, embedding=each.name))
            if report is not None:
                report(len(rows), len(embeddings) * len(taking_part) * len(settings.targets))
    first, counts = spaces[0], tuple(space.counts() for space in spaces)
    most_frequent = Counter(first.learn.labels).most_common(1)[0][0]
    return ComparisonResult(
        version=__version__,
        embedding=counts[0].embedding,
        seed=settings.seed,
        runs=settings.runs,
        tolerance=dict(TOLERANCE),
        targets=settings.targets,
        mechanisms=tuple(name_of(mechanism) for mechanism in taking_part),
        texts={"learn": len(first.learn), "test": len(first.test), "words": len(first.learn.ids)},
        sample={"words": settings.words, "distinct": len(first.sample.ids), "guess": first.sample.guess},
        original=counts[0].original,
        guess=list(first.test.labels).count(most_frequent) / len(first.test),
        left_out=left_out,
        rows=tuple(rows),
        decoding=settings.decoding,
        spaces=counts,
        public=None if first.public is None else first.public.summary,
        kinds="" if kinds is None else kinds[1].in_words(),
    )


class Space:
    """One embedding: mechanisms over it on one task."""

    def __init__(
        self,
        embedding: Embedding,
        learn: Texts,
        test: Texts,
        settings: ComparisonSettings,
        *,
        public: PublicContext | None = None,
        kinds: tuple[Embedding, Kinds] | None = None,
        keep: Path | None = None,
        report: Report | None = None,
    ) -> None:
        self._embedding, self.learn, self.test, self._settings = embedding, learn, test, settings
        self.public, self._kinds, self._keep, self._report = public, kinds, keep, report
        self._original = Version(join_texts(learn, test), embedding)
        self._accuracies: dict[Reading, Accuracy] = {}
        self.sample = make_sample(embedding, learn.ids, words=settings.words, seed=settings.seed)

    def counts(self) -> SpaceCounts:
        """Return what the texts are in this embedding."""
        attacker = self._attacker
        return SpaceCounts(
            embedding=summarise_embedding(self._embedding),
            dimension=self._embedding.dimension,
            vocabulary=len(self._embedding),
            words=len(self._original.texts.ids),
            unknown=float((attacker.texts.ids == self._embedding.unknown_id).mean()),
            blind=attacker.blind.words,
            original=self.original(),
            original_on_vectors=None if self._settings.decoding is None else self.original("mean vectors"),
            blind_kinds=None if self._kinds is None else attacker.blind.kinds,
        )

    def original(self, reading: Reading = "as released") -> float:
        """Return the accuracy of a classifier that learnt from original text."""
        accuracy = self._accuracy(reading)
        return accuracy.share(accuracy.original())

    def rows(self, mechanism: ChosenMechanism) -> Iterator[Row]:
        """Yield one row for each target: where the mechanism meets it and what it is worth there, or why it
        cannot."""
        # A list of words is read from its file once, not at every ε.
        chosen = replace(mechanism, options=checked_options(entry_of(mechanism.name), mechanism.options))
        for target in self._settings.targets:
            row = Row(mechanism=name_of(mechanism), reading=target.reading, target=target.value)
            try:
                setting, estimate = self._solve(chosen, target)
            except TargetsNotMet as error:
                yield replace(row, problem=str(error))
                continue
            effort, seed = self._turn(1)
            base: tuple[Name, ...] = ("average", "worst", "adversary")
            others = {str(name): self._measure(name, effort) for name in base if name != target.reading}
            ((_, found),) = sweep([setting], others, self._original.texts, seed=seed, keep=self._keep)
            found[target.reading] = estimate
            reached = PrivacyReadings(
                epsilon=setting.epsilon,
                errors={name: each.error for name, each in found.items()},
                **{name: each.value for name, each in found.items()},
            )
            yield replace(row, epsilon=setting.epsilon, reached=reached, **self._worth(setting))

    def _solve(self, chosen: ChosenMechanism, target: Target) -> tuple[Setting, Estimate]:
        def measure(epsilon: float, turn: int) -> Estimate:
            if not _LEAST <= epsilon <= _MOST:
                ask, end = ("less", "above") if epsilon > _MOST else ("more", "below")
                raise TargetsNotMet(f"never {end} {target.value:g} at any ε: ask for {ask}")
            effort, seed = self._turn(turn)
            return measured(
                self._measure(target.reading, effort),
                Setting(embedding=self._embedding, mechanism=chosen, epsilon=epsilon),
                self._original.texts,
                seed=seed,
                keep=self._keep,
            )

        within = TOLERANCE[target.reading]
        epsilon, estimate = meet(measure, target.value, within=within, start=_START, what="the reading")
        return Setting(embedding=self._embedding, mechanism=chosen, epsilon=epsilon), estimate

    @cached_property
    def _attacker(self) -> Named:
        return Named.by_spelling(
            self._original.texts,
            self._embedding,
            context=None if self.public is None else self.public.bigrams,
            kinds_of=None if self._kinds is None else kinds_by_spelling(*self._kinds),
        )

    def _turn(self, turn: int) -> tuple[ReadingEffort, int]:
        """Return how much is drawn, and its seed: quickly in turn 0, else thoroughly from other draws."""
        settings = self._settings
        return settings.thorough if turn else settings.quick, settings.seed + 1 + turn

    def _measure(self, reading: Name, effort: ReadingEffort) -> Measure:
        if reading == "average" or reading == "worst":
            return SampleUnchanged(sample=self.sample, draws=effort.draws, exposed=reading == "worst")
        if reading == "adversary":
            return NamedBy(attacker=self.sample.adversary(effort.judged), directions=effort.directions)
        return NamedBy(attacker=self._attacker, way=reading, directions=effort.directions)

    def _worth(self, setting: Setting) -> dict[str, Any]:
        """Return what text released by a setting is good for, as the fields of a row."""
        settings = self._settings
        runs: list[dict[str, float]] = saved(
            self._keep,
            lambda: self._measure_releases(setting),
            *(setting, "releases", self._original.texts, len(self.learn), self.sample),
            *(settings.decoding, settings.runs),
        )
        means = {name: MeanAndSpread.of([run[name] for run in runs]) for name in runs[0]}
        worth: dict[str, Any] = {name: means[name] for name in ("unchanged", "distance")}
        worth |= {"accuracy": means["released train"], "on_released": means["released both"]}
        worth["words_per_second"] = min(run["words per second"] for run in runs)
        if settings.decoding is not None:
            worth["as_released"] = {place: means[f"released {place}"] for place in PLACES}
            worth["decoded"] = {place: means[f"decoded {place}"] for place in PLACES}
            vectors = {"as_released": means["mean vectors"], "decoded": means["decoded mean vectors"]}
            worth["on_vectors"] = vectors
        return worth

    def _measure_releases(self, setting: Setting) -> list[dict[str, float]]:
        mechanism, decoding = setting.mechanism_at_epsilon, self._settings.decoding
        texts, before = self._original.texts, self.learn.ids
        mechanism.perturb(before[:1], SecureRandomness())  # what it prepares on first use is not its speed
        versions, runs = [], []
        for _ in range(self._settings.runs):
            started = time.perf_counter()
            versions.append(release_texts(texts, mechanism))
            seconds = max(time.perf_counter() - started, 1e-9)
            runs.append({"words per second": len(texts.ids) / seconds})
        channel = None
        if decoding is not None:
            channel = open_channel_of(
                self._embedding,
                setting.mechanism,
                setting.epsilon,
                decoding,
                versions,
                report=self._report,
            )
        for version, run in zip(versions, runs, strict=True):
            after = version.texts.ids[: len(before)]
            run["unchanged"] = float((after == before).mean())
            run["distance"] = mean_distance(self._embedding, before, after) / self.sample.typical
            readings: dict[str, Reading] = {"released": "as released"}
            if channel is not None:
                version.channel, readings["decoded"] = channel, "decoded"
                vectors: tuple[Reading, ...] = ("mean vectors", "decoded mean vectors")
                run |= {each: self._accuracy(each).shares(version, ["both"])["both"] for each in vectors}
            for name, reading in readings.items():
                for place, share in self._accuracy(reading).shares(version).items():
                    run[f"{name} {place}"] = share
        return runs

    def _accuracy(self, reading: Reading) -> Accuracy:
        """Return what learns from the texts to learn from, in one reading, and judges the others."""
        if reading not in self._accuracies:
            learnt, judged = np.split(np.arange(len(self._original.texts)), [len(self.learn)])
            labels = np.array(self._original.texts.labels)
            self._accuracies[reading] = Accuracy(
                self._original, labels, learnt, judged, reading=reading, strength=_STRENGTH
            )
        return self._accuracies[reading]


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
    """Return a mechanism as it is typed, NAME or NAME:OPTION=VALUE,…, without a list of sensitive words."""
    options = [
        name if name == "sensitive" else f"{name}={value}" for name, value in mechanism.options.items()
    ]
    return f"{mechanism.name}:{','.join(options)}" if options else mechanism.name


def some_words(data: LabelledTexts, embedding: Embedding, *, longest: int | None) -> Texts:
    """Return the labelled texts that hold a word, cut as a release cuts them.

    :raises UnusableAuditData: if no text holds a word.
    """
    texts = cut_texts(data.texts, embedding, labels=data.labels, longest=longest)
    some = np.flatnonzero(texts.lengths)
    if not len(some):
        raise UnusableAuditData(data.source, "none of its texts holds a word")
    return texts.take(some)


def split_texts(
    data: LabelledTexts, *, train: int | None, test: int | None, seed: int
) -> list[LabelledTexts]:
    """Return texts to learn from and texts to test on, at random: as many as asked for, or half and half.

    :raises UnusableAuditData: if there are too few, or nothing can be learnt from their labels.
    """
    if are_numbers(data.labels):
        count = len(set(data.labels))
        problem = f"its labels are {count:,} different numbers: join them to classes, such as low and high"
        raise UnusableAuditData(data.source, problem)
    count = len(data.texts)
    train = count // 2 if train is None else train
    test = count - train if test is None else test
    if train + test > count or not train or not test:
        problem = f"has {count:,} texts, fewer than the {train:,} to learn from and {test:,} to test on"
        raise UnusableAuditData(data.source, problem)
    order = np.random.Generator(np.random.PCG64(seed)).permutation(count)[: train + test].tolist()
    parts = [data.take(part) for part in (order[:train], order[train:])]
    if len(set(parts[0].labels)) < 2:
        problem = "the texts to learn from have one label only; a task needs two or more"
        raise UnusableAuditData(data.source, problem)
    return parts
