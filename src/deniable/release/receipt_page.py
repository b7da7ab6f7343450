"""The receipt as one page to print, for the person responsible for the release: what was released, how, what
was spent, what is not promised.

It says what the receipt says, and so its counts come from the private text: it stays with the holder of the
data. The file of a receipt may be old or hand-edited, so its types are checked when it is read; what a later
version adds to it is left out.
"""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from deniable.atomic import check_place, read_plain_file, write_whole
from deniable.errors import MalformedCard, MalformedReceipt
from deniable.interfaces import NOTHING_EXPOSED
from deniable.release.card import ENDING as CARD
from deniable.release.card import Card
from deniable.release.note import Spread
from deniable.release.receipt import ADDED_UP, ENDING, LONGEST_RECEIPT
from deniable.report.page import Page
from deniable.report.wording import percent, words

if TYPE_CHECKING:
    from deniable.release.proved import ProvedNumbers

Count = Annotated[int, msgspec.Meta(ge=0)]

_UNKNOWN = {
    "perturb": "all go in as one public symbol ⊥, and are drawn like any word",
    "subwords": "each goes in as the known word its spelling is nearest to",
    "redact": "each is replaced by a fixed sign",
    "drop": "left out",
    "error": "not allowed: the release stops at one",
}
_KEPT = {"drop": "not released", "keep": "released as it is"}


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """How many words were drawn, and their ε summed; of a user the largest sum if it is ``exact``, else a
    bound, among ``users`` if they were counted."""

    words: Count
    epsilon: float
    exact: bool = True
    users: Count | None = None


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """What was spent on texts ("record"), on rows, and on users; None where these are not known."""

    longest_record: Spent
    median_record: Spent
    longest_row: Spent | None = None
    median_row: Spent | None = None
    longest_user: Spent | None = None
    median_user: Spent | None = None

    @property
    def largest(self) -> tuple[str, Spent]:
        """The largest whole that is known to belong together, and what was spent on it."""
        if self.longest_user is not None:
            return "person", self.longest_user
        return ("text", self.longest_record) if self.longest_row is None else ("row", self.longest_row)


class Promise(msgspec.Struct, frozen=True, kw_only=True):
    """What the mechanism guarantees, in words."""

    notion: str
    statement: str
    exposed: str


class MapUsed(msgspec.Struct, frozen=True, kw_only=True):
    """The public map that the vectors of an embedding went through."""

    kind: str
    source: str
    public: tuple[dict[str, Any], ...] = ()


class EmbeddingUsed(msgspec.Struct, frozen=True, kw_only=True):
    """Which embedding it was."""

    map: MapUsed | None = None
    name: str
    words: Count
    fingerprint: str
    protected_words: Count = 0
    dimension: Count


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


class Calibrated(msgspec.Struct, frozen=True, kw_only=True):
    """What a calibration says of the words at this ε."""

    at_epsilon: float
    unchanged: Spread
    words: Count
    capacity: dict[str, float] | None = None


class FileReleased(msgspec.Struct, frozen=True, kw_only=True):
    """The input or the output of a release."""

    name: str
    bytes: Count
    digest: str


class ReceiptFile(msgspec.Struct, frozen=True, kw_only=True):
    """A receipt as it was written."""

    deniable: str
    created: str
    guarantee: Promise
    mechanism: str
    epsilon_per_word: float | None
    largest_epsilon_of_a_word: float
    epsilon_per_record: float | None
    embedding: EmbeddingUsed
    public: tuple[str, ...]
    policy: dict[str, str | int]
    relaxations: tuple[str, ...]
    randomness: NoiseUsed
    caveats: tuple[str, ...]
    counts: Counts
    calibration: Calibrated | None = None
    budget: Budgets
    files: dict[Literal["input", "output"], FileReleased] | None = None

    @property
    def epsilon_in_words(self) -> str:
        """The privacy parameter, per word or per text."""
        per_word, got = self.epsilon_per_word, self.largest_epsilon_of_a_word
        if self.epsilon_per_record is None:
            return f"ε = {got if per_word is None else per_word:g} per word"
        most = "" if per_word is None else f", and at most {per_word:g} per word"
        return f"ε = {self.epsilon_per_record:g} per text{most} (a word got up to {got:g})"


def read_receipt_file(path: Path) -> ReceiptFile:
    """Return what a receipt's file says.

    :raises MalformedReceipt: if it cannot be read or is no receipt.
    """
    content = read_plain_file(path, longest=LONGEST_RECEIPT, what="receipt", error=MalformedReceipt)
    return decode_receipt(content, path)


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


