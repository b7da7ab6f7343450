"""Who wrote this? A classifier of style and topic, trained on original or on released text, names the author of released text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deniable.audit.inversion.adversary import Share
from deniable.errors import UnusableAuditData
from deniable.learning.scores import sklearn
from deniable.parameters import validated_count
from deniable.records.labelled import LabelledTexts

FEWEST_TEXTS = 4


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


def split_by_author(
    data: LabelledTexts, *, authors: int | None = None, fewest: int = FEWEST_TEXTS, seed: int = 0, share: float = 0.25
) -> Split:
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
    """TF-IDF of words, pairs of words and short strings of characters, and a linear SVM."""

    def __init__(self, texts: Sequence[str], authors: Sequence[str]) -> None:
        """Learn.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        pipeline, extraction, svm = sklearn("pipeline"), sklearn("feature_extraction.text"), sklearn("svm")
        words = extraction.TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2 if len(texts) > 200 else 1)
        characters = extraction.TfidfVectorizer(
            sublinear_tf=True, analyzer="char_wb", ngram_range=(2, 4), min_df=2 if len(texts) > 200 else 1, max_features=200_000
        )
        self._model: Any = pipeline.make_pipeline(
            pipeline.make_union(words, characters), svm.LinearSVC(dual=True, C=1.0, random_state=0, max_iter=5000)
        )
        self._model.fit(texts, authors)

    def named(self, texts: Sequence[str]) -> list[str]:
        """Return the author it names for each text."""
        return [str(author) for author in self._model.predict(texts)]


Release = Callable[[list[str]], list[str]]
"""Releases texts, given as texts."""


def audit_authorship(split: Split, releases: dict[float, Release], plain: Release) -> dict[str, Any]:
    """Return how often the author is named, as JSON-ready data.

    ``releases`` are keyed by ε; ``plain`` only cuts and folds text as a release does. ``original`` is the success on original
    text, where classifier and text are cut and folded alike; per ε, ``learnt_from_original`` and ``learnt_from_released`` are the
    successes on released text of classifiers trained on either.
    """
    informed = AuthorClassifier(plain(split.learnt), split.learnt_authors)
    rows = []
    for epsilon, release in sorted(releases.items()):
        judged = release(split.judged)
        adaptive = AuthorClassifier(release(split.learnt), split.learnt_authors)
        rows.append(
            {
                "epsilon": epsilon,
                "learnt_from_original": _right(informed, judged, split.judged_authors),
                "learnt_from_released": _right(adaptive, judged, split.judged_authors),
            }
        )
    return {
        "authors": split.authors,
        "learnt_texts": len(split.learnt),
        "judged_texts": len(split.judged),
        "guess": split.guess,
        "original": _right(informed, plain(split.judged), split.judged_authors),
        "released": rows,
    }


def _right(classifier: AuthorClassifier, texts: Sequence[str], authors: Sequence[str]) -> dict[str, float]:
    hits = sum(named == author for named, author in zip(classifier.named(texts), authors, strict=True))
    return Share(hits=hits, tries=len(authors)).to_dict()


def largest_acceptable(result: dict[str, Any], acceptable: float) -> float | None:
    """Return the largest ε at which neither classifier names the author more often than ``acceptable``; None if there is none."""
    names = ("learnt_from_original", "learnt_from_released")
    fine = [row["epsilon"] for row in result["released"] if max(row[name]["value"] for name in names) <= acceptable]
    return max(fine, default=None)
