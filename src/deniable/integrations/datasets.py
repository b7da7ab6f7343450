"""Hugging Face datasets: a column of a ``Dataset`` or ``DatasetDict``, released once and kept in the cache.

>>> from datasets import Dataset
>>> from deniable.integrations.datasets import privatize
>>> reviews = Dataset.from_dict({"text": ["the soup was cold", "best bread in the village"]})
>>> released = privatize(reviews, "text", epsilon=6)

``map`` keeps its results on disk under a hash of the function. Here that is right: a script that runs again gets the first
release from the cache and spends nothing more. But the hash must not depend on noise, and must change with all that the
release depends on; so it is computed here, from the data, the settings and the fingerprint of the embedding.
"""

from __future__ import annotations

import secrets
from typing import Any, TypeVar

from deniable.errors import InvalidParameter, MissingExtra
from deniable.integrations.recipe import Recipe
from deniable.version import __version__

try:
    from datasets import Dataset, DatasetDict, is_caching_enabled
    from datasets.fingerprint import Hasher
except ImportError as error:
    raise MissingExtra("releasing Hugging Face datasets", "datasets") from error

Data = TypeVar("Data", Dataset, DatasetDict)


def privatize(
    dataset: Data,
    column: str,
    *,
    num_proc: int | None = None,
    batch_size: int = 1000,
    load_from_cache_file: bool | None = None,
    **settings: Any,
) -> Data:
    """Return the dataset with every word of a column replaced; the other columns pass as they are.

    ``settings`` are ``epsilon`` or ``record_epsilon``, ``embedding``, ``mechanism``, ``unknown``, ``punctuation``, ``case`` and
    ``keep_words``. The workers of ``num_proc`` draw noise of their own each. A release that is in the cache is returned as it is,
    unless ``load_from_cache_file=False`` asks for another one, which spends ε again.

    :raises InvalidParameter: if the column is not there or does not hold text, the dataset is a stream, or a setting is not allowed.
    """
    recipe = Recipe(**settings).pinned()
    if isinstance(dataset, DatasetDict):
        for split in dataset.values():
            _check(split, column)
        return DatasetDict(
            {
                name: privatize(
                    split, column, num_proc=num_proc, batch_size=batch_size, load_from_cache_file=load_from_cache_file, **settings
                )
                for name, split in dataset.items()
            }
        )
    _check(dataset, column)
    cached = is_caching_enabled() if load_from_cache_file is None else load_from_cache_file
    return dataset.map(
        _Release(recipe, column),
        batched=True,
        batch_size=batch_size,
        num_proc=num_proc,
        load_from_cache_file=load_from_cache_file,
        new_fingerprint=_fingerprint(dataset, recipe, column, cached=cached and bool(dataset.cache_files)),
        features=dataset.features,
        desc="deniable",
    )


class _Release:
    """What ``map`` sends to its workers: the settings, and no noise."""

    def __init__(self, recipe: Recipe, column: str) -> None:
        self._recipe, self._column = recipe, column

    def __call__(self, batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
        return {self._column: self._recipe.shared().many(batch[self._column])}


def _fingerprint(dataset: Dataset, recipe: Recipe, column: str, *, cached: bool) -> str:
    # Two releases must not go by one name, or a later step would be looked up for the one and found for the other.
    release = "kept" if cached else secrets.token_hex(16)
    return str(Hasher.hash([dataset._fingerprint, "deniable", __version__, column, recipe.described(), release]))


def _check(dataset: Any, column: str) -> None:
    if not isinstance(dataset, Dataset):
        problem = "is read anew each time it is gone through, and each time would be another release; use a Dataset, which is kept"
        raise InvalidParameter("dataset", type(dataset).__name__, problem)
    if column not in dataset.column_names:
        raise InvalidParameter("column", column, f"is not there; the columns are {', '.join(dataset.column_names)}")
    if getattr(dataset.features[column], "dtype", None) not in ("string", "large_string"):
        raise InvalidParameter("column", column, "does not hold text")
