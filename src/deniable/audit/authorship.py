"""Who wrote this? A classifier of style and topic, trained on original or on released text, names the author of released text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deniable.audit.draws import draw_texts
from deniable.audit.results import AdvisedResult, AtEpsilon, Share, head_of, largest_acceptable, share_of, sorted_epsilons
from deniable.embeddings.embedding import Embedding
from deniable.errors import UnusableAuditData
from deniable.interfaces import Mechanism
from deniable.learning.scores import sklearn
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count, validated_share
from deniable.progress import Report
from deniable.records.labelled import LabelledTexts
from deniable.words.cutter import Cutter


@dataclass(frozen=True, kw_only=True)
class AuthorshipFinding(AtEpsilon):
    """How often the author of a text released at one ε is named, by classifiers trained on original and on released text."""

    learnt_from_original: Share
    learnt_from_released: Share

    @property
    def success(self) -> float:
        """How often the better of the two classifiers is right."""
        return max(self.learnt_from_original.value, self.learnt_from_released.value)


@dataclass(frozen=True, kw_only=True)
class AuthorshipResult(AdvisedResult):
    """The result of ``audit_authorship``. ``guess`` is how often always naming the most frequent author is right."""

    authors: int
    learnt_texts: int
    judged_texts: int
    guess: float
    original: Share
    released: tuple[AuthorshipFinding, ...]


def audit_authorship(
    data: LabelledTexts,
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilons: Sequence[float],
    authors: int | None = None,
    min_texts: int = 4,
    acceptable: float = 0.2,
    seed: int = 0,
    report: Report | None = None,
) -> AuthorshipResult:
    """Train classifiers of style on original and on released text, and return how often they name the author of released text.

    At most ``authors`` authors are taken, those with the most texts; those with fewer than ``min_texts`` texts are left out.
    ``acceptable`` is how often the author may be named.

    :raises InvalidParameter: if an argument is not allowed.
    :raises UnusableAuditData: if there are not two authors with enough texts.
    :raises MissingExtra: if scikit-learn is not installed.
    """
    sklearn("svm")
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    acceptable, values = validated_share(acceptable, "acceptable"), sorted_epsilons(epsilons)
    split = split_by_author(data, authors=authors, fewest=min_texts, seed=seed)

    def releases() -> Iterator[tuple[float, Split]]:
        for done, value in enumerate(values):
            if report is not None:
                report(done, len(values))
            yield value, draw_split(split, mechanism(embedding, epsilon=value), seed=seed)

    original, released = name_authors(cut_split(split, embedding), releases())
    if report is not None:
        report(len(values), len(values))
    return AuthorshipResult(
        **head_of("authorship", embedding, mechanism, seed),
        acceptable=acceptable,
        largest_acceptable_epsilon=largest_acceptable(((each, each.success) for each in released), acceptable),
        authors=split.authors,
        learnt_texts=len(split.learnt),
        judged_texts=len(split.judged),
        guess=split.guess,
        original=original,
        released=released,
    )


def name_authors(original: Split, releases: Iterable[tuple[float, Split]]) -> tuple[Share, tuple[AuthorshipFinding, ...]]:
    """Return how often the author is named on original text, which is cut as a release cuts it, and on each release of it by its ε."""
    informed = AuthorClassifier(original.learnt, original.learnt_authors)
    found = []
    for epsilon, released in releases:
        adaptive = AuthorClassifier(released.learnt, released.learnt_authors)
        found.append(
            AuthorshipFinding(
                epsilon=epsilon,
                learnt_from_original=_share_named(informed, released),
                learnt_from_released=_share_named(adaptive, released),
            )
        )
    return _share_named(informed, original), tuple(found)


@dataclass(frozen=True, kw_only=True)
class Split:
    """Texts to learn from and texts to judge by, of the same authors."""

    learnt: list[str] = field(repr=False)
    learnt_authors: list[str] = field(repr=False)
    judged: list[str] = field(repr=False)
    judged_authors: list[str] = field(repr=False)

    @property
    def authors(self) -> int:
        """The number of authors."""
        return len(set(self.learnt_authors))

    @property
    def guess(self) -> float:
        """How often always naming the author with most texts is right."""
        most = Counter(self.learnt_authors).most_common(1)[0][0]
        return sum(author == most for author in self.judged_authors) / len(self.judged_authors)


def split_by_author(data: LabelledTexts, *, authors: int | None = None, fewest: int = 4, seed: int = 0, share: float = 0.25) -> Split:
    """Return the texts of the authors with most texts, a share of each author's held back to judge by.

    :raises InvalidParameter: if a number is not allowed.
    :raises UnusableAuditData: if there are not two authors with enough texts.
    """
    fewest = validated_count(fewest, "min_texts", at_least=2)
    enough = [author for author, count in sorted(data.counts().items(), key=lambda found: (-found[1], found[0])) if count >= fewest]
    kept = enough[: None if authors is None else validated_count(authors, "authors", at_least=2)]
    if len(kept) < 2:
        counts = data.counts()
        most = max(counts.values())
        raise UnusableAuditData(
            data.source,
            f"has {len(kept)} author{'' if len(kept) == 1 else 's'} with at least {fewest} texts "
            f"({len(counts):,} in all, the largest number of texts is {most:,}); telling authors apart needs two",
        )
    rng = np.random.default_rng(validated_count(seed, "seed", at_least=0))
    learnt, judged = [], []
    for author in kept:
        texts = [text for person, text in zip(data.people, data.texts, strict=True) if person == author]
        order = rng.permutation(len(texts))
        held = max(1, round(share * len(texts)))
        judged += [(author, texts[i]) for i in order[:held]]
        learnt += [(author, texts[i]) for i in order[held:]]
    return Split(
        learnt=[text for _, text in learnt],
        learnt_authors=[author for author, _ in learnt],
        judged=[text for _, text in judged],
        judged_authors=[author for author, _ in judged],
    )


class AuthorClassifier:
    """TF-IDF of words, pairs of words and short strings of characters, and a linear SVM.

    Texts are taken as they are: a release folds case where the embedding does, and where it does not, case tells authors apart.
    """

    def __init__(self, texts: Sequence[str], authors: Sequence[str]) -> None:
        """Learn.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        pipeline, extraction, svm = sklearn("pipeline"), sklearn("feature_extraction.text"), sklearn("svm")
        words = extraction.TfidfVectorizer(lowercase=False, sublinear_tf=True, ngram_range=(1, 2), min_df=2 if len(texts) > 200 else 1)
        characters = extraction.TfidfVectorizer(
            lowercase=False,
            sublinear_tf=True,
            analyzer="char_wb",
            ngram_range=(2, 4),
            min_df=2 if len(texts) > 200 else 1,
            max_features=200_000,
        )
        self._model: Any = pipeline.make_pipeline(
            pipeline.make_union(words, characters), svm.LinearSVC(dual=True, C=1.0, random_state=0, max_iter=5000)
        )
        self._model.fit(texts, authors)

    def predict(self, texts: Sequence[str]) -> list[str]:
        """Return the author it names for each text."""
        return [str(author) for author in self._model.predict(texts)]


def cut_split(split: Split, embedding: Embedding) -> Split:
    """Return the texts with their words as a release with this embedding cuts and folds them, and nothing changed."""
    cutter = Cutter(embedding)
    learnt, judged = ([" ".join(cutter.words(text)) for text in texts] for texts in (split.learnt, split.judged))
    return replace(split, learnt=learnt, judged=judged)


def draw_split(split: Split, mechanism: Mechanism, *, seed: int) -> Split:
    """Return the texts as a release would make them; those to learn from and those to judge by have noise of their own."""
    judged, learnt = draw_texts(mechanism, split.judged, seed=seed), draw_texts(mechanism, split.learnt, seed=seed + 1)
    return replace(split, learnt=learnt, judged=judged)


def _share_named(classifier: AuthorClassifier, split: Split) -> Share:
    hits = sum(named == author for named, author in zip(classifier.predict(split.judged), split.judged_authors, strict=True))
    return share_of(hits, len(split.judged))
