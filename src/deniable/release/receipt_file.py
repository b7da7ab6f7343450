"""What stands in the file of a receipt, as far as people are shown it, with the types it must have: a receipt
may be old or hand-edited."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from deniable.atomic import read_plain_file
from deniable.errors import MalformedReceipt

ENDING = ".receipt.json"
"""What the name of a receipt has after the name of the output."""

LONGEST_RECEIPT = 4 << 20

Count = Annotated[int, msgspec.Meta(ge=0)]


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """How many words were drawn, and their ε summed."""

    words: Count
    epsilon: float


class SpentOnUser(Spent, frozen=True, kw_only=True):
    """The most that was spent on a user: the largest sum itself if it is ``exact``, else a bound; among
    ``users``, if they were counted."""

    exact: bool
    users: Count | None = None


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """What was spent on texts ("record"), on rows, and on users; None where these are not known."""

    longest_record: Spent
    median_record: Spent
    longest_row: Spent | None = None
    median_row: Spent | None = None
    longest_user: SpentOnUser | None = None
    median_user: Spent | None = None


class Promise(msgspec.Struct, frozen=True, kw_only=True):
    """What the mechanism guarantees, in words."""

    notion: str
    metric: str
    statement: str
    exposed: str


class PublicLabels(msgspec.Struct, frozen=True, kw_only=True):
    """Labelled texts that a space was shaped by."""

    name: str


class MapUsed(msgspec.Struct, frozen=True, kw_only=True):
    """The public map that the vectors of an embedding went through."""

    kind: str
    source: str
    public: tuple[PublicLabels, ...] = ()


class EmbeddingUsed(msgspec.Struct, frozen=True, kw_only=True):
    """Which embedding it was."""

    map: MapUsed | None = None
    name: str
    words: Count
    fingerprint: str
    protected_words: Count = 0
    dimension: Count


class PolicyUsed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of unknown words, punctuation and case, and how many words were listed to stay."""

    unknown: str
    punctuation: str
    case: str
    keep_words: Count = 0


class NoiseUsed(msgspec.Struct, frozen=True, kw_only=True):
    """Where the noise came from."""

    source: str
    key: str | None = None
    repeated: str | None = None
    insecure_seed: int | None = None


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What went through."""

    rows: Count | None = None
    records: Count
    missing_records: Count
    protected_words: Count = 0
    words: Count
    unknown_words: Count
    released_again: Count = 0


class Stays(msgspec.Struct, frozen=True, kw_only=True):
    """How often words stay themselves: the median word, what 95 % of the words keep to, the worst word."""

    median: float
    most: float = msgspec.field(name="95%")
    worst: float


class Calibrated(msgspec.Struct, frozen=True, kw_only=True):
    """What a calibration says of the words at this ε."""

    at_epsilon: float
    unchanged: Stays
    words: Count


class ReceiptFile(msgspec.Struct, frozen=True, kw_only=True):
    """A receipt as it was written. What a later version adds to it is left out."""

    deniable: str
    created: str
    guarantee: Promise
    mechanism: str
    epsilon_per_word: float | None
    largest_epsilon_of_a_word: float
    epsilon_per_record: float | None
    embedding: EmbeddingUsed
    public: tuple[str, ...]
    policy: PolicyUsed
    relaxations: tuple[str, ...]
    randomness: NoiseUsed
    caveats: tuple[str, ...]
    counts: Counts
    calibration: Calibrated | None = None
    budget: Budgets


def read_receipt_file(path: Path) -> ReceiptFile:
    """Return what a receipt's file says.

    :raises MalformedReceipt: if it cannot be read or is no receipt.
    """
    return decode_receipt(
        read_plain_file(path, longest=LONGEST_RECEIPT, what="receipt", error=MalformedReceipt), path
    )


def decode_receipt(content: bytes | str, source: str | Path) -> ReceiptFile:
    """Return what the JSON of a receipt says; ``source`` is where it comes from, for messages.

    :raises MalformedReceipt: if it is no receipt.
    """
    try:
        return msgspec.json.decode(content, type=ReceiptFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = (
            f"is no receipt of a release ({error}); the receipt lies beside the output, as OUTPUT{ENDING}"
        )
        raise MalformedReceipt(source, problem) from error
