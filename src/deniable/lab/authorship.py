"""Who wrote this? A classifier of style and topic, trained on original or on released text, names the author
of released text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from deniable.audit.draws import draw_texts
from deniable.audit.results import (
    NO_BOUND,
    AdvisedResult,
    Curves,
    Table,
    head_of,
    largest_acceptable,
    sorted_epsilons,
)
from deniable.audit.shares import Share, share_by_cluster
from deniable.decoding.channel_decoder import ChannelDecoder
from deniable.embeddings.embedding import Embedding
from deniable.errors import UnusableAuditData
from deniable.interfaces import Mechanism
from deniable.lab.decoded import USUAL, Decoding, learn_decoders
from deniable.measures.catalogue import Setting
from deniable.measures.estimate import Estimate
from deniable.measures.texts import Texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count, validated_share
from deniable.progress import Report
from deniable.records.reading import LabelledTexts
from deniable.report.wording import Point, percent_fixed
from deniable.utility.accuracy import whole_counts
from deniable.utility.classifiers import SoftTfidf, sklearn
from deniable.words.cutter import Cutter

_JUDGED = 0.25


@dataclass(frozen=True, kw_only=True)
class AuthorshipFinding:
    """How often the author of a text released at one ε is named, by what the classifier learnt from; the last
    two also read the text decoded, if that was tried."""

    epsilon: float
    learnt_from_original: Share
    learnt_from_released: Share
    decoded_from_original: Share | None = None
    decoded_from_released: Share | None = None

    @property
    def success(self) -> float:
        """How often the best of the classifiers is right."""
        return max(share.value for share in self.shares.values())

    @property
    def at_most(self) -> float:
        """The upper end of the 95 % intervals of all classifiers: what the advice goes by."""
        return max(share.high for share in self.shares.values())

    @property
    def shares(self) -> dict[str, Share]:
        """What each classifier that was tried reaches, by what it learnt from and what it read."""
        every = {
            "original, read as released": self.learnt_from_original,
            "released, read as released": self.learnt_from_released,
            "original, read decoded": self.decoded_from_original,
            "released, read decoded": self.decoded_from_released,
        }
        return {name: share for name, share in every.items() if share is not None}

    @property
    def best(self) -> str:
        """The name of the classifier that is right most often, as ``shares`` has it."""
        return max(self.shares, key=lambda name: self.shares[name].value)


@dataclass(frozen=True, kw_only=True)
class AuthorshipResult(AdvisedResult):
    """The result of ``audit_authorship``. ``guess`` is how often always naming the most frequent author is
    right."""

    authors: int
    learnt_texts: int
    judged_texts: int
    guess: float
    original: Share
    released: tuple[AuthorshipFinding, ...]

    heading = "Can the author be recognised"
    no_bound = NO_BOUND
    tried = (
        "A classifier of words and spelling learns from texts with known authors, original or released, and "
        "names the author of released texts that it has not seen. Where it says so, it also sees released "
        "text decoded: how often each word is expected behind the released ones."
    )

    @property
    def sentence(self) -> str:
        """What was found, in a few sentences."""
        ends = list(dict.fromkeys((self.released[0], self.released[-1]))) if self.released else []
        found = [(each.epsilon, each.success, each.at_most) for each in self.released]
        reached = " and ".join(
            f"{percent_fixed(each.success)} at ε = {each.epsilon:g} (learnt from {each.best})"
            for each in ends
        )
        return (
            f"Among {self.authors} authors the classifier names the right one for "
            f"{percent_fixed(self.original.value)} of original texts; "
            f"always naming the most frequent author is right for {percent_fixed(self.guess)}. "
            + (f"Of released texts the best attacker names {reached}. " if reached else "")
            + self.advice("of the texts")
            + self.unsure(
                found, "with more authors it is surer, since the texts of an author count together."
            )
        )

    @property
    def tables(self) -> list[Table]:
        """How often the author of a text is named."""
        names = list(self.released[0].shares) if self.released else []
        rows = [["original text", _with_interval(self.original), *["–"] * (len(names) - 1)]] if names else []
        rows += [
            [f"ε = {each.epsilon:g}", *(_with_interval(each.shares[name]) for name in names)]
            for each in self.released
        ]
        caption = (
            "How often the author of a text is named (95 % interval), by what was learnt from and how it "
            "was read"
        )
        return [Table(caption, ["text", *names], rows)]

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The values of ε that were tried, by their size."""
        return tuple(sorted({each.epsilon for each in self.released}))

    @property
    def curves(self) -> list[Curves]:
        """How often the author is named against ε."""
        names = self.released[0].shares if self.released else ()
        lines = {
            f"learnt from {name}": [Point(each.epsilon, each.shares[name].value) for each in self.released]
            for name in names
        }
        caption = "How often the author of a released text is named."
        levels = {"original text": self.original.value, "guessing blindly": self.guess}
        return [Curves(lines=lines, y="authors named", caption=caption, levels=levels)]


