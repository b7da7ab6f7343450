"""The receipt as one page to print, for whoever answers for the release: what was released, how, what was
spent, what is not promised.

It says what the receipt says, and so its counts come from the private text: it stays with whoever holds the
data.
"""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.atomic import write_whole
from deniable.interfaces import NOTHING_EXPOSED
from deniable.release.card_file import ENDING as CARD
from deniable.release.receipt import ADDED_UP
from deniable.release.receipt_file import Budgets, ReceiptFile, Spent
from deniable.report.page import Page
from deniable.report.place import check_place
from deniable.report.wording import percent, words

if TYPE_CHECKING:
    from deniable.release.proved import ProvedNumbers

_UNKNOWN = {
    "perturb": "all go in as one public symbol ⊥, and are drawn like any word",
    "subwords": "each goes in as the known word its spelling is nearest to",
    "redact": "each is replaced by a fixed sign",
    "drop": "left out",
    "error": "not allowed: the release stops at one",
}
_KEPT = {"drop": "not released", "keep": "released as it is"}


def receipt_page(receipt: ReceiptFile, numbers: ProvedNumbers | None = None) -> Page:
    """Return the page about one release, with what is proved of it if that was computed."""
    counts, spent = receipt.counts, _most_spent(receipt.budget)
    lead = (
        f"{words(counts.words)} in {_texts(counts.records)} {'was' if counts.words == 1 else 'were each'} "
        "replaced by a word drawn around "
        f"it, at {_epsilon(receipt)}. The most that was spent on one {spent[0]} is Σε = "
        f"{spent[1].epsilon:g}, for {words(spent[1].words)}."
    )
    kicker = f"{_date(receipt.created)} · deniable {receipt.deniable}"
    page = Page("Receipt of a release", lead=lead, kicker=kicker, on_one_sheet=True)
    page.add_note(
        "This page belongs to whoever holds the private text. Its counts and budgets come from that text and "
        "are not covered by the "
        f"guarantee: keep it, and hand over the output and its card (OUTPUT{CARD}) only.",
        kind="warning",
    )
    if receipt.randomness.insecure_seed is not None:
        page.add_note(
            "INSECURE: the noise came from a seed. Whoever knows the seed can undo the noise.", kind="warning"
        )
    _add_release(page, receipt)
    _add_budget(page, receipt.budget)
    _add_promise(page, receipt)
    if numbers is not None:
        _add_numbers(page, numbers)
    _add_public(page, receipt)
    page.add_section("What is not promised")
    page.add_list(
        [
            *receipt.caveats,
            "Whether the output counts as anonymous under a law is for people to judge. This receipt is a "
            "part of what they need, and no "
            "answer to that.",
        ]
    )
    return page


def write_receipt_page(receipt: ReceiptFile, path: Path, numbers: ProvedNumbers | None = None) -> None:
    """Write the page, whole or not at all, readable by its owner only like the receipt.

    :raises RecordError: if the path is a folder or its folder is not there.
    """
    check_place(path)
    write_whole(path.resolve(), receipt_page(receipt, numbers).html())


def _add_release(page: Page, receipt: ReceiptFile) -> None:
    counts, embedding, policy = receipt.counts, receipt.embedding, receipt.policy
    unknown = f"{counts.unknown_words:,}" + (
        f" ({percent(counts.unknown_words / counts.words)})" if counts.words else ""
    )
    rows = [
        (
            "Texts",
            f"{counts.records:,}"
            + (f", of which {counts.missing_records:,} missing" if counts.missing_records else ""),
        ),
        *([("Rows", f"{counts.rows:,}")] if counts.rows is not None else []),
        *(
            [("Texts released again", f"{counts.released_again:,}: {ADDED_UP}.")]
            if counts.released_again
            else []
        ),
        ("Words", f"{counts.words:,}"),
        ("Words unknown to the embedding", f"{unknown}: {_UNKNOWN.get(policy.unknown, policy.unknown)}"),
        ("Mechanism", f"{receipt.mechanism}, {_epsilon(receipt)}"),
        (
            "Embedding",
            f"{embedding.name}, {words(embedding.words)} in {embedding.dimension} dimensions "
            f"({embedding.fingerprint[:12]})",
        ),
    ]
    if embedding.protected_words:
        drawn = f"{counts.protected_words:,} of them in this text"
        rows.append(
            (
                "Protected words",
                f"{embedding.protected_words:,} exposed words of the embedding go in as others, {drawn}",
            )
        )
    if embedding.map is not None:
        labels = ", ".join(each.name for each in embedding.map.public)
        survives = f"; labels as in {labels} survive by design" if labels else ""
        rows.append(("Space", f"{embedding.map.kind} from {embedding.map.source}{survives}"))
    marks = (
        f"punctuation {_KEPT.get(policy.punctuation, policy.punctuation)}, capital letters "
        f"{_KEPT.get(policy.case, policy.case)}"
    )
    rows += [("Beside the words", marks), ("Noise", _noise(receipt))]
    page.add_section("What was released, and how")
    page.add_table(["what", "of this release"], rows, text_columns=2)