def numbers_of_release(card: Card, receipt: ReceiptFile, *, delta: float = 1e-6) -> ProvedNumbers:
    """Return what is proved of a release by its card; the receipt says how many words its median text has.

    :raises MalformedCard: if the card is of another release, names no mechanism, or its embedding is not
        here.
    :raises InvalidParameter: if δ is not between 0 and 1.
    """
    from deniable.release.proved import numbers_of_card

    epsilon = card.epsilon if receipt.epsilon_per_word is None else receipt.epsilon_per_word
    released = (receipt.embedding.fingerprint, epsilon, receipt.mechanism)
    if (card.fingerprint, card.epsilon, card.kind) != released:
        raise MalformedCard(card.source, "is of another release than the receipt")
    return numbers_of_card(card, words_of_a_text=receipt.budget.median_record.words, delta=delta)


def receipt_page(receipt: ReceiptFile, numbers: ProvedNumbers | None = None) -> Page:
    """Return the page about one release, with what is proved of it if that was computed."""
    counts, (whole, spent) = receipt.counts, receipt.budget.largest
    texts = "1 text" if counts.records == 1 else f"{counts.records:,} texts"
    lead = (
        f"{words(counts.words)} in {texts} {'was' if counts.words == 1 else 'were each'} replaced by a word "
        f"drawn around it, at {receipt.epsilon_in_words}. The most that was spent on one {whole} is Σε = "
        f"{spent.epsilon:g}, for {words(spent.words)}."
    )
    kicker = f"{_date(receipt.created)} · deniable {receipt.deniable}"
    page = Page("Receipt of a release", lead=lead, kicker=kicker, on_one_sheet=True)
    page.add_note(
        "This page belongs to the holder of the private text. Its counts and budgets come from that text and "
        f"are not covered by the guarantee: keep it, and hand over the output and its card (OUTPUT{CARD}) "
        "only.",
        kind="warning",
    )
    if receipt.randomness.insecure_seed is not None:
        page.add_note(
            "INSECURE: the noise came from a seed. Anybody who knows the seed can undo the noise.",
            kind="warning",
        )
    page.add_section("What was released, and how")
    page.add_table(["what", "of this release"], _facts(receipt), text_columns=2)
    _add_budget(page, receipt.budget)
    _add_promise(page, receipt)
    factor = None if receipt.calibration is None else receipt.calibration.capacity
    if numbers is None and factor is not None:
        from deniable.release.proved import capacity_in_words  # loads scientific libraries

        page.add_text(capacity_in_words(factor["at_most"]))
    if numbers is not None:
        _add_numbers(page, numbers)
    page.add_section("What anybody can read off the output")
    exposed = [] if receipt.guarantee.exposed == NOTHING_EXPOSED else [receipt.guarantee.exposed]
    page.add_list([*receipt.public, *exposed, *(f"relaxed: {each}" for each in receipt.relaxations)])
    page.add_section("What is not promised")
    law = (
        "Whether the output counts as anonymous under a law is for people to judge. This receipt is a part "
        "of what they need, and no answer to that."
    )
    page.add_list([*receipt.caveats, law])
    return page


def write_receipt_page(receipt: ReceiptFile, path: Path, numbers: ProvedNumbers | None = None) -> None:
    """Write the page, whole or not at all, readable by its owner only like the receipt.

    :raises RecordError: if the path is a folder or its folder is not there.
    """
    check_place(path)
    write_whole(path.resolve(), receipt_page(receipt, numbers).html())


