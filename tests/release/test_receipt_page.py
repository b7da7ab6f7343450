"""The receipt as a page: what the receipt says, on one sheet, marked as the owner's, and nothing that
acts."""

from __future__ import annotations

import base64
import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniable import Embedding, InsecureSeededRandomness, Keyed, Multivariate, Privatizer
from deniable.errors import MalformedReceipt
from deniable.interfaces import Randomness
from deniable.release.receipt_page import (
    ReceiptFile,
    decode_receipt,
    read_receipt_file,
    receipt_page,
    write_receipt_page,
)
from tests.report.browser import at_width, browser, requests_of
from tests.report.html_check import Outline, outline

HOSTILE = "<script>alert(1)</script>{{ 7 * 7 }}\u202e"
TEXTS = ["the fox", None, "it", "the secretword it fox"]


def released(
    embedding: Embedding,
    *,
    rows: list[int] | None = None,
    randomness: Randomness | None = None,
    **settings: Any,
) -> ReceiptFile:
    private = Privatizer(Multivariate(embedding, epsilon=3), randomness=randomness, **settings)
    private.many(TEXTS, rows=rows)
    return decode_receipt(private.receipt().to_json(), "receipt")


def shown(receipt: ReceiptFile) -> Outline:
    return outline(receipt_page(receipt).html())


def edited(embedding: Embedding, change: Callable[[dict[str, Any]], object]) -> bytes:
    private = Privatizer(Multivariate(embedding, epsilon=3))
    private.many(TEXTS)
    data = private.receipt().to_dict()
    change(data)
    return json.dumps(data).encode()


def test_the_page_says_what_the_receipt_says_and_whose_it_is(embedding: Embedding) -> None:
    found = shown(released(embedding))
    assert found.problems == []
    assert found.outside == []
    assert "7 words in 4 texts were each replaced by a word drawn around it, at ε = 3 per word." in found.lead
    assert "The most that was spent on one text is Σε = 12, for 4 words." in found.lead
    for said in (
        "belongs to the holder of the private text",
        "OUTPUT.card.json",
        "1 (14 %): all go in as one public symbol ⊥",
    ):
        assert said in found.text
    assert "4, of which 1 missing" in found.text
    assert "not the ε of local differential privacy" in found.text
    assert "counts as anonymous under a law is for people to judge" in found.text
    assert "secretword" not in found.raw


@pytest.mark.parametrize(
    "policy", [{"unknown": "redact"}, {"punctuation": "keep"}, {"case": "keep"}, {"keep_words": ["the"]}]
)
def test_every_relaxation_stands_on_the_page(policy: dict[str, Any], embedding: Embedding) -> None:
    receipt = released(embedding, **policy)
    assert f"relaxed: {receipt.relaxations[0]}" in shown(receipt).text
    assert "relaxed" not in shown(released(embedding)).text


def test_rows_and_people_are_added_up_where_they_are_known(embedding: Embedding) -> None:
    by_row = shown(released(embedding, rows=[2, 2]))
    assert "spent on one row is Σε = 15, for 5 words" in by_row.lead
    assert "longest text" in by_row.text
    assert "Somebody with several rows has spent the sum over them: with five, at most 75." in by_row.text
    alike = shown(released(embedding, rows=[1, 1, 1, 1]))
    assert "longest text" not in alike.text
    keyed = Privatizer(Multivariate(embedding, epsilon=3), randomness=Keyed(b"k" * 32, consistent=True))
    keyed.many(TEXTS, record_ids=["ann", "ann", "bob", "ann"])
    by_person = shown(decode_receipt(keyed.receipt().to_json(), "receipt"))
    assert "spent on one person is Σε = 18, for 6 words" in by_person.lead
    assert "person with most words, of 2" in by_person.text
    assert "Whose texts they are is not known" not in by_person.text


def test_a_budget_per_record_and_a_seed_are_said(embedding: Embedding) -> None:
    budgeted = shown(released(embedding, record_epsilon=4))
    assert "ε = 4 per text, and at most 3 per word (a word got up to 3)" in budgeted.text
    seeded = shown(released(embedding, randomness=InsecureSeededRandomness(insecure_seed=7)))
    assert "INSECURE: the noise came from a seed" in seeded.text
    assert "INSECURE" not in budgeted.text


def test_nothing_in_a_receipt_acts(embedding: Embedding) -> None:
    def spoil(data: dict[str, Any]) -> None:
        data["mechanism"] = data["created"] = data["embedding"]["name"] = data["policy"]["unknown"] = HOSTILE
        data["public"] = [HOSTILE] * len(data["public"])
        data["caveats"] = [HOSTILE] * len(data["caveats"])

    plain, hostile = shown(released(embedding)), shown(decode_receipt(edited(embedding, spoil), "receipt"))
    assert (hostile.tags, hostile.attributes) == (plain.tags, plain.attributes)
    assert "{{ 7 * 7 }}" in hostile.text


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("budget"),
        lambda data: data["counts"].update(words=-1),
        lambda data: data["counts"].update(words="many"),
        lambda data: data.update(public="all"),
        lambda data: data["budget"].update(longest_record=None),
    ],
)
def test_what_is_no_receipt_is_refused_in_one_line_and_more_than_is_known_is_left_out(
    change: Callable[[dict[str, Any]], object], embedding: Embedding, tmp_path: Path
) -> None:
    path = tmp_path / "x.receipt.json"
    path.write_bytes(edited(embedding, change))
    with pytest.raises(MalformedReceipt) as caught:
        read_receipt_file(path)
    assert "\n" not in str(caught.value)
    later = decode_receipt(edited(embedding, lambda data: data.update(later={"more": 1})), "receipt")
    assert later.counts.words == 7


def test_the_page_is_readable_by_its_owner_only(embedding: Embedding, tmp_path: Path) -> None:
    write_receipt_page(released(embedding), tmp_path / "page.html")
    assert stat.S_IMODE((tmp_path / "page.html").stat().st_mode) == 0o600


def test_it_is_one_sheet_of_paper_and_fits_narrow_screens_in_light_and_dark(
    embedding: Embedding, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    write_receipt_page(released(embedding, rows=[2, 2], punctuation="keep", case="keep"), path)
    with browser(tmp_path / "profile") as opened:
        colours = []
        for width, scheme in ((390, "light"), (1280, "dark")):
            at_width(opened, width)
            opened.execute_cdp_cmd(
                "Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
            )
            opened.get(path.as_uri())
            assert requests_of(opened, path.as_uri()) == [path.as_uri()]
            assert opened.get_log("browser") == []
            assert opened.execute_script(
                "return document.documentElement.scrollWidth <= window.innerWidth"
            ), f"scrolls at {width}"
            colours.append(opened.execute_script("return getComputedStyle(document.body).backgroundColor"))
        assert colours[0] != colours[1]
        printed = opened.execute_cdp_cmd(
            "Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
        )
    assert len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"]))) == 1
