"""What a release says of words that its embedding does not know: too many of them, or of a script that it
does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from deniable.embeddings.embedding import Embedding
from deniable.errors import printable
from deniable.records.checking.languages import script_of, scripts_of
from deniable.records.formats.layout import Layout
from deniable.records.formats.opening import open_reader, open_source
from deniable.records.formats.reader import BatchSize
from deniable.records.formats.roles import Roles
from deniable.report.wording import percent
from deniable.words.cutter import Cutter, Lookup

MANY = 0.2
"""The share of unknown words from which on a release warns."""

_RECORDS, _FEWEST_UNKNOWN = 500, 5
_WORDS_OF_AN_EMBEDDING, _LEAST_SHARE = 20_000, 0.05


def scripts_of_embedding(embedding: Embedding) -> set[str]:
    """Return the scripts that a fair share of the embedding's first words are of."""
    counts = scripts_of(embedding.words[:_WORDS_OF_AN_EMBEDDING])
    return {script for script, count in counts.items() if count >= _LEAST_SHARE * sum(counts.values())}


def say_unknown(share: float, where: str, embedding: Embedding, script: str | None) -> str:
    """Return in words that a share of words is unknown; ``script`` is what most of these are of, if the
    embedding has none of it."""
    why = f" (most of them are {script}, and its words are not)" if script is not None else ""
    return (
        f"{percent(share)} of the words {where} are unknown to the embedding {embedding.name!r}{why}: they "
        "are all released as if they "
        "were one and the same word. Another embedding may know them: see `deniable embeddings` and the "
        "guide on other languages"
    )


def unknown_warnings(path: Path, layout: Layout, embedding: Embedding) -> list[str]:
    """Return a sentence for each private column of a file of whose words more than a fifth are unknown, by
    its first records.

    What cannot be read gives no warning: the release itself says so, and whatever goes wrong here must not
    stop it. The sentences are for the owner of the file alone.
    """
    try:
        return _warnings(path, layout, embedding)
    except Exception:
        return []


def _warnings(path: Path, layout: Layout, embedding: Embedding) -> list[str]:
    said = []
    embedding = (
        embedding if embedding.left_out is None else embedding.left_out.source
    )  # listed words are unknown by choice
    cutter, lookup = Cutter(embedding), Lookup(embedding)
    for column in layout.columns or (None,):
        counts = Counter(word for text in _first_texts(path, layout, column) for word in cutter.words(text))
        total = sum(counts.values())
        unknown = [
            word
            for word, number in zip(counts, lookup.ids(list(counts)), strict=True)
            if number == embedding.unknown_id
        ]
        share = sum(counts[word] for word in unknown) / max(1, total)
        if sum(counts[word] for word in unknown) >= _FEWEST_UNKNOWN and share > MANY:
            where = "of the text" if column is None else f"in the column {printable(column)}"
            said.append(
                say_unknown(
                    share,
                    where,
                    embedding,
                    _foreign_script({word: counts[word] for word in unknown}, embedding),
                )
            )
    return said


def _first_texts(path: Path, layout: Layout, column: str | None) -> Iterator[str]:
    """Yield the texts of the first records, as a release of this column alone reads them; of all the text if
    there are no columns."""
    alone = layout if column is None else replace(layout, roles=Roles(text=(column,)))
    with open_source(path) as source:
        records = 0
        for batch in open_reader(source, alone).batches(BatchSize()):
            yield from filter(None, batch.texts)
            records += len(batch)
            if records >= _RECORDS:
                break


def counted_warning(words: int, unknown: int, embedding: Embedding) -> str | None:
    """Return the same sentence about a release that was counted; None if there is nothing to say."""
    if unknown < _FEWEST_UNKNOWN or unknown <= MANY * words:
        return None
    listed = "" if embedding.left_out is None else ", those that are never released among them,"
    return say_unknown(unknown / words, f"of the text{listed}", embedding, None)


def _foreign_script(unknown: dict[str, int], embedding: Embedding) -> str | None:
    """Return the script that most of the unknown words are of, if the embedding has hardly a word of it."""
    counts: Counter[str] = Counter()
    for word, count in unknown.items():
        counts[script_of(word) or ""] += count
    script, count = counts.most_common(1)[0]
    return (
        script
        if script and count > 0.5 * sum(counts.values()) and script not in scripts_of_embedding(embedding)
        else None
    )
