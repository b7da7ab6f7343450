"""What a release says of words that its embedding does not know: too many of them, or of a script that it
does not have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deniable.embeddings.embedding import Embedding
from deniable.errors import printable
from deniable.records.deciding import look_at
from deniable.records.formats.layout import NO_ROLES, Layout
from deniable.records.formats.opening import open_reader, open_source
from deniable.records.languages import scripts_of
from deniable.records.profile import ColumnProfile
from deniable.report.wording import percent

MANY = 0.2
"""The share of unknown words from which on a release warns."""

_RECORDS, _FEWEST_UNKNOWN = 500, 5
_WORDS_OF_AN_EMBEDDING, _LEAST_SHARE = 20_000, 0.05


def scripts_of_embedding(embedding: Embedding) -> set[str]:
    """Return the scripts that a fair share of the embedding's first words are of."""
    counts = scripts_of(embedding.words[:_WORDS_OF_AN_EMBEDDING])
    return {script for script, count in counts.items() if count >= _LEAST_SHARE * sum(counts.values())}


def unknown_in(column: ColumnProfile, where: str, embedding: Embedding, scripts: set[str]) -> str | None:
    """Return a sentence about a column of whose words many are unknown, else None; ``scripts`` are those of
    the embedding."""
    if column.unknown <= MANY:
        return None
    return _say_unknown(column.unknown, where, embedding, None if column.script in scripts else column.script)


def _say_unknown(share: float, where: str, embedding: Embedding, script: str | None) -> str:
    why = "" if script is None else f" (most of them are {script}, and its words are not)"
    return (
        f"{percent(share)} of the words {where} are unknown to the embedding {embedding.name!r}{why}: they "
        "are all "
        "released as if they were one and the same word. Another embedding may know them: see `deniable "
        "embeddings` and the guide on other languages"
    )


def unknown_warnings(path: Path, layout: Layout, embedding: Embedding) -> list[str]:
    """Return a sentence for each private column of a file of whose words more than a fifth are unknown, by
    its first records.

    What cannot be read gives no warning: the release itself says so, and whatever goes wrong here must not
    stop it. The sentences are for the owner of the file alone.
    """
    try:
        with open_source(path) as source:
            reader = open_reader(source, replace(layout, roles=NO_ROLES), looks=True)
            columns = look_at(reader, embedding, most=_RECORDS).columns
        scripts, warnings = scripts_of_embedding(embedding), []
        for column in columns:
            where = "of the text" if column.path is None else f"in the column {printable(column.path)}"
            is_private = column.path is None or column.path in layout.columns
            if is_private and column.unknown * column.words >= _FEWEST_UNKNOWN:
                warnings.append(unknown_in(column, where, embedding, scripts))
        return [each for each in warnings if each is not None]
    except Exception:
        return []


def counted_warning(words: int, unknown: int, embedding: Embedding) -> str | None:
    """Return the same sentence about a release that was counted; None if there is nothing to say."""
    if unknown < _FEWEST_UNKNOWN or unknown <= MANY * words:
        return None
    listed = "" if embedding.left_out is None else ", those that are never released among them,"
    return _say_unknown(unknown / words, f"of the text{listed}", embedding, None)
