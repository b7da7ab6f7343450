"""The mechanisms of one embedding, brought to every target, released, attacked and used."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache, partial

import numpy as np

from deniable.arrays import Ids
from deniable.audit.named import WAYS, Named, Way, read_named, standard_error
from deniable.audit.results import summarise_embedding
from deniable.channel.channel import Channel
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.lab.comparison.knowledge import PublicContext, WordKinds
from deniable.lab.comparison.matching import Match, Matcher
from deniable.lab.comparison.measurements import NOTHING_SAVED, SavedMeasurements
from deniable.lab.comparison.probe import Probe, make_probe
from deniable.lab.comparison.readings import (
    Name,
    NamedReading,
    PrivacyReadings,
    ReadingEffort,
    read_privacy,
)
from deniable.lab.comparison.received import ReceivedAccuracy, ReceivedTask, channels_of
from deniable.lab.comparison.results import (
    ByPlace,
    OnVectors,
    ReceiverAccuracies,
    Row,
    SpaceCounts,
    Worth,
    means,
)
from deniable.lab.comparison.settings import ComparisonSettings
from deniable.lab.comparison.texts import digest_of
from deniable.measures.catalogue import Setting
from deniable.measures.texts import Texts, join_texts
from deniable.mechanisms.catalogue import ChosenMechanism, checked_options, entry_of
from deniable.noise.randomness import SecureRandomness
from deniable.progress import Report
from deniable.utility.accuracy import PLACES, release_texts


@dataclass(frozen=True, kw_only=True)
class Utility:
    """What one release is good for: accuracy on the task, words unchanged, how far words moved; and how fast
    it was.

    ``accuracy`` is judged on original text, ``on_released`` on released text; both were learnt from released
    text.
    """

    accuracy: float
    on_released: float
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
        public: PublicContext | None = None,
        kinds: WordKinds | None = None,
        saved: SavedMeasurements = NOTHING_SAVED,
        channel_report: Report | None = None,
    ) -> None:
        """Prepare the words that privacy is read on: a sample of the words of the texts to learn from."""
        self.public, self._kinds = public, kinds
        self._received, self._channel_report = ReceivedTask(embedding, learn, test), channel_report
        self._embedding, self.learn, self.test, self._settings = embedding, learn, test, settings
        self._saved = saved
        self.probe: Probe = make_probe(embedding, learn.ids, words=settings.words, seed=settings.seed)

    def counts(self) -> SpaceCounts:
        """Return what the texts are in this embedding."""
        return SpaceCounts(
            embedding=summarise_embedding(self._embedding),
            dimension=self._embedding.dimension,
            vocabulary=len(self._embedding),
            words=len(self.learn.ids) + len(self.test.ids),
            unknown=float((self._attacker.texts.ids == self._embedding.unknown_id).mean()),
            blind=self._attacker.blind.words,
            original=self.original(),
            original_on_vectors=None
            if self._settings.decoding is None
            else self._received.original_on_vectors(),
            blind_kinds=None if self._kinds is None else self._attacker.blind.kinds,
        )

    @cached_property
    def _attacker(self) -> Named:
        public, kinds = self.public, self._kinds
        return Named.by_spelling(
            join_texts(self.learn, self.test),
            self._embedding,
            context=None if public is None else public.bigrams,
            kinds_of=None if kinds is None else kinds.of,
        )

    def original(self) -> float:
        """Return the accuracy of a classifier that learnt from original text."""
        return self._received.words.share(self._received.words.original())

    def rows(self, mechanism: ChosenMechanism) -> Iterator[Row]:
        """Yield one row for each target: where the mechanism meets it and what it is worth there, or why it
        cannot.

        :raises InvalidParameter: if there is no such mechanism or option.
        """
        compared, seed = _Compared(mechanism, self._embedding), self._settings.seed
        quick, thorough = self._settings.quick, self._settings.thorough
        full = self._reader(compared, thorough, seed + 2)
        matcher = Matcher(self._reader(compared, quick, seed + 1), full)
        # An attacker who knows P(y | x) from few directions is weaker by more than draws scatter: hence the
        # larger nudge.
        of_all_words: dict[Name, Matcher[NamedReading]] = {
            reading: Matcher(
                partial(self._named, compared, reading, quick, seed + 1),
                partial(self._named, compared, reading, thorough, seed + 2),
                nudge=0.03,
            )
            for reading in WAYS
        }
        matches = [
            matcher.match(target) if named is None else _with_all_readings(named.match(target), full)
            for target in self._settings.targets
            for named in [of_all_words.get(target.reading)]
        ]
        met = [match.reached.epsilon for match in matches if match.reached is not None]
        decoding = self._settings.decoding
        channel = (
            None
            if decoding is None
            else channels_of(compared.chosen, self._embedding, met, decoding, report=self._channel_report)
        )
        for match in matches:
            yield self._row(compared, match, channel)

    def _row(
        self, compared: _Compared, match: Match[PrivacyReadings], channel: Callable[[float], Channel] | None
    ) -> Row:
        row = Row(
            mechanism=compared.name,
            reading=match.target.reading,
            target=match.target.value,
            problem=match.problem,
        )
        if match.reached is None:
            return row
        epsilon, runs = match.reached.epsilon, range(self._settings.runs)
        utilities = [self._utility(compared, epsilon, run) for run in runs]
        utility = means(utilities)
        del utility["words_per_second"]
        receiver = None
        if channel is not None:
            received = means([self._accuracies(compared, epsilon, channel, run) for run in runs])
            receiver = ReceiverAccuracies(
                as_released=ByPlace(train=utility["accuracy"], test=received["test"], both=received["both"]),
                decoded=ByPlace(**{place: received[f"decoded_{place}"] for place in PLACES}),
                on_vectors=OnVectors(as_released=received["vectors"], decoded=received["decoded_vectors"]),
            )
        worth = Worth(
            epsilon=epsilon,
            reached=match.reached,
            words_per_second=min(each.words_per_second for each in utilities),
            receiver=receiver,
            **utility,
        )
        return replace(row, worth=worth)

    def _accuracies(
        self, compared: _Compared, epsilon: float, channel: Callable[[float], Channel], run: int
    ) -> ReceivedAccuracy:
        how = None if self._settings.decoding is None else asdict(self._settings.decoding)
        key = self._key(compared, epsilon, "received, on vectors too", **self._digests, decoding=how, run=run)
        return self._saved.get(
            key, ReceivedAccuracy, lambda: self._received.measure(compared.make(epsilon), channel(epsilon))
        )

    def _utility(self, compared: _Compared, epsilon: float, run: int) -> Utility:
        key = self._key(compared, epsilon, "utility, on released text too", **self._digests, run=run)
        return self._saved.get(key, Utility, lambda: self._measure(compared.make(epsilon)))

    def _measure(self, mechanism: Mechanism) -> Utility:
        learn, texts = self.learn, self._received.original.texts
        mechanism.perturb(learn.ids[:1], SecureRandomness())  # what it prepares on first use is not its speed
        started = time.perf_counter()
        released = release_texts(texts, mechanism)
        seconds = time.perf_counter() - started
        shares = self._received.words.shares(released, ["train", "both"])
        became = released.texts.ids[: len(learn.ids)]
        return Utility(
            accuracy=shares["train"],
            on_released=shares["both"],
            unchanged=float((became == learn.ids).mean()),
            distance=mean_distance(self._embedding, learn.ids, became) / self.probe.typical,
            words_per_second=len(texts.ids) / max(seconds, 1e-9),
        )

    def _reader(
        self, compared: _Compared, effort: ReadingEffort, seed: int
    ) -> Callable[[float], PrivacyReadings]:
        def read(epsilon: float) -> PrivacyReadings:
            settings, text = self._settings, digest_of(self.learn)
            sample = {"words": settings.words, "seed": settings.seed, "text": text}
            how = {"draws": effort.draws, "judged": effort.judged, "seed": seed}
            key = self._key(compared, epsilon, "privacy", sample=sample, effort=how)
            return self._saved.get(
                key,
                PrivacyReadings,
                lambda: read_privacy(compared.make(epsilon), self.probe, effort=effort, seed=seed),
            )

        return read

    def _named(
        self, compared: _Compared, reading: Way, effort: ReadingEffort, seed: int, epsilon: float
    ) -> NamedReading:
        """Return how often the attacker over all words names a word, or its kind."""
        how = {"directions": effort.directions, "seed": seed}
        public, kinds = self.public, self._kinds
        known: dict[str, object] = {}
        if reading != "named" and public is not None:
            known["public"] = public.digest
        if reading == "kinds" and kinds is not None:
            known["kinds"] = kinds.digest
        key = self._key(compared, epsilon, reading, **self._digests, **known, effort=how)

        def attack() -> NamedReading:
            setting = Setting(embedding=self._embedding, mechanism=compared.chosen, epsilon=epsilon)
            shares = read_named(self._attacker, setting, reading, directions=effort.directions, seed=seed)
            share, tries = shares.share_of(reading), shares.tries_of(reading)
            return NamedReading(epsilon=epsilon, share=share, error=standard_error(share, tries))

        return self._saved.get(key, NamedReading, attack)

    @cached_property
    def _digests(self) -> dict[str, object]:
        return {"learn": digest_of(self.learn), "test": digest_of(self.test)}

    def _key(self, compared: _Compared, epsilon: float, what: str, **more: object) -> dict[str, object]:
        which = {"embedding": self._embedding.fingerprint, "mechanism": compared.identity}
        return {**which, "epsilon": epsilon, "what": what, **more}


def _with_all_readings(
    match: Match[NamedReading], read: Callable[[float], PrivacyReadings]
) -> Match[PrivacyReadings]:
    """Return where the attacker over all words is met, with all that is read there."""
    named = match.reached
    if named is None:
        return Match(target=match.target, reached=None, problem=match.problem)
    reading = read(named.epsilon)
    name = match.target.reading
    errors = {**reading.errors, name: named.error}
    return Match(target=match.target, reached=replace(reading, errors=errors, **{str(name): named.share}))


class _Compared:
    """A mechanism that takes part: its name as typed, what identifies it in saved measurements, and what
    makes it at an ε."""

    def __init__(self, mechanism: ChosenMechanism, embedding: Embedding) -> None:
        # A list of words is read from its file once, not at every ε.
        read = replace(mechanism, options=checked_options(entry_of(mechanism.name), mechanism.options))
        self.name, self.chosen = name_of(mechanism), read
        self.identity = {
            "name": mechanism.name,
            "parameters": dict(read(embedding, epsilon=1.0).guarantee.parameters),
        }
        # Runs share what a mechanism prepared.
        self.make: Callable[[float], Mechanism] = lru_cache(1)(
            lambda epsilon: read(embedding, epsilon=epsilon)
        )


def mean_distance(embedding: Embedding, before: Ids, after: Ids) -> float:
    """Return the mean distance between words and what became of them."""
    total, at_once = 0.0, 16_384
    for start in range(0, len(before), at_once):
        part = slice(start, start + at_once)
        gaps = embedding.rows(before[part]).astype(np.float64) - embedding.rows(after[part])
        total += float(np.linalg.norm(gaps, axis=1).sum())
    return total / len(before)


def name_of(mechanism: ChosenMechanism) -> str:
    """Return a mechanism as it is typed, NAME or NAME:OPTION=VALUE,…; a list of sensitive words is not
    shown."""
    options = [
        name if name == "sensitive" else f"{name}={value}" for name, value in mechanism.options.items()
    ]
    return f"{mechanism.name}:{','.join(options)}" if options else mechanism.name
