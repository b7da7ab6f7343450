"""Public texts with a label and perhaps other attributes, in four parts: to shape by, to learn from, to
choose by and to judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Unpack

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
from deniable.records.formats.layout import ReadingOptions
from deniable.records.reading import labelled_records
from deniable.utility.accuracy import stratified_split

FEWEST_TEXTS = 200
SHARES = (0.4, 0.3, 0.15)
"""The shares of texts to shape by, to learn from and to choose by; the rest is judged at the end."""

SEED = 0
"""Parts are drawn with this seed: which texts shaped a space can be found again from the file."""


class PublicAttributes(NamedTuple):
    """Public texts with the labels of the purpose, and other attributes by column ("" where there
    is none)."""

    public: PublicTexts
    others: dict[str, list[str]]

    def take(self, places: Ids) -> PublicAttributes:
        """Return some of the texts with what is known of them."""
        others = {name: [values[i] for i in places.tolist()] for name, values in self.others.items()}
        return PublicAttributes(take_public(self.public, places), others)


class Parts(NamedTuple):
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

    def column(name: str) -> tuple[list[str], list[str]]:
        records = list(
            labelled_records(path, label_column=name, text_column=text_column, decimals=True, **reading)
        )
        return [value for value, _ in records], [text for _, text in records]

    try:
        public = read_public(
            path, text_column=text_column, label_column=label_column, kind="classes", **reading
        )
    except TaskDataError:
        if not are_numbers(column(label_column)[0]):
            raise
        problem = f"{label_column!r} holds numbers, and a space is tuned to classes; cut them into classes "
        raise TaskDataError(path, problem + "(`embeddings shape` takes numbers)") from None
    labels, texts = column(label_column)
    usable = [bool(each and text.strip()) for each, text in zip(without_gaps(labels), texts, strict=True)]
    others = {}
    for name in also:
        values = without_gaps([each for each, used in zip(column(name)[0], usable, strict=True) if used])
        if not any(values):
            raise TaskDataError(path, f"no text has a value in {name!r}")
        if are_numbers(values):
            others[f"{name} (in quarters)"] = in_quarters(values)
        else:
            others[name] = values
    found = PublicAttributes(public, others)
    if most is not None and most < len(public.texts):
        drawn = np.random.default_rng(SEED).choice(len(public.texts), most, replace=False)
        found = found.take(np.sort(drawn))
    _check_enough(found.public, "texts with a label")
    return found


def in_quarters(values: Sequence[str]) -> list[str]:
    """Return for each number in which quarter of all of them it is, and "" where there is none."""
    numbers = [number_of(value) for value in values]
    cuts = np.quantile([number for number in numbers if number is not None], [0.25, 0.5, 0.75])
    return [
        "" if number is None else f"quarter {1 + int(np.searchsorted(cuts, number))}" for number in numbers
    ]


def known_texts(found: PublicAttributes, embedding: Embedding) -> tuple[PublicAttributes, Texts]:
    """Return the texts that hold a known word, and all of them cut into words, with the labels of the
    purpose.

    :raises TaskDataError: if too few are left, or hardly one of a class.
    """
    cut = cut_texts(found.public.texts, embedding, labels=found.public.labels)
    known = np.unique(np.repeat(np.arange(len(cut)), cut.lengths)[cut.ids != embedding.unknown_id])
    left = found.take(known)
    _check_enough(left.public, "texts with a label and a word that the embedding knows")
    return left, cut.take(known)


def split_parts(labels: Sequence[str], *, seed: int = SEED) -> Parts:
    """Return the four parts, with the same share of every class in each."""
    numbers = np.unique(np.array(labels), return_inverse=True)[1].astype(np.int64)
    rest, left, parts = np.arange(len(numbers)), 1.0, []
    for place, share in enumerate(SHARES):
        part, other = stratified_split(numbers[rest], 1.0 - share / left, seed=seed + place)
        parts.append(rest[part])
        rest, left = rest[other], left - share
    shape, learn, choose = parts
    return Parts(shape, learn, choose, rest)


def take_texts(texts: Texts, places: Ids, labels: Sequence[str] | None = None) -> Texts:
    """Return some of the texts; if other ``labels`` are given for all texts, those without one are
    left out."""
    if labels is None:
        return texts.take(places)
    having = np.array([i for i in places.tolist() if labels[i]], dtype=np.int64)
    return replace(texts, labels=labels).take(having)


def take_public(found: PublicTexts, places: Ids) -> PublicTexts:
    """Return some of the public texts; it is noted of how many they were drawn."""
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


def _check_enough(public: PublicTexts, what: str) -> None:
    if len(public.texts) < FEWEST_TEXTS:
        problem = f"has {len(public.texts)} {what}; {FEWEST_TEXTS} are the least, for four parts"
        raise TaskDataError(public.source, problem)
    check_learnable(public)
