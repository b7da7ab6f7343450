"""The output distribution of every mechanism, computed in float64 straight from its definition on a few words
in the plane.

Nothing is shared with the mechanisms: the noise of the nearest-word family is laid out as an even grid of
lengths (quantiles) and angles around the word, and every point of it is looked at.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from deniable import Embedding
from deniable.arrays import Floats, Ids

LENGTHS, ANGLES = 300, 360


def few_words() -> Embedding:
    """Return seven words in the plane, stretched along one axis; the last shares its vector with the
    second."""
    points = [[0.0, 0.0], [1.0, 0.2], [-1.5, 0.1], [2.5, -0.3], [0.2, 0.8], [-3.0, -0.5], [1.0, 0.2]]
    return Embedding([f"w{i}" for i in range(len(points))], points, unknown=[0.4, -0.4])


def points_around(embedding: Embedding, word: int, lengths: Floats, shape: Floats | None = None) -> Floats:
    """Return the points A·(length, angle) around a word, each as likely as any other."""
    angles = (np.arange(ANGLES) + 0.5) * 2 * math.pi / ANGLES
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1) @ (np.eye(2) if shape is None else shape)
    points: Floats = embedding.rows(np.array([word]))[0] + lengths[:, None, None] * directions[None]
    return points.reshape(-1, 2)


def gamma_lengths(epsilon: float) -> Floats:
    lengths: Floats = stats.gamma.ppf((np.arange(LENGTHS) + 0.5) / LENGTHS, 2, scale=1 / epsilon)
    return lengths


def chi_lengths(epsilon: float) -> Floats:
    lengths: Floats = stats.chi.ppf((np.arange(LENGTHS) + 0.5) / LENGTHS, 2) / epsilon
    return lengths


def mahalanobis_shape(embedding: Embedding, lam: float) -> Floats:
    from scipy.linalg import sqrtm

    covariance = np.cov(np.asarray(embedding.vectors, dtype=np.float64).T, ddof=0)
    shape: Floats = np.real(sqrtm(lam * covariance / np.mean(np.diag(covariance)) + (1 - lam) * np.eye(2)))
    return shape


def distances_to_words(embedding: Embedding, points: Floats) -> Floats:
    vectors = np.asarray(embedding.vectors, dtype=np.float64)
    distances: Floats = np.linalg.norm(points[:, None, :] - vectors[None], axis=2)
    distances[:, embedding.shadowed] = np.inf
    return distances


def nearest_word(embedding: Embedding, points: Floats) -> Floats:
    """Return the share of the points that is nearest to each word."""
    return np.bincount(distances_to_words(embedding, points).argmin(axis=1), minlength=len(embedding)) / len(
        points
    )


def vickrey(embedding: Embedding, points: Floats, t: float) -> Floats:
    distances = distances_to_words(embedding, points)
    order = np.argsort(distances, axis=1)[:, :2]
    d1, d2 = (distances[np.arange(len(points)), order[:, i]] for i in (0, 1))
    first = (1 - t) * d2 / (t * d1 + (1 - t) * d2)
    shares = np.bincount(order[:, 0], weights=first, minlength=len(embedding))
    shares += np.bincount(order[:, 1], weights=1 - first, minlength=len(embedding))
    return shares / len(points)


def rank_smoothing(embedding: Embedding, plain: Floats, decay: float) -> Floats:
    words = np.delete(np.arange(len(embedding)), embedding.shadowed)
    ranks = np.exp(-decay * np.arange(len(words)))
    ranks /= ranks.sum()
    shares = np.zeros(len(embedding))
    between = distances_to_words(embedding, np.asarray(embedding.vectors, dtype=np.float64))
    for word in words:
        nearest_first = words[np.argsort(between[word, words], kind="stable")]
        shares[nearest_first] += plain[word] * ranks
    return shares


def softmax(embedding: Embedding, word: int, epsilon: float, *, cap: float = math.inf) -> Floats:
    distances = distances_to_words(embedding, embedding.rows(np.array([word])).astype(np.float64))[0]
    weights = np.where(np.isinf(distances), 0.0, np.exp(-epsilon / 2 * np.minimum(distances, cap)))
    shares: Floats = weights / weights.sum()
    return shares


def custext(embedding: Embedding, word: int, epsilon: float, members: Ids) -> Floats:
    distances = distances_to_words(embedding, embedding.rows(np.array([word])).astype(np.float64))[0][members]
    scores = -(distances - distances.min()) / (distances.max() - distances.min())
    shares: Floats = np.zeros(len(embedding))
    shares[members] = np.exp(epsilon * scores / 2)
    shares /= shares.sum()
    return shares


def line(embedding: Embedding, word: int, epsilon: float, lists: int) -> Floats:
    """Return the shares of 1-Diffractor's noise; the lists are walks over so few words that all of them are
    among the nearest."""
    vectors = np.asarray(embedding.vectors, dtype=np.float64)
    words = np.delete(np.arange(len(embedding)), embedding.shadowed).tolist()
    entering = embedding.rows(np.array([word])).astype(np.float64)[0]
    at = min(words, key=lambda other: float(np.linalg.norm(vectors[other] - entering)))
    shares = np.zeros(len(embedding))
    for start in range(lists):
        order, left = [words[start]], [other for other in words if other != words[start]]
        while left:
            order.append(
                min(left, key=lambda other: float(np.linalg.norm(vectors[other] - vectors[order[-1]])))
            )
            left.remove(order[-1])
        for step in range(-2_000, 2_001):
            place = min(max(order.index(at) + step, 0), len(order) - 1)
            shares[order[place]] += math.tanh(epsilon / 2) * math.exp(-epsilon * abs(step)) / lists
    return shares


def randomized_response(embedding: Embedding, word: int, epsilon: float) -> Floats:
    k = len(embedding) - len(embedding.shadowed)
    shares = np.full(
        len(embedding), 1 / k if word == embedding.unknown_id else 1 / (math.exp(epsilon) + k - 1)
    )
    shares[embedding.shadowed] = 0.0
    if word != embedding.unknown_id:
        first = int(np.flatnonzero((embedding.vectors == embedding.vectors[word]).all(axis=1))[0])
        shares[first] = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    return shares
