"""A number or a code is one word: its digits are never cut apart, so that none of them comes to be known by
itself."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from deniable.words.cutter import Tokeniser
from deniable.words.languages import normalise
from tests.words.vocabularies import PIECES


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ssn:555-12-3456", ["ssn", "555-12-3456"]),
        ("tel:555-12-3456.", ["tel", "555-12-3456"]),
        ("ssn=555.12.3456", ["ssn", "555.12.3456"]),
        ("ssn_555_12_3456", ["ssn", "555_12_3456"]),
        ("born:12/04/1987", ["born", "12/04/1987"]),
        ("12:04pm", ["12:04pm"]),
        ("(555)123-4567", ["555)123-4567"]),
        ("tel:(555)123-4567", ["tel", "555)123-4567"]),
        ("555–12—3456 555−12", ["555–12—3456", "555−12"]),
        ("555\u200b12", ["555\u200b12"]),
        ("ssn:555--(12).-[3456]", ["ssn", "555--(12).-[3456"]),
        ("ssn:٥٥٥-١٢-٣٤٥٦", ["ssn", "٥٥٥-١٢-٣٤٥٦"]),
        ("ssn:５５５-１２-３４５６", ["ssn", "555-12-3456"]),
        ("ssn:5\ufe0f\u20e3-1\ufe0f\u20e3", ["ssn", "5\ufe0f\u20e3-1\ufe0f\u20e3"]),
        ("de89-3704-0044-12", ["de89-3704-0044-12"]),
        ("ip:192.168.0.1", ["ip", "192.168.0.1"]),
        ("'555-1234'", ["555-1234"]),
        ("see '192.168.1.10'", ["see", "192.168.1.10"]),
        ("`12)(04`", ["12)(04"]),
        ("‘12:04’", ["12:04"]),
    ],
)
def test_a_number_is_never_cut_where_marks_join_its_digits(text: str, words: list[str]) -> None:
    assert Tokeniser(PIECES).words(normalise(text)) == words


CODES = (
    "12-AB-34 12_ab_34 12.ab-34 12–AB–34 12)AB(34 12--ab--34 12-anna-04 12-anna-smith-04 "
    "A-12-B A/12/B AB-123-CD AB-12-CDE B-MW-1234 WOB-X-123 AB/1234/56 AB.1234.56 "
    "56-1234-ab GB29-NWBK-6016-1331-9268-19 DE89:3704:0044:0532 1-800-FLOWERS 970-476-TAXI "
    "1-800-anna-12 00:e0:b8:8d:42:ab 920903aa-762f-40d2-8126-87f4b0e6f975 "
    "fe80::202:6fff:fe36:9011/64 9-feb-02 12-December-1999 jan-1-2000 8:30am-9:15pm "
    "v2.6.10-5-386 4.3.0.dfsg.1-4 ٥٥-AB-٣٤"
).split()


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_one_word_with_the_letters_among_its_digits(code: str) -> None:
    known = (
        PIECES
        | {piece for code in CODES for piece in regex.findall(r"[^\W_]+", normalise(code))}
        | {"'s", "account"}
    )
    text = f"see {code}, account:{code} '{code}' ({code})\t{code}'s"
    assert Tokeniser(known).words(normalise(text)) == ["see", code, "account", code, code, code, code, "'s"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("covid-19", ["covid", "19"]),
        ("mid-1990s", ["mid", "1990s"]),
        ("F-16", ["F", "16"]),
        ("24-hour", ["24", "hour"]),
        ("2-year-old", ["2", "year", "old"]),
        ("10-yr-old", ["10", "yr", "old"]),
        ("25-or-so", ["25", "or", "so"]),
        ("not-quite-90-minutes", ["not", "quite", "90", "minutes"]),
        ("every-5-min", ["every", "5", "min"]),
        ("80's", ["80", "'s"]),
        ("5/ton", ["5", "ton"]),
        ("50,000/day", ["50,000", "day"]),
        ("3.50-km", ["3.50", "km"]),
        ("7-8/kwh", ["7-8", "kwh"]),
        ("post-9/11", ["post", "9/11"]),
        ("linux-image-2.6.15-26-386", ["linux", "image", "2.6.15-26-386"]),
        ("no.1", ["no", "1"]),
        ("2.the", ["2", "the"]),
        ("hw:0,0", ["hw", "0,0"]),
    ],
)
def test_a_word_and_a_number_are_a_compound_like_any_other(text: str, words: list[str]) -> None:
    assert Tokeniser({"'s"}).words(text) == words


@given(
    st.lists(st.sampled_from(["12", "a", "anna", "3b", "x", "٥", "smith"]), min_size=1, max_size=8), st.data()
)
def test_the_digits_of_a_chunk_are_never_in_two_words(pieces: list[str], data: st.DataObject) -> None:
    marks = data.draw(st.lists(st.sampled_from([*"-./:_+&,'"]), min_size=len(pieces), max_size=len(pieces)))
    text = "".join(piece + mark for piece, mark in zip(pieces, marks, strict=True))[:-1]
    assert sum(bool(regex.search(r"\p{N}", word)) for word in Tokeniser(set(pieces)).words(text)) <= 1
