"""Public texts with a label and perhaps other attributes, in four parts: to shape by, to learn from, to
choose by and to judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Unpack

import numpy as np

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, TaskDataError
from deniable.measures.texts import Texts, cut_texts
from deniable.parameters import validated_count
from deniable.purposes.public_texts import (
    PublicTexts,
    are_numbers,
    check_learnable,
    number_of,
    read_public,
    without_gaps,
)
from deniable.records.reading import ReadingOptions, labelled_records
from deniable.utility.accuracy import stratified_split

FEWEST_TEXTS = 200
SHARES = (0.4, 0.3, 0.15)
"""The shares of texts to shape by, to learn from and to choose by; the rest is judged at the end."""

SEED = 0
"""Parts are drawn with this seed: which texts shaped a space can be found again from the file."""


@dataclass(frozen=True, kw_only=True)
class PublicAttributes:
    """Public texts with the labels of the purpose, and by the names of their columns other attributes (""
    where there is none)."""

    label: str
    public: PublicTexts
    others: dict[str, list[str]] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The places of the texts of each part."""

    shape: Ids
    learn: Ids
    choose: Ids
    judge: Ids


def read_attributes(
    path: Path,
    *,
    text_column: str,
    label_column: str,
    also: Sequence[str] = (),
    most: int | None = None,
    **reading: Unpack[ReadingOptions],
) -> PublicAttributes:
    """Return the texts of a public file with the classes of a column, and what other columns say of them; at
    most ``most``, at random.

    :raises InvalidParameter: if a column is not there or named twice, or ``most`` is too small.
    :raises RecordError: if the file cannot be read.
    :raises TaskDataError: if nothing can be learnt from it, or there are too few texts for four parts.
    """
    if most is not None:
        validated_count(most, "texts", at_least=FEWEST_TEXTS)  # they are used in four parts
    for name in also:
        if name in (text_column, label_column) or list(also).count(name) > 1:
            raise InvalidParameter("also", name, "is named already; name each column once")
    public = _read_classes(path, text_column, label_column, **reading)
    labelled = list(
        labelled_records(path, label_column=label_column, text_column=text_column, decimals=True, **reading)
    )
    labels = without_gaps([label for label, _ in labelled])
    usable = [bool(label and text.strip()) for label, (_, text) in zip(labels, labelled, strict=True)]
    others = {}
    for name in also:
        records = labelled_records(path, label_column=name, text_column=text_column, decimals=True, **reading)
        values = without_gaps([value for (value, _), used in zip(records, usable, strict=True) if used])
        if not any(values):
            raise TaskDataError(path, f"no text has a value in {name!r}")
        if are_numbers(values):
            others[f"{name} (in quarters)"] = in_quarters(values)
        else:
            others[name] = values
    found = PublicAttributes(label=label_column, public=public, others=others)
    if most is not None and most < len(public.texts):
        found = _taken(
            found, np.sort(np.random.default_rng(SEED).choice(len(public.texts), most, replace=False))
        )
    if len(found.public.texts) < FEWEST_TEXTS:
        problem = (
            f"has {len(found.public.texts)} texts with a label; {FEWEST_TEXTS} are the least, since "
            "they are used in four parts"
        )
        raise TaskDataError(path, problem)
    check_learnable(found.public)
    return found


def _read_classes(
    path: Path, text_column: str, label_column: str, **reading: Unpack[ReadingOptions]
) -> PublicTexts:
    try:
        return read_public(
            path, text_column=text_column, label_column=label_column, kind="classes", **reading
        )
    except TaskDataError:
        if read_public(path, text_column=text_column, label_column=label_column, **reading).kind == "classes":
            raise
    problem = (
        f"{label_column!r} holds numbers, and a space is tuned to classes; cut them into classes "
        "(`embeddings shape` takes numbers)"
    )
    raise TaskDataError(path, problem)


def in_quarters(values: Sequence[str]) -> list[str]:
    """Return for each number in which quarter of all of them it is, and "" where there is none: separated
    they can be like classes."""
    numbers = [number_of(value) for value in values]
    cuts = np.quantile([number for number in numbers if number is not None], [0.25, 0.5, 0.75])
    return [
        "" if number is None else f"quarter {1 + int(np.searchsorted(cuts, number))}" for number in numbers
    ]


def known_texts(found: PublicAttributes, embedding: Embedding) -> tuple[PublicAttributes, Texts]:
    """Return the texts that hold a word the embedding knows, and all of them cut into words, with the labels
    of the purpose.

    :raises TaskDataError: if too few are left, or hardly one of a class.
    """
    cut = cut_texts(found.public.texts, embedding, labels=found.public.labels)
    known = np.unique(np.repeat(np.arange(len(cut)), cut.lengths)[cut.ids != embedding.unknown_id])
    if len(known) < FEWEST_TEXTS:
        raise TaskDataError(
            found.public.source,
            f"{len(known)} of its texts hold a word that the embedding knows; {FEWEST_TEXTS} are the least",
        )
    left = _taken(found, known)
    check_learnable(left.public)
    return left, cut.take(known)


def split_parts(labels: Sequence[str], *, seed: int = SEED) -> Parts:
    """Return the four parts, with the same share of every class in each."""
    numbers = _numbered(labels)
    shape, rest = stratified_split(numbers, 1.0 - SHARES[0], seed=seed)
    learn, later = (
        rest[part]
        for part in stratified_split(numbers[rest], 1.0 - SHARES[1] / (1.0 - SHARES[0]), seed=seed + 1)
    )
    left = 1.0 - SHARES[0] - SHARES[1]
    choose, judge = (
        later[part] for part in stratified_split(numbers[later], 1.0 - SHARES[2] / left, seed=seed + 2)
    )
    return Parts(shape=shape, learn=learn, choose=choose, judge=judge)


def take_texts(texts: Texts, places: Ids, labels: Sequence[str] | None = None) -> Texts:
    """Return some of the texts, with other labels than their own if ``labels`` are given for all texts; those
    without one are left out."""
    if labels is None:
        return texts.take(places)
    having = np.array([i for i in places.tolist() if labels[i]], dtype=np.int64)
    return replace(texts, labels=labels).take(having)


def take_public(found: PublicTexts, places: Ids) -> PublicTexts:
    """Return some of the public texts with their labels; they stay texts of the same file, and it is noted of
    how many."""
    chosen = places.tolist()
    whole = len(found.texts) if found.drawn_from is None else found.drawn_from
    labels, texts = ([values[i] for i in chosen] for values in (found.labels, found.texts))
    return replace(found, labels=labels, texts=texts, drawn_from=whole, seed=SEED)


def unlearnable(learn: Sequence[str], judge: Sequence[str]) -> str | None:
    """Return why an attribute cannot be learnt from these labels and judged on those; None if it can."""
    often = [label for label, count in Counter(learn).items() if count > 1]
    if len(often) < 2:
        return "fewer than two values stand with two texts or more"
    return None if judge else "no text that is judged has a value"


def _taken(found: PublicAttributes, places: Ids) -> PublicAttributes:
    chosen = places.tolist()
    others = {name: [values[i] for i in chosen] for name, values in found.others.items()}
    return replace(found, public=take_public(found.public, places), others=others)


def _numbered(labels: Sequence[str]) -> Ids:
    number = {label: place for place, label in enumerate(sorted(set(labels)))}
    return np.array([number[label] for label in labels], dtype=np.int64)
