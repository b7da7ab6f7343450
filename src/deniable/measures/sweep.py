"""Settings side by side: what measures say of each of them, measured once.

A finished number is saved in a folder as JSON, under the digest of all that it depends on: the setting, the
measure with its fields, the texts and the seed. So a sweep that was stopped goes on where it was, and another
sweep that asks the same has the answer. Numbers are saved, never texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass, replace
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deniable.atomic import read_plain_file, write_whole
from deniable.embeddings.embedding import Embedding
from deniable.errors import RecordError
from deniable.measures.catalogue import Measure, Setting
from deniable.measures.estimate import Estimate
from deniable.measures.texts import Texts, cut_texts
from deniable.progress import Report

_FORMAT = 4
"""To be raised when a measure comes out differently than before: what was saved then is measured again."""
_LONGEST_FILE = 1 << 24


class Row(NamedTuple):
    """A setting, and what each measure says of it."""

    setting: Setting
    estimates: dict[str, Estimate]


def sweep(
    settings: Sequence[Setting],
    measures: Mapping[str, Measure],
    texts: Texts | Sequence[str],
    *,
    seed: int = 0,
    keep: Path | None = None,
    report: Report | None = None,
) -> list[Row]:
    """Return a row for each setting. Finished numbers are saved in the folder ``keep``, and the same call
    goes on from there after it was stopped. ``report`` receives the progress of rows."""
    rows: list[Row] = []
    for setting in settings:
        one = replace(setting)  # the measures share its channels, which go when the row is done
        cut = texts if isinstance(texts, Texts) else cut_texts(texts, setting.embedding)
        estimates = {name: measured(each, one, cut, seed=seed, keep=keep) for name, each in measures.items()}
        rows.append(Row(setting, estimates))
        if report is not None:
            report(len(rows), len(settings))
    return rows


def measured(
    measure: Measure, setting: Setting, texts: Texts, *, seed: int = 0, keep: Path | None = None
) -> Estimate:
    """Return what a measure says of one setting, now or before."""
    found = saved(keep, lambda: asdict(measure(setting, texts, seed=seed)), setting, measure, texts, seed)
    return Estimate(**found)


def saved(folder: Path | None, compute: Callable[[], Any], *of: object) -> Any:
    """Return numbers, as JSON has them, that were saved for exactly these values; else compute and save
    them."""
    if folder is None:
        return compute()
    written = json.dumps([_FORMAT, *map(identity, of)], sort_keys=True)
    key, path = json.loads(written), folder / f"{_digest(written.encode())}.json"
    try:
        file = json.loads(read_plain_file(path, longest=_LONGEST_FILE, what="measurement", error=RecordError))
        if file["key"] == key:
            return file["measured"]
    except (RecordError, ValueError, KeyError, TypeError, RecursionError):
        pass
    numbers = compute()
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({"key": key, "measured": numbers}))
    return numbers


def identity(value: Any) -> Any:
    """Return JSON data that tells values apart: embeddings by fingerprint, files, arrays and lists by
    digest."""
    if isinstance(value, Embedding):
        return value.fingerprint
    if isinstance(value, Setting):
        mechanism = value.mechanism.identity(value.embedding)
        return [value.embedding.fingerprint, mechanism, value.epsilon]
    if is_dataclass(value):
        held = {each.name: identity(getattr(value, each.name)) for each in fields(value) if each.init}
        return {type(value).__qualname__: held}
    if isinstance(value, np.ndarray):
        return [value.dtype.str, list(value.shape), _digest(np.ascontiguousarray(value).data)]
    if hasattr(value, "tocsr"):
        matrix = value.tocsr()
        return [list(matrix.shape), *map(identity, (matrix.data, matrix.indices, matrix.indptr))]
    if isinstance(value, Path):
        with value.open("rb") as file:
            return file_digest(file, "blake2b").hexdigest()
    if isinstance(value, list | tuple):
        return _digest(json.dumps(value, default=identity).encode())
    return value


def _digest(content: bytes | memoryview) -> str:
    return blake2b(content, digest_size=16).hexdigest()
