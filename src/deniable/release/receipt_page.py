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
_LAW = (
    "Whether the output counts as anonymous under a law is for people to judge. This receipt is a part of "
    "what they need, and no answer to that."
)


class _Spent(msgspec.Struct, frozen=True):
    words: Count
    epsilon: float
    exact: bool = True
    users: Count | None = None


class _Budgets(msgspec.Struct, frozen=True):
    longest_record: _Spent
    median_record: _Spent
    longest_row: _Spent | None = None
    median_row: _Spent | None = None
    longest_user: _Spent | None = None
    median_user: _Spent | None = None

    @property
    def largest(self) -> tuple[str, _Spent]:
        """The largest whole that is known to belong together, and what was spent on it."""
        if self.longest_user is not None:
            return "person", self.longest_user
        return ("text", self.longest_record) if self.longest_row is None else ("row", self.longest_row)


class _Promise(msgspec.Struct, frozen=True):
    notion: str
    statement: str
    exposed: str


class _Map(msgspec.Struct, frozen=True):
    kind: str
    source: str
    public: tuple[dict[str, Any], ...] = ()


class _Embedding(msgspec.Struct, frozen=True):
    name: str
    words: Count
    fingerprint: str
    dimension: Count
    protected_words: Count = 0
    map: _Map | None = None


class _Noise(msgspec.Struct, frozen=True):
    source: str
    key: str | None = None
    repeated: str | None = None
    insecure_seed: int | None = None


class _Counts(msgspec.Struct, frozen=True):
    records: Count
    missing_records: Count
    words: Count
    unknown_words: Count
    protected_words: Count = 0
    rows: Count | None = None
    released_again: Count = 0


class _Calibrated(msgspec.Struct, frozen=True):
    at_epsilon: float
    unchanged: Spread
    words: Count
    capacity: dict[str, float] | None = None


class _File(msgspec.Struct, frozen=True):
    name: str
    bytes: Count
    digest: str


class ReceiptFile(msgspec.Struct, frozen=True):
    """A receipt as ``Receipt.to_dict`` writes it."""

    deniable: str
    created: str
    guarantee: _Promise
    mechanism: str
    epsilon_per_word: float | None
    largest_epsilon_of_a_word: float
    epsilon_per_record: float | None
    embedding: _Embedding
    public: tuple[str, ...]
    policy: dict[str, str | int]
    relaxations: tuple[str, ...]
    randomness: _Noise
    caveats: tuple[str, ...]
    counts: _Counts
    budget: _Budgets
    calibration: _Calibrated | None = None
    files: dict[Literal["input", "output"], _File] | None = None

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


def write_receipt_page(receipt: ReceiptFile, path: Path, numbers: ProvedNumbers | None = None) -> None:
    """Write the page, whole or not at all, readable by its owner only like the receipt.

    :raises RecordError: if the path is a folder or its folder is not there.
    """
    check_place(path)
    write_whole(path.resolve(), receipt_page(receipt, numbers).html())


def receipt_page(receipt: ReceiptFile, numbers: ProvedNumbers | None = None) -> Page:
    """Return the page about one release, with what is proved of it if that was computed."""
    counts, (whole, spent) = receipt.counts, receipt.budget.largest
    texts = "1 text" if counts.records == 1 else f"{counts.records:,} texts"
    page = Page(
        "Receipt of a release",
        lead=f"{words(counts.words)} in {texts} {'was' if counts.words == 1 else 'were each'} replaced by a "
        f"word drawn around it, at {receipt.epsilon_in_words}. The most that was spent on one {whole} is "
        f"Σε = {spent.epsilon:g}, for {words(spent.words)}.",
        kicker=f"{_date(receipt.created)} · deniable {receipt.deniable}",
        on_one_sheet=True,
    )
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
    _add_promise(page, receipt, numbers)
    page.add_section("What anybody can read off the output")
    exposed = [] if receipt.guarantee.exposed == NOTHING_EXPOSED else [receipt.guarantee.exposed]
    page.add_list([*receipt.public, *exposed, *(f"relaxed: {each}" for each in receipt.relaxations)])
    page.add_section("What is not promised")
    page.add_list([*receipt.caveats, _LAW])
    return page


