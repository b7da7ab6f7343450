"""Texts cut into batches: large enough for a fast search, small enough for constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_CHARACTERS_AT_ONCE = 81_920  # some 16,000 words
_TEXTS_AT_ONCE = 4_096


def batches(texts: Iterable[str | None]) -> Iterator[tuple[list[str | None], int]]:
    """Yield lists of texts of bounded size, each with the number of texts before it.

    Their size is that of their characters, so that memory stays bounded before anything is tokenised.
    """
    batch: list[str | None] = []
    start = characters = 0
    for text in texts:
        batch.append(text)
        characters += len(text) if isinstance(text, str) else 0
        if characters >= _CHARACTERS_AT_ONCE or len(batch) >= _TEXTS_AT_ONCE:
            yield batch, start
            start += len(batch)
            batch, characters = [], 0
    if batch:
        yield batch, start
