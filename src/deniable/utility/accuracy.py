"""The one measure of use: how often labels are predicted correctly by somebody who learns from some texts and
judges others.

A receiver knows the released texts, the embedding, the mechanism and ε, and reads a release in one of four
ways: its words as released; decoded, as the counts of words that are expected behind it; or the mean vector
of each text, of either. How frequent words are behind a release is learnt from the release itself, without
labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ids
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import DIRECTIONS, make_channel
from deniable.decoding.channel_decoder import ChannelDecoder
from deniable.decoding.priors import SUPPORT, first_shares
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.measures.catalogue import Setting
from deniable.measures.estimate import Estimate, ends_of_mean
from deniable.measures.texts import Texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.noise.randomness import SecureRandomness
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.utility.classifiers import Classifier, Form, mean_vectors
from deniable.words.released import ReleasedWords

Reading = Literal["as released", "decoded", "mean vectors", "decoded mean vectors"]
AS_RELEASED: Reading = "as released"
DECODED: Reading = "decoded"

Place = Literal["train", "test", "both"]
PLACES: tuple[Place, ...] = ("train", "test", "both")
"""Where text is released: what is learnt from, what is judged, or both."""

Labels = NDArray[Any]

_STEPS = 60
"""How often the shares of words are improved at most. Many releases are decoded here; later steps do not
change what models learn."""

_WORDS_AT_ONCE = 16_384


@dataclass(frozen=True, kw_only=True)
class DecodingEffort:
    """Which words may have gone in, and how many directions, points or draws there are of each."""

    support: int = SUPPORT
    directions: int = DIRECTIONS

    def __post_init__(self) -> None:
        validated_count(self.support, "support")
        validated_count(self.directions, "directions")


class Version:
    """One version of texts, the original or a release, as learners read it."""

    def __init__(self, texts: Texts, embedding: Embedding, channel: Channel | None = None) -> None:
        """Take texts; with a ``channel`` they are a release that can be decoded."""
        self.texts, self.embedding, self.channel = texts, embedding, channel
        self._forms: dict[Reading, Any] = {}

    def form(self, reading: Reading) -> Any:
        """Return all texts in the form of one reading: lists of words, counts, or vectors; one row a text."""
        if reading not in self._forms:
            self._forms[reading] = self._make(reading)
        return self._forms[reading]

    def rows(self, reading: Reading, places: Ids) -> Any:
        """Return some texts in the form of one reading."""
        form = self.form(reading)
        return [form[i] for i in places.tolist()] if isinstance(form, list) else form[places]

    def _make(self, reading: Reading) -> Any:
        if reading == "as released":
            return self.texts.words
        if reading == "decoded":
            return self._whole if self.channel is None else expected_counts(self.texts.words, self.channel)
        return mean_vectors(
            self._whole if reading == "mean vectors" else self.form("decoded"), self.embedding
        )

    @cached_property
    def _whole(self) -> Any:
        return whole_counts(self.texts.ids, self.texts.offsets, self.embedding)


def release_texts(
    texts: Texts, mechanism: Mechanism, channel: Channel | None = None, *, threads: int = 1
) -> Version:
    """Return texts released with secure noise, for learning in memory, never to be written."""
    released = draw_words(texts.ids.astype(np.int64), mechanism, threads=threads)
    return Version(texts.released(released, mechanism.embedding), mechanism.embedding, channel)


def draw_words(ids: Ids, mechanism: Mechanism, *, threads: int = 1) -> Ids:
    """Return what words become, with secure noise; several threads pay where the search runs on a GPU."""
    randomness = SecureRandomness()  # draws from a generator of its own in every thread
    released = np.empty(len(ids), dtype=np.int64)

    def draw_part(start: int) -> None:
        part = slice(start, start + _WORDS_AT_ONCE)
        released[part] = mechanism.perturb(ids[part], randomness)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(draw_part, range(0, len(ids), _WORDS_AT_ONCE)))  # a list, so that errors come up here
    return released


MODEL = "TF-IDF and logistic regression"
"""What learns here from words as released, in words."""

_FORMS: dict[Reading, Form] = {AS_RELEASED: "words", DECODED: "counts"}


class Accuracy:
    """Logistic regression on one reading of some texts, judged on others: original, released, or one after
    the other."""

    def __init__(
        self,
        original: Version,
        labels: Labels,
        learnt: Ids,
        judged: Ids,
        *,
        reading: Reading = AS_RELEASED,
        strength: float = 10.0,
    ) -> None:
        """Take the original texts with their labels, and the places of those to learn from and to judge; fit
        with 1/``strength`` of regularisation."""
        self._original, self._labels, self._learnt, self._judged = original, labels, learnt, judged
        self._reading, self._strength = reading, strength

    @cached_property
    def _clean(self) -> Classifier:
        return self._learn(self._original)

    def original(self) -> Labels:
        """Return the labels that are told from the original after learning from the original."""
        return self._tell(self._clean, self._original)

    def told(self, released: Version, places: Iterable[Place] = PLACES) -> dict[Place, Labels]:
        """Return the labels that are told where text is released at some places."""
        noisy = self._learn(released) if set(places) & {"train", "both"} else None
        told: dict[Place, Labels] = {}
        for place in places:
            model = self._clean if place == "test" or noisy is None else noisy
            told[place] = self._tell(model, self._original if place == "train" else released)
        return told

    def share(self, told: Labels) -> float:
        """Return the share of judged texts whose label is predicted correctly."""
        return float((told == self._labels[self._judged]).mean())

    def shares(self, released: Version, places: Iterable[Place] = PLACES) -> dict[Place, float]:
        """Return these shares where text is released at some places."""
        return {place: self.share(told) for place, told in self.told(released, places).items()}

    def _learn(self, version: Version) -> Classifier:
        model = Classifier(_FORMS.get(self._reading, "vectors"), strength=self._strength)
        return model.fit(version.rows(self._reading, self._learnt), self._labels[self._learnt])

    def _tell(self, model: Classifier, version: Version) -> Labels:
        labels: Labels = model.predict(version.rows(self._reading, self._judged))
        return labels


@dataclass(frozen=True, kw_only=True)
class AccuracyOfLabels:
    """The measure: the share of labels predicted by somebody who has released text only, learns from the
    first ``learnt`` texts, or from three quarters of all, and judges the rest. ``inputs`` are the words that
    may have gone in; without them those that ``effort`` says."""

    reading: Reading = AS_RELEASED
    effort: DecodingEffort = field(default_factory=DecodingEffort)
    learnt: int | None = None
    inputs: Ids | None = None
    strength: float = 10.0

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:
        """Return the share in one release of the texts. The noise is from the seed, for measuring in memory
        only.

        :raises InvalidParameter: if the texts have no two labels with two texts or more.
        """
        names, labels = np.unique(np.array(texts.labels, dtype=str), return_inverse=True)
        if len(names) < 2 or (self.learnt is None and np.bincount(labels).min() < 2):
            raise InvalidParameter(
                "texts", f"{len(names)} labels", "need two labels or more, each of two texts or more"
            )
        if self.learnt is None:
            learnt, judged = stratified_split(labels, 0.25, seed=seed)
        else:
            learnt, judged = np.split(np.arange(len(texts)), [self.learnt])
        ids = Draws(setting.mechanism_at_epsilon, seed=seed).of_each(texts.ids)
        released = Version(texts.released(ids, setting.embedding), setting.embedding)
        if self.reading in ("decoded", "decoded mean vectors"):
            released.channel = self._channel(setting, released)
        original = Version(texts, setting.embedding)
        accuracy = Accuracy(original, labels, learnt, judged, reading=self.reading, strength=self.strength)
        right = (accuracy.told(released, ["both"])["both"] == labels[judged]).astype(np.float64)
        low, high = ends_of_mean(right)
        blind = float((labels[judged] == np.bincount(labels[learnt]).argmax()).mean())
        return Estimate(
            value=float(right.mean()),
            low=low,
            high=high,
            blind=blind,
            statement=f"labels told, {self.reading}",
        )

    def _channel(self, setting: Setting, released: Version) -> Channel:
        if self.inputs is not None:
            return setting.channel(self.inputs, directions=self.effort.directions)
        return open_channel_of(setting.embedding, setting.mechanism, setting.epsilon, self.effort, [released])


def stratified_split(labels: Ids, held_out: float, *, seed: int) -> tuple[Ids, Ids]:
    """Return places to learn from and to judge by, with the same share of every class held out, at least
    one."""
    rng = np.random.Generator(np.random.PCG64(seed))
    learnt, judged = [], []
    for number in range(int(labels.max()) + 1):
        places = rng.permutation(np.flatnonzero(labels == number))
        held = min(max(1, round(held_out * len(places))), len(places) - 1)
        judged.append(places[:held])
        learnt.append(places[held:])
    return np.sort(np.concatenate(learnt)), np.sort(np.concatenate(judged))


def whole_counts(ids: NDArray[Any], offsets: Ids, embedding: Embedding) -> Any:
    """Return word counts, one row a text, a column for each word and the last one for ⊥."""
    from scipy.sparse import csr_array

    # Copies: sums are made in place.
    counts = csr_array(
        (np.ones(len(ids)), ids.astype(np.int64), offsets.copy()),
        shape=(len(offsets) - 1, len(embedding) + 1),
    )
    counts.sum_duplicates()
    return counts


def expected_counts(released: Sequence[list[str]], channel: Channel) -> Any:
    """Return the expected counts of the words behind each released text, in the columns of
    ``whole_counts``."""
    texts = [" ".join(words) for words in released]
    decoder = ChannelDecoder.learn_from(channel, texts, start=first_shares(channel), most_steps=_STEPS)
    return decoded_counts(decoder, texts, channel.embedding)


def decoded_counts(decoder: ChannelDecoder, texts: Sequence[str], embedding: Embedding) -> Any:
    """Return the expected counts of a decoder in the columns of ``whole_counts``."""
    from scipy.sparse import csr_array

    expected = decoder.expected_counts(texts)
    columns = decoder.inputs[expected.indices]
    counts = csr_array((expected.data, columns, expected.indptr), shape=(len(texts), len(embedding) + 1))
    counts.sort_indices()
    return counts


def input_words(embedding: Embedding, effort: DecodingEffort) -> Ids:
    """Return the words that may have gone in: the first ``effort.support`` of the embedding, and ⊥."""
    return np.append(np.arange(min(effort.support, len(embedding)), dtype=np.int64), embedding.unknown_id)


def open_channel_of(
    embedding: Embedding,
    mechanism: ChosenMechanism,
    epsilon: float,
    effort: DecodingEffort,
    released: Sequence[Version],
    *,
    report: Report | None = None,
) -> Channel:
    """Return the channel at one ε from the words that may have gone in to those of some releases."""
    texts = (" ".join(words) for release in released for words in release.texts.words)
    counts = ReleasedWords(embedding).count(texts)
    return make_channel(
        embedding,
        mechanism,
        epsilon=epsilon,
        inputs=input_words(embedding, effort),
        outputs=np.flatnonzero(counts.learn + counts.hold),
        directions=effort.directions,
        keep=False,
        report=report,
    )
