"""What the commands that release text have in common: from options to a privatizer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from deniable.cli.mechanism import opened

if TYPE_CHECKING:
    from deniable.interfaces import Randomness
    from deniable.keyed import Keyed
    from deniable.text.privatizer import Privatizer


def check_budget_options(epsilon: float | None, record_epsilon: float | None, max_unchanged: float | None) -> None:
    """Do nothing if the options say in one way how much may be spent on a word, or on a record, or on both.

    :raises BadParameter: if not.
    """
    if epsilon is not None and max_unchanged is not None:
        raise typer.BadParameter("give one of --epsilon (per word) and --max-unchanged (per word, by calibration)")
    if (epsilon, record_epsilon, max_unchanged) == (None, None, None):
        raise typer.BadParameter("give --epsilon (per word) or --max-unchanged (by calibration), or --record-epsilon (per record), or both")


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
    max_unchanged: float | None,
    quantile: float,
    randomness: Randomness | Keyed | None,
    say: Callable[[str], None],
    **policies: Any,
) -> Privatizer:
    """Return a privatizer that draws by a mechanism's name and options; wrong settings are refused before the embedding is loaded.

    ``say`` is told which ε the calibration gives. A warning that hardly anything will change goes to standard error in any case.
    """
    from deniable.cli.calibrated import calibrated_epsilon
    from deniable.cli.hardly_changed import warn_if_hardly_anything_changes
    from deniable.embeddings.embedding import Embedding
    from deniable.parameters import validated_epsilon
    from deniable.text.policies import TextPolicy
    from deniable.text.privatizer import Privatizer

    budget = None if record_epsilon is None else validated_epsilon(record_epsilon, "record_epsilon")
    # Without a limit of its own, a word gets at most what a record gets.
    most = budget if epsilon is None else validated_epsilon(epsilon)
    TextPolicy(**policies)
    vectors = Embedding.open(embedding)
    if max_unchanged is not None:
        most = calibrated_epsilon(opened(*drawing, vectors, 1.0), max_unchanged, quantile, say=say)
    private = Privatizer(opened(*drawing, vectors, cast(float, most)), record_epsilon=budget, randomness=randomness, **policies)
    warn_if_hardly_anything_changes(private)
    return private


def words_in(path: Path | None) -> frozenset[str]:
    """Return the words of a file, one a line; none without a file.

    :raises InvalidParameter: if it cannot be read.
    """
    from deniable.words.word_list import read_word_list

    return frozenset() if path is None else frozenset(read_word_list(path, name="keep_words"))
