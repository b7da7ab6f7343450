"""What ``privatize`` and ``watch`` share: checks of their options, the recipe that these make, and what is said about a release."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deniable.cli.mechanism import parse_options

if TYPE_CHECKING:
    from deniable.text.privatizer import Privatizer
    from deniable.text.receipt import Receipt
    from deniable.text.recipe import ResolvedRecipe


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


def recipe_for(
    *,
    mechanism: str,
    mechanism_option: list[str] | None,
    keep_words: Path | None,
    consistent_by: str | None,
    say: Callable[[str], None],
    **settings: Any,
) -> ResolvedRecipe:
    """Return the recipe of the options, and say which ε a calibration gave if it was asked; ``settings`` are ``resolve_recipe``'s.

    :raises InvalidParameter: if an option is not allowed, or the file of words cannot be read.
    :raises TargetsNotMet: if no calibrated ε keeps to ``--max-unchanged``.
    """
    from deniable.text.recipe import resolve_recipe
    from deniable.words.word_list import read_word_list

    resolved = resolve_recipe(
        mechanism=mechanism,
        mechanism_options=parse_options(mechanism, mechanism_option) if mechanism_option else None,
        keep_words=frozenset() if keep_words is None else read_word_list(keep_words, name="keep_words"),
        consistent=consistent_by is not None,
        **settings,
    )
    for message in resolved.messages:
        say(f"deniable: {message}")
    return resolved


def warn_if_hardly_anything_changes(private: Privatizer) -> None:
    """Say on standard error if most words would be released as they are.

    No option silences it: who asks for less to read does not ask for less privacy.
    """
    from deniable.channel.explanation import warning_of

    if (warning := warning_of(private.mechanism, record_epsilon=private.record_epsilon)) is not None:
        print(f"deniable: warning: {warning}", file=sys.stderr)


def release_summary(output: str | Path, made: Receipt, receipt: Path | None) -> str:
    """Return the summary of a release with where its receipt lies: two files were written, and one of them must stay."""
    from deniable.atomic import beside

    noted = beside(Path(output), ".receipt.json") if receipt is None else receipt
    return f"{output}\n{made.summary()}\nreceipt: {noted}; keep it and do not hand it over, its counts come from the private text"
