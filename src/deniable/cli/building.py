"""What the commands that release text have in common: from options to a privatizer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deniable.cli.mechanism import opened

if TYPE_CHECKING:
    from deniable.interfaces import Randomness
    from deniable.keyed import Keyed
    from deniable.text.privatizer import Privatizer


def check_budget_options(epsilon: float | None, record_epsilon: float | None, max_unchanged: float | None) -> None:
    """Do nothing if exactly one of the options says how much may be spent.

    :raises BadParameter: if not.
    """
    if [epsilon, record_epsilon, max_unchanged].count(None) != 2:
        raise typer.BadParameter("give one of --epsilon (per word), --record-epsilon (per record) and --max-unchanged (by calibration)")


def calibrated_epsilon(
    embedding: str, drawing: tuple[str, dict[str, Any]], max_unchanged: float, quantile: float, *, say: Callable[[str], None]
) -> float:
    """Return the largest ε that keeps to ``--max-unchanged`` by the calibration on record, and say which one it is."""
    from deniable.calibration.quote import largest_epsilon
    from deniable.calibration.report.wording import most_words
    from deniable.cli.mechanism import opened
    from deniable.embeddings.embedding import Embedding

    epsilon = largest_epsilon(opened(*drawing, Embedding.open(embedding), 1.0), max_unchanged, quantile)
    say(f"deniable: ε = {epsilon:g}: N_w ≤ {max_unchanged:g} for {most_words(quantile)}")
    return epsilon


def check_keyed(key_file: Path | None, record_id: str | None, consistent_by: str | None, insecure_seed: int | None = None) -> None:
    """Do nothing if the options of a keyed release go together.

    :raises BadParameter: if not.
    """
    if key_file is None and (record_id is not None or consistent_by is not None):
        raise typer.BadParameter("--record-id and --consistent-by need a --key-file; make one: deniable key new FILE")
    if record_id is not None and consistent_by is not None:
        raise typer.BadParameter("give one of --record-id and --consistent-by")
    if key_file is not None and insecure_seed is not None:
        raise typer.BadParameter("give one of --key-file and --insecure-seed")


def privatizer_for(
    embedding: str,
    drawing: tuple[str, dict[str, Any]],
    *,
    epsilon: float | None,
    record_epsilon: float | None,
    randomness: Randomness | Keyed | None,
    **policies: Any,
) -> Privatizer:
    """Return a privatizer that draws by a mechanism's name and options; wrong settings are refused before the embedding is loaded."""
    from deniable.embeddings.embedding import Embedding
    from deniable.parameters import validated_epsilon
    from deniable.text.policies import TextPolicy
    from deniable.text.privatizer import Privatizer

    name = "epsilon" if record_epsilon is None else "record_epsilon"
    spent = validated_epsilon(epsilon if record_epsilon is None else record_epsilon, name)
    TextPolicy(**policies)
    return Privatizer(opened(*drawing, Embedding.open(embedding), spent), record_epsilon=record_epsilon, randomness=randomness, **policies)


def words_in(path: Path | None) -> frozenset[str]:
    """Return the words of a file, one a line; none without a file.

    :raises InvalidParameter: if it cannot be read.
    """
    from deniable.word_list import read_word_list

    return frozenset() if path is None else frozenset(read_word_list(path, name="keep_words"))
