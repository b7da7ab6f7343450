"""Hugging Face datasets: a column of a ``Dataset`` or ``DatasetDict``, released once and kept in the cache.

>>> from datasets import Dataset
>>> from deniable.integrations.datasets import privatize
>>> reviews = Dataset.from_dict({"text": ["the soup was cold", "best bread in the village"]})
>>> released = privatize(reviews, "text", epsilon=6)

``map`` keeps its results on disk under a hash of the function. Here that is right: a script that runs again
gets the first release from the cache and spends nothing more. But the hash must not depend on noise, and must
change with all that the release depends on; so it is computed here, from the data, the settings and the
fingerprint of the embedding.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, MissingExtra
from deniable.noise.encoding import RecordId, UniqueIds, encode_id
from deniable.noise.keyed import noise_version
from deniable.records.deciding import JUDGED, judge_table
from deniable.records.formats.layout import Roles
from deniable.records.formats.naming import name_column
from deniable.release.release import Release, release_from
from deniable.version import __version__
from deniable.words.cutter import rules_for

try:
    from datasets import Dataset, DatasetDict, is_caching_enabled
    from datasets.fingerprint import Hasher
except ImportError as error:
    raise MissingExtra("releasing Hugging Face datasets", "datasets") from error

_IDS_AT_ONCE = 10_000

Data = TypeVar("Data", Dataset, DatasetDict)


def privatize(
    dataset: Data,
    column: str,
    *,
    release: Release | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    record_id: str | None = None,
    num_proc: int | None = None,
    batch_size: int = 1000,
    load_from_cache_file: bool | None = None,
    **settings: Any,
) -> Data:
    """Return the dataset with every word of a column replaced, and without the columns to ``drop``.

    Other columns are judged as ``deniable privatize`` judges those of a file: what looks private is in
    ``drop`` or ``keep``.

    ``settings`` are those of a ``Release``, which may be given in their place: ``epsilon`` and/or
    ``record_epsilon``, ``embedding``, ``mechanism`` and ``mechanism_options``, ``unknown``, ``punctuation``,
    ``case``, ``keep_words``, ``never_release``, ``key_file`` and ``consistent``. With a key, ``record_id`` is
    the column that names the records. The workers of ``num_proc`` draw noise of their own each. A release
    that is in the cache is returned as it is, unless ``load_from_cache_file=False`` asks for another one,
    which spends ε again where there is no key.

    :raises UndecidedColumns: if a column looks private and has no role.
    :raises InvalidParameter: if a column is not there or does not hold text, the dataset is a stream, or a
        setting is not allowed.
    """
    roles = Roles.of(text=[column], drop=drop, keep=keep)
    release = release_from(release, settings).pin()
    if (release.key_file is None) != (record_id is None):
        problem = "key_file= and record_id= go together: a keyed release needs what names the records"
        raise InvalidParameter("record_id", record_id, problem)
    task = _ColumnRelease(release, column, record_id)
    splits = dict(dataset) if isinstance(dataset, DatasetDict) else {"": dataset}
    for split in splits.values():
        task.check(split)
        _check_others(split, roles, release)
    if record_id is not None and not release.consistent:
        _check_unique(splits.values(), record_id)
    options: dict[str, Any] = {"num_proc": num_proc, "batch_size": batch_size}
    released = {name: task.of(split, load_from_cache_file, **options) for name, split in splits.items()}
    released = {name: split.remove_columns(list(drop)) for name, split in released.items()}
    return DatasetDict(released) if isinstance(dataset, DatasetDict) else released[""]


def _check_others(split: Dataset, roles: Roles, release: Release) -> None:
    """Check that the columns beside the released one were named or look harmless, and warn of what may be
    private.
    """
    for role, names in (("drop", roles.drop), ("keep", roles.keep)):
        if missing := [name for name in names if name not in split.column_names]:
            columns = ", ".join(split.column_names)
            raise InvalidParameter(role, missing[0], f"is not there; the columns are {columns}")
    first = split.with_format("arrow")[:JUDGED]
    others = [
        (name, _values(first[name].to_pylist(), split.features[name]))
        for name in split.column_names
        if name not in roles.named
    ]
    for warning in judge_table(others, Embedding.open(release.embedding), rows=len(split)):
        warnings.warn(warning, stacklevel=3)


def _values(values: list[Any], feature: Any) -> list[Any]:
    """Return the values of a column; of classes, which are numbers, the names that the dataset carries for
    them."""
    names = getattr(feature, "names", None)
    if names is None:
        return values
    return [None if each is None or each < 0 else names[each] for each in values]


def _check_unique(splits: Iterable[Dataset], record_id: str) -> None:
    """Check that no two rows have one id, over all splits: equal words of both would be released as equal."""
    seen = UniqueIds()
    parts = (
        part
        for split in splits
        for part in split.select_columns([record_id]).with_format("arrow").iter(_IDS_AT_ONCE)
    )
    names = (name for part in parts for name in part.column(0).to_pylist())
    again = next((row for row, name in enumerate(names, 1) if not seen.add(encode_id(name, row), row)), None)
    if again is None and (repeated := seen.repeated()) is not None:
        again = repeated[1]
    if again is not None:
        problem = f"row {again:,} (of all splits in a row) has the id of an earlier one"
        problem += "; name unique ids, or users with consistent=True"
        raise InvalidParameter("record_id", record_id, problem)


class _ColumnRelease:
    """What ``map`` sends to its workers: the settings, and no noise."""

    def __init__(self, release: Release, column: str, record_id: str | None) -> None:
        self._release, self._column, self._record_id = release, column, record_id

    def __call__(self, batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
        names: list[RecordId] | None = None
        if self._record_id is not None:  # named as ``deniable privatize --record-id`` names them
            consistent = self._release.consistent
            names = name_column(batch[self._record_id], self._column, consistent=consistent)
        return {self._column: self._release.shared_privatizer().many(batch[self._column], record_ids=names)}

    def of(self, dataset: Dataset, load_from_cache_file: bool | None, **options: Any) -> Dataset:
        cached = is_caching_enabled() if load_from_cache_file is None else load_from_cache_file
        # Two releases must not go by one name, or a later step would be looked up for the one and found for
        # the other.
        repeatable = self._release.key_file is not None or (cached and bool(dataset.cache_files))
        # Rules for words and the version of the noise, so that what was kept from before is not taken for
        # what is drawn now.
        rules = rules_for(Embedding.open(self._release.embedding))
        versions = [__version__, rules, noise_version(consistent=self._release.consistent)]
        asked = [self._release.describe(), self._column, self._record_id]
        parts = [dataset._fingerprint, "deniable", *versions, *asked]
        return dataset.map(
            self,
            batched=True,
            features=dataset.features,
            new_fingerprint=str(Hasher.hash([*parts, "" if repeatable else secrets.token_hex(16)])),
            load_from_cache_file=load_from_cache_file,
            desc="deniable",
            **options,
        )

    def check(self, dataset: Any) -> None:
        if not isinstance(dataset, Dataset):
            problem = "is read again each time it is iterated, and each time would be another release"
            raise InvalidParameter("dataset", type(dataset).__name__, f"{problem}; use a Dataset")
        for name in (self._column, self._record_id):
            if name is not None and name not in dataset.column_names:
                columns = ", ".join(dataset.column_names)
                raise InvalidParameter("column", name, f"is not there; the columns are {columns}")
        if getattr(dataset.features[self._column], "dtype", None) not in ("string", "large_string"):
            raise InvalidParameter("column", self._column, "does not hold text")
