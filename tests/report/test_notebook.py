"""Results show themselves in notebooks, and words from outside cannot act on the page."""

from __future__ import annotations

import pytest

from deniable import Embedding, Keyed, Privatizer, Release, Vickrey
from deniable.measures.estimate import Estimate
from deniable.report.notebook import table_html, text_html


def test_text_and_tables_are_escaped() -> None:
    assert text_html("<b>\nx\u202e") == "<pre>&lt;b&gt;<br>x\\u{202e}</pre>"
    table = table_html(["<i>"], [["a & b"]], caption="<u>")
    assert "<th>&lt;i&gt;</th>" in table
    assert "<td>a &amp; b</td>" in table
    assert "<caption>&lt;u&gt;</caption>" in table


def test_a_release_a_mechanism_and_a_privatizer_say_their_settings() -> None:
    embedding = Embedding(["red", "green"], [[1.0, 0.0], [0.0, 1.0]], name="two")
    mechanism = Vickrey(embedding, 6, t=0.5)
    assert repr(mechanism) == "<Vickrey: ε = 6, t = 0.5, noise = multivariate, embedding 'two'>"
    shown = repr(Privatizer(mechanism, unknown="drop", record_epsilon=9, randomness=Keyed(bytes(32))))
    assert repr(mechanism) in shown
    assert all(part in shown for part in ("unknown = drop", "record_epsilon = 9", "<Keyed "))
    assert repr(Release(epsilon=6, unknown="drop")) == "Release(unknown='drop', epsilon=6.0)"


def test_receipts_and_estimates_show_themselves() -> None:
    receipt = Release(epsilon=6).make().receipt()
    assert repr(receipt) == f"<Receipt: {'; '.join(receipt.summary().splitlines()[:2])}>"
    assert receipt._repr_html_() == text_html(receipt.summary())
    assert "<td>0.25</td>" in Estimate(value=0.25, low=0.2, high=0.3, blind=0.1)._repr_html_()


def test_an_embedding_is_asked_by_word() -> None:
    embedding = Embedding(["red", "green"], [[1.0, 0.0], [0.0, 1.0]])
    assert "red" in embedding
    assert "blue" not in embedding
    assert list(embedding) == ["red", "green"]
    assert embedding["green"].tolist() == [0.0, 1.0]
    with pytest.raises(KeyError) as missing:
        assert embedding["private"]
    assert "private" not in str(missing.value)