def _facts(receipt: ReceiptFile) -> list[tuple[str, str]]:
    """Return the rows of the table of what was released, and how."""
    counts, embedding, noise = receipt.counts, receipt.embedding, receipt.randomness
    unknown, punctuation, case = (
        str(receipt.policy.get(name, "unknown")) for name in ("unknown", "punctuation", "case")
    )
    missing = f", of which {counts.missing_records:,} missing" if counts.missing_records else ""
    share = f" ({percent(counts.unknown_words / counts.words)})" if counts.words else ""
    source = "fresh, from the operating system's secure source"
    if noise.source == "keyed":
        source = f"keyed ({noise.key})" + (f": {noise.repeated}" if noise.repeated else "")
    elif noise.insecure_seed is not None:
        source = "from a seed, insecure"
    facts = {
        **{
            what.capitalize(): f"{file.name}, {file.bytes:,} bytes, digest {file.digest}"
            for what, file in (receipt.files or {}).items()
        },
        "Texts": f"{counts.records:,}{missing}",
        "Rows": "" if counts.rows is None else f"{counts.rows:,}",
        "Texts released again": f"{counts.released_again:,}: {ADDED_UP}." if counts.released_again else "",
        "Words": f"{counts.words:,}",
        "Words unknown to the embedding": f"{counts.unknown_words:,}{share}: "
        f"{_UNKNOWN.get(unknown, unknown)}",
        "Mechanism": f"{receipt.mechanism}, {receipt.epsilon_in_words}",
        "Embedding": f"{embedding.name}, {words(embedding.words)} in {embedding.dimension} dimensions "
        f"({embedding.fingerprint[:12]})",
        "Protected words": f"{embedding.protected_words:,} exposed words of the embedding go in as others, "
        f"{counts.protected_words:,} of them in this text"
        if embedding.protected_words
        else "",
        "Space": "" if embedding.map is None else _space(embedding.map),
        "Beside the words": f"punctuation {_KEPT.get(punctuation, punctuation)}, "
        f"capital letters {_KEPT.get(case, case)}",
        "Noise": source,
    }
    return [(what, said) for what, said in facts.items() if said]


def _space(mapped: _Map) -> str:
    labels = ", ".join(str(each.get("name")) for each in mapped.public)
    return f"{mapped.kind} from {mapped.source}" + (
        f"; labels as in {labels} survive by design" if labels else ""
    )


def _add_budget(page: Page, budget: _Budgets) -> None:
    page.add_section("What was spent per person")
    by_text, by_row = (budget.median_record, budget.longest_record), (budget.median_row, budget.longest_row)
    user, (whole, spent) = budget.longest_user, budget.largest
    rows: list[tuple[str, _Spent | None]] = []
    if by_row != by_text:
        rows += zip(("text of median length", "longest text"), by_text, strict=True)
    rows += zip(("row of median length, all its texts", "longest row, all its texts"), by_row, strict=True)
    if user is not None:
        among = "" if user.users is None else f", of {user.users:,}"
        rows.append(("median person", budget.median_user))
        rows.append((f"person with most words{among}" if user.exact else "any person, at most", user))
    page.add_table(
        ["spent on", "words", "Σε"],
        [(what, f"{each.words:,}", f"{each.epsilon:g}") for what, each in rows if each is not None],
        caption="Words drawn, and their ε summed.",
    )
    if user is None:
        page.add_text(
            f"Whose texts they are is not known here. Somebody with several {whole}s has spent the sum over "
            f"them: with five, at most {5 * spent.epsilon:g}."
        )


def _add_promise(page: Page, receipt: ReceiptFile, numbers: ProvedNumbers | None) -> None:
    promise, calibrated = receipt.guarantee, receipt.calibration
    notion = f"{promise.notion[:1].upper()}{promise.notion[1:]}"
    page.add_section("What is promised", f"{notion}. {promise.statement}")
    if calibrated is not None:
        stays = calibrated.unchanged
        page.add_text(
            f"Measured at ε = {calibrated.at_epsilon:g} over {words(calibrated.words)}: the median word "
            f"comes out as itself in {percent(stays.median)} of all draws, 95 % of the words in at most "
            f"{percent(stays.most)}, the worst word in {percent(stays.worst)}."
        )
        if numbers is None and calibrated.capacity is not None:
            from deniable.release.proved import capacity_in_words  # loads scientific libraries

            page.add_text(capacity_in_words(calibrated.capacity["at_most"]))
    if numbers is None:
        return
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
