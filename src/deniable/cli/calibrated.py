"""The ε that a calibration gives for ``--max-unchanged``, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.interfaces import Mechanism
    from deniable.text.note import NoteRow

HARDLY_ANY = 0.005
"""If the median word stays itself less often than this, hardly anything of the meaning is left."""


def calibrated_epsilon(mechanism: Mechanism, max_unchanged: float, quantile: float, *, say: Callable[[str], None]) -> float:
    """Return the largest noted ε that keeps to ``--max-unchanged`` by the calibration on record, and say which one it is.

    One that destroys the text is explained: a target for every word is one for the most isolated word.
    """
    from deniable.report.wording import most_words
    from deniable.text.note import largest_epsilon, read_note

    epsilon = largest_epsilon(mechanism, max_unchanged, quantile)
    say(f"deniable: ε = {epsilon:g}: N_w, how often a word stays itself, is at most {max_unchanged:g} for {most_words(quantile)}")
    note = read_note(mechanism)
    if note is not None and _forced_by_few(note.table, epsilon, max_unchanged):
        say(
            f"deniable: ε = {epsilon:g}: a few isolated words, whose N_w is large at any useful ε, force so small a value, at which little "
            "of the text is left; ask for fewer words with --quantile, such as 0.95, or protect those words: deniable calibrate --protect"
        )
    return epsilon


def _forced_by_few(table: tuple[NoteRow, ...], epsilon: float, max_unchanged: float) -> bool:
    median = next(row.unchanged.median for row in table if row.epsilon == epsilon)
    small = epsilon == table[0].epsilon or median < HARDLY_ANY
    return bool(small and median < max_unchanged / 10)  # far below the target, the median word is not what keeps ε down