def _noise(receipt: ReceiptFile) -> str:
    noise = receipt.randomness
    if noise.source == "keyed":
        return f"keyed ({noise.key})" + (f": {noise.repeated}" if noise.repeated else "")
    return (
        "from a seed, insecure"
        if noise.insecure_seed is not None
        else "fresh, from the operating system's secure source"
    )


def _add_budget(page: Page, budget: Budgets) -> None:
    page.add_section("What was spent per person")
    rows = [("text of median length", budget.median_record), ("longest text", budget.longest_record)]
    if budget.median_row is not None and budget.longest_row is not None:
        by_row = [
            ("row of median length, all its texts", budget.median_row),
            ("longest row, all its texts", budget.longest_row),
        ]
        same = (budget.median_row, budget.longest_row) == (budget.median_record, budget.longest_record)
        rows = by_row if same else [*rows, *by_row]
    user = budget.longest_user
    if user is not None:
        if budget.median_user is not None:
            rows.append(("median person", budget.median_user))
        among = f", of {user.users:,}" if user.users is not None else ""
        rows.append((f"person with most words{among}" if user.exact else "any person, at most", user))
    page.add_table(
        ["spent on", "words", "Σε"],
        [(what, f"{spent.words:,}", f"{spent.epsilon:g}") for what, spent in rows],
        caption="Words drawn, and their ε summed.",
    )
    if user is None:
        page.add_text(
            f"Whose texts they are is not known here. Somebody with several {_most_spent(budget)[0]}s has "
            "spent the sum over them: with "
            f"five, at most {5 * _most_spent(budget)[1].epsilon:g}."
        )


def _add_promise(page: Page, receipt: ReceiptFile) -> None:
    page.add_section(
        "What is promised", f"{_sentence(receipt.guarantee.notion)} {receipt.guarantee.statement}"
    )
    if (calibrated := receipt.calibration) is not None:
        stays = calibrated.unchanged
        page.add_text(
            f"Measured at ε = {calibrated.at_epsilon:g} over {words(calibrated.words)}: the median word "
            "comes out as itself in "
            f"{percent(stays.median)} of all draws, 95 % of the words in at most {percent(stays.most)}, the "
            "worst word in "
            f"{percent(stays.worst)}."
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


def _add_public(page: Page, receipt: ReceiptFile) -> None:
    page.add_section("What anybody can read off the output")
    exposed = [] if receipt.guarantee.exposed == NOTHING_EXPOSED else [receipt.guarantee.exposed]
    page.add_list([*receipt.public, *exposed, *(f"relaxed: {each}" for each in receipt.relaxations)])


def _most_spent(budget: Budgets) -> tuple[str, Spent]:
    """Return the largest whole that is known to belong together, and what was spent on it."""
    if budget.longest_user is not None:
        return "person", budget.longest_user
    return ("text", budget.longest_record) if budget.longest_row is None else ("row", budget.longest_row)


def _epsilon(receipt: ReceiptFile) -> str:
    if receipt.epsilon_per_record is None:
        return (
            "ε = "
            f"{receipt.largest_epsilon_of_a_word if receipt.epsilon_per_word is None else receipt.epsilon_per_word:g} "  # noqa: E501
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            ""
            "per word"
        )
    most = (
        f", and at most {receipt.epsilon_per_word:g} per word" if receipt.epsilon_per_word is not None else ""
    )
    return f"ε = {receipt.epsilon_per_record:g} per text{most} (a word got up to {receipt.largest_epsilon_of_a_word:g})"  # noqa: E501


def _texts(count: int) -> str:
    return "1 text" if count == 1 else f"{count:,} texts"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _date(created: str) -> str:
    try:
        return datetime.fromisoformat(created).strftime("%d %B %Y, %H:%M %Z").lstrip("0").strip(", ")
    except ValueError:
        return created