def _with_interval(share: Share) -> str:
    return f"{percent_fixed(share.value)} ({share.interval})"


class Split(NamedTuple):
    """Texts to learn from and texts to judge by, of the same authors."""

    learnt: LabelledTexts
    judged: LabelledTexts

    @property
    def guess(self) -> float:
        """How often always naming the author with most texts is right."""
        most = Counter(self.learnt.labels).most_common(1)[0][0]
        return self.judged.labels.count(most) / len(self.judged.labels)


class AuthorClassifier:
    """TF-IDF of words, pairs of words and short strings of characters, and a linear SVM.

    With ``counts`` it also sees how often each word is expected behind a text. Case is kept: a release folds
    it where the embedding does, and where it does not, case tells authors apart.
    """

    def __init__(self, learnt: LabelledTexts, counts: Any = None) -> None:
        """Learn from texts and their expected counts, one row a text.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        tfidf, texts = sklearn("feature_extraction.text").TfidfVectorizer, learnt.texts
        least = 2 if len(texts) > 200 else 1
        common: dict[str, Any] = {"lowercase": False, "sublinear_tf": True, "min_df": least}
        spelling = tfidf(analyzer="char_wb", ngram_range=(2, 4), max_features=200_000, **common)
        union = sklearn("pipeline").make_union(tfidf(ngram_range=(1, 2), **common), spelling)
        self._features = union.fit(texts)
        self._weights = None if counts is None else SoftTfidf().fit(counts)
        self._model = sklearn("svm").LinearSVC(dual=True, C=1.0, random_state=0, max_iter=5000)
        self._model.fit(self._both(texts, counts), learnt.labels)

    def share_named(self, judged: LabelledTexts, counts: Any = None) -> Share:
        """Return how often it names the author of a text; the texts of an author count together."""
        named, authors = self._model.predict(self._both(judged.texts, counts)), np.array(judged.labels)
        share = share_by_cluster(
            named == authors, np.unique(authors, return_inverse=True)[1].astype(np.int64)
        )
        assert share is not None  # noqa: S101 - every author has a text that is judged
        return share

    def _both(self, texts: Sequence[str], counts: Any) -> Any:
        features = self._features.transform(texts)
        if self._weights is None:
            return features
        from scipy.sparse import hstack

        both = hstack([features, self._weights.transform(counts)], format="csr")
        # The library takes no others.
        both.indices, both.indptr = both.indices.astype(np.int32), both.indptr.astype(np.int32)
        return both


def audit_authorship(
    data: LabelledTexts,
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilons: Sequence[float],
    authors: int | None = None,
    min_texts: int = 4,
    acceptable: float = 0.2,
    decoding: Decoding | None = USUAL,
    seed: int = 0,
    report: Report | None = None,
) -> AuthorshipResult:
    """Train classifiers of style on original and on released text, and return how often they name the author
    of released text.

    Intervals take the texts of an author together: an author who is easily told is told in most texts. At
    most ``authors`` authors are taken, those with the most texts; those with fewer than ``min_texts`` texts
    are left out. ``acceptable`` is how often the best classifier may name the author. ``decoding`` says how
    released text is decoded for classifiers that read it so; with None it is not.

    :raises InvalidParameter: if an argument is not allowed.
    :raises RecordError: if a public text for decoding cannot be read.
    :raises UnusableAuditData: if there are not two authors with enough texts, or the public text holds no two
        words in a row.
    :raises MissingExtra: if scikit-learn is not installed.
    """
    sklearn("svm")
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    acceptable, values = validated_share(acceptable, "acceptable"), sorted_epsilons(epsilons)
    split = split_by_author(data, authors=authors, fewest=min_texts, seed=seed)
    original = cut_split(split, embedding)
    informed = AuthorClassifier(original.learnt)
    decoder_at = None if decoding is None else learn_decoders(embedding, mechanism, values, decoding)
    released = []
    for done, value in enumerate(values):
        if report is not None:
            report(done, len(values))
        drawn = draw_split(split, mechanism(embedding, epsilon=value), seed=seed)
        texts = [*drawn.learnt.texts, *drawn.judged.texts]
        decoder = None if decoder_at is None else decoder_at(value, texts)
        released.append(name_authors_at(value, informed, drawn, original=original, decoder=decoder))
    if report is not None:
        report(len(values), len(values))
    advice = largest_acceptable(((each.epsilon, each.at_most) for each in released), acceptable)
    return AuthorshipResult(
        **head_of("authorship", embedding, mechanism, seed),
        acceptable=acceptable,
        largest_acceptable_epsilon=advice,
        authors=len(set(split.learnt.labels)),
        learnt_texts=len(split.learnt.texts),
        judged_texts=len(split.judged.texts),
        guess=split.guess,
        original=informed.share_named(original.judged),
        released=tuple(released),
    )


def name_authors_at(
    epsilon: float,
    informed: AuthorClassifier,
    released: Split,
    *,
    original: Split | None = None,
    decoder: ChannelDecoder | None = None,
) -> AuthorshipFinding:
    """Return how often the author of released text is named by classifiers that learnt from original and from
    released text; with a ``decoder`` also by those that see how often each word is expected behind it."""
    found = AuthorshipFinding(
        epsilon=epsilon,
        learnt_from_original=informed.share_named(released.judged),
        learnt_from_released=AuthorClassifier(released.learnt).share_named(released.judged),
    )
    if original is None or decoder is None:
        return found
    judged = decoder.expected_counts(released.judged.texts)
    words = [text.split(" ") for text in original.learnt.texts]
    ids = np.array(Cutter(decoder.embedding).ids([word for text in words for word in text]))
    offsets = np.cumsum([0, *map(len, words)])
    known = whole_counts(ids, offsets, decoder.embedding)[:, decoder.inputs]
    by_original = AuthorClassifier(original.learnt, known)
    by_released = AuthorClassifier(released.learnt, decoder.expected_counts(released.learnt.texts))
    return replace(
        found,
        decoded_from_original=by_original.share_named(released.judged, judged),
        decoded_from_released=by_released.share_named(released.judged, judged),
    )


def split_by_author(
    data: LabelledTexts, *, authors: int | None = None, fewest: int = 4, seed: int = 0
) -> Split:
    """Return the texts of the authors with most texts, a quarter of each author's held back to judge by.

    :raises InvalidParameter: if a number is not allowed.
    :raises UnusableAuditData: if there are not two authors with enough texts.
    """
    fewest, counts = validated_count(fewest, "min_texts", at_least=2), Counter(data.labels)
    by_texts = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    enough = [author for author, count in by_texts if count >= fewest]
    kept = enough[: None if authors is None else validated_count(authors, "authors", at_least=2)]
    if len(kept) < 2:
        raise UnusableAuditData(
            data.source,
            f"has {len(kept)} author{'' if len(kept) == 1 else 's'} with at least {fewest} texts "
            f"({len(counts):,} in all, the largest number of texts is {max(counts.values()):,}); telling "
            "authors apart needs two",
        )
    rng = np.random.default_rng(validated_count(seed, "seed", at_least=0))
    learnt, judged = list[int](), list[int]()
    for author in kept:
        places = rng.permutation(np.flatnonzero(np.array(data.labels) == author)).tolist()
        held = max(1, round(_JUDGED * len(places)))
        judged += places[:held]
        learnt += places[held:]
    return Split(data.take(learnt), data.take(judged))


def cut_split(split: Split, embedding: Embedding) -> Split:
    """Return the texts cut and folded as for a release, with no word changed."""
    cutter = Cutter(embedding)
    cut = (replace(each, texts=[" ".join(cutter.words(text)) for text in each.texts]) for each in split)
    return Split(*cut)


def draw_split(split: Split, mechanism: Mechanism, *, seed: int) -> Split:
    """Return the texts as released, with noise of their own in both parts."""
    learnt, judged = (
        replace(each, texts=draw_texts(mechanism, each.texts, seed=own))
        for each, own in zip(split, (seed + 1, seed), strict=True)
    )
    return Split(learnt, judged)


@dataclass(frozen=True, kw_only=True)
class ShareOfAuthors:
    """The measure: the share of texts whose author, which is their label, is named by the best of two
    classifiers of style: one learns from original text, one from released text."""

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:
        """Return the share in one release of the texts, of which a quarter is judged.

        :raises UnusableAuditData: if there are not two authors with two texts.
        """
        written = [" ".join(words) for words in texts.words]
        data = LabelledTexts(source="texts", labels=[str(label) for label in texts.labels], texts=written)
        split = cut_split(split_by_author(data, fewest=2, seed=seed), setting.embedding)
        informed = AuthorClassifier(split.learnt)
        finding = name_authors_at(
            setting.epsilon, informed, draw_split(split, setting.mechanism_at_epsilon, seed=seed)
        )
        return Estimate(
            value=finding.success,
            low=finding.shares[finding.best].low,
            high=finding.at_most,
            blind=split.guess,
            statement="authors named by classifiers of words and spelling",
        )