def _facts(receipt: ReceiptFile) -> list[tuple[str, str]]:
    """Return the rows of the table of what was released, and how."""
    counts, embedding = receipt.counts, receipt.embedding
    missing = f", of which {counts.missing_records:,} missing" if counts.missing_records else ""
    share = f" ({percent(counts.unknown_words / counts.words)})" if counts.words else ""
    unknown, punctuation, case = (
        str(receipt.policy.get(name, "unknown")) for name in ("unknown", "punctuation", "case")
    )
    facts = [
        (what.capitalize(), f"{file.name}, {file.bytes:,} bytes, digest {file.digest}")
        for what, file in (receipt.files or {}).items()
    ]
    facts.append(("Texts", f"{counts.records:,}{missing}"))
    if counts.rows is not None:
        facts.append(("Rows", f"{counts.rows:,}"))
    if counts.released_again:
        facts.append(("Texts released again", f"{counts.released_again:,}: {ADDED_UP}."))
    facts += [
        ("Words", f"{counts.words:,}"),
        (
            "Words unknown to the embedding",
            f"{counts.unknown_words:,}{share}: {_UNKNOWN.get(unknown, unknown)}",
        ),
        ("Mechanism", f"{receipt.mechanism}, {receipt.epsilon_in_words}"),
        (
            "Embedding",
            f"{embedding.name}, {words(embedding.words)} in {embedding.dimension} dimensions "
            f"({embedding.fingerprint[:12]})",
        ),
    ]
    if embedding.protected_words:
        drawn = f"{counts.protected_words:,} of them in this text"
        protected = f"{embedding.protected_words:,} exposed words of the embedding go in as others, {drawn}"
        facts.append(("Protected words", protected))
    if embedding.map is not None:
        labels = ", ".join(str(each.get("name")) for each in embedding.map.public)
        survives = f"; labels as in {labels} survive by design" if labels else ""
        facts.append(("Space", f"{embedding.map.kind} from {embedding.map.source}{survives}"))
    marks = f"punctuation {_KEPT.get(punctuation, punctuation)}, capital letters {_KEPT.get(case, case)}"
    return [*facts, ("Beside the words", marks), ("Noise", _noise(receipt.randomness))]


def _noise(noise: NoiseUsed) -> str:
    if noise.source == "keyed":
        return f"keyed ({noise.key})" + (f": {noise.repeated}" if noise.repeated else "")
    if noise.insecure_seed is not None:
        return "from a seed, insecure"
    return "fresh, from the operating system's secure source"


def _add_budget(page: Page, budget: Budgets) -> None:
    page.add_section("What was spent per person")
    by_text = (budget.median_record, budget.longest_record)
    rows = [("text of median length", by_text[0]), ("longest text", by_text[1])]
    if budget.median_row is not None and budget.longest_row is not None:
        by_row = [
            ("row of median length, all its texts", budget.median_row),
            ("longest row, all its texts", budget.longest_row),
        ]
        rows = by_row if (budget.median_row, budget.longest_row) == by_text else [*rows, *by_row]
    user, (whole, spent) = budget.longest_user, budget.largest
    if user is not None:
        if budget.median_user is not None:
            rows.append(("median person", budget.median_user))
        among = "" if user.users is None else f", of {user.users:,}"
        rows.append((f"person with most words{among}" if user.exact else "any person, at most", user))
    page.add_table(
        ["spent on", "words", "Σε"],
        [(what, f"{spent.words:,}", f"{spent.epsilon:g}") for what, spent in rows],
        caption="Words drawn, and their ε summed.",
    )
    if user is None:
        page.add_text(
            f"Whose texts they are is not known here. Somebody with several {whole}s has spent the sum over "
            f"them: with five, at most {5 * spent.epsilon:g}."
        )


def _add_promise(page: Page, receipt: ReceiptFile) -> None:
    promise, notion = receipt.guarantee, receipt.guarantee.notion
    page.add_section("What is promised", f"{notion[:1].upper()}{notion[1:]}. {promise.statement}")
    if (calibrated := receipt.calibration) is not None:
        stays = calibrated.unchanged
        page.add_text(
            f"Measured at ε = {calibrated.at_epsilon:g} over {words(calibrated.words)}: the median word "
            f"comes out as itself in {percent(stays.median)} of all draws, 95 % of the words in at most "
            f"{percent(stays.most)}, the worst word in {percent(stays.worst)}."
        )


def _add_numbers(page: Page, numbers: ProvedNumbers) -> None:
    page.add_section("What is proved in numbers")
    page.add_list(numbers.in_words())
    if numbers.accounting:
        page.add_table(
            ["distance of the words", "words that differ", "pure bound Σε·d", "ε′", "δ"],
            [
                (row.distance, f"{row.words:,}", _bound(row.pure), _bound(row.epsilon), f"{row.delta:g}")
                for row in numbers.accounting
            ],
            caption="Two texts that differ in so many words: the odds between them change at most e^ε′-fold, "
            "except with probability δ.",
        )


def _bound(value: float | None) -> str:
    return "–" if value is None or value == math.inf else f"{value:,.1f}"


def _date(created: str) -> str:
    try:
        return datetime.fromisoformat(created).strftime("%d %B %Y, %H:%M %Z").lstrip("0").strip(", ")
    except ValueError:
        return created
