"""Identifiers: stand-ins are found again, differ, keep their form, and say nothing of what they stand for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable
from deniable.errors import DeniableError
from deniable.release.identifiers import (
    GIVEN,
    SURNAMES,
    Span,
    StandIns,
    find_by_presidio,
    find_by_shape,
    with_presidio,
)
from deniable.words.never_release import BUILT_IN, built_in_words, fold
from tests.service.test_clients import environment, run

KEY, OTHER = b"k" * 32, b"o" * 32
TEXT = (
    "Anna Kowalska (anna.k@corp.com, +49 (0)89 123456-78) lives at 12 Baker Street. Anna's card is "
    "4111 1111 1111 1111, her account DE89 3704 0044 0532 0130 00, her machine 192.168.7.12, see "
    "https://corp.example/anna?id=7. ANNA was born on 2019-04-01."
)
KINDS = {
    "name": ["Anna", "Kowalska", "O'Brien", "ANNA"],
    "email": ["anna.k@corp.com"],
    "number": ["+49 (0)89 123456-78", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "555-014-2277"],
    "ip": ["192.168.7.12"],
    "url": ["https://corp.example/anna?id=7", "www.corp.example"],
    "address": ["12 Baker Street", "221b Old Mill Rd"],
}


def found_in(text: str) -> dict[str, str]:
    return {text[span.start : span.end]: span.kind for span in find_by_shape(text)}


@pytest.mark.parametrize("kind", KINDS)
def test_identifiers_are_found_by_shape(kind: str) -> None:
    for each in KINDS[kind]:
        assert found_in(f"it is {each}, they said")[each] == kind


def test_what_is_no_identifier_is_left_to_be_drawn() -> None:
    assert found_in("On 2019-04-01 I paid 12.50 for 3 soups, 24 hours later") == {}
    assert found_in("anna kowalska called") == {}


@pytest.mark.parametrize(
    "part", ["a", "A", "1", "a.", "a@", "a@b.", "A-b", "A-b1", "1 A'", "www.", "10.", "1 ", "Anna", "DE11 "]
)
def test_no_text_takes_long_to_look_through(part: str) -> None:
    # One that is tried from each of its places would take hours.
    for text in (part * (1_000_000 // len(part)), part * (1_000_000 // len(part)) + "!"):
        assert sum(1 for _ in find_by_shape(text)) < len(text)


def test_a_text_comes_back_and_shows_nothing() -> None:
    stand_ins = StandIns(KEY)
    replaced = stand_ins.replace(TEXT)
    for each in ("Anna", "ANNA", "Kowalska", "corp", "Baker", "4111", "3704", "192.168", "anna"):
        assert each not in replaced
    assert "2019-04-01" in replaced
    assert stand_ins.restore(replaced) == TEXT


def test_stand_ins_are_a_function_of_key_and_identifier() -> None:
    assert StandIns(KEY).replace(TEXT) == StandIns(KEY).replace(TEXT)
    one, other = StandIns(KEY), StandIns(OTHER)
    one.replace(TEXT)
    other.replace(TEXT)
    assert len(one.originals.keys() & other.originals.keys()) < len(one.originals) / 2
    assert StandIns(KEY).replace("Anna called")[:4] == StandIns(KEY).replace("Then Anna called")[5:9]


def test_forms_are_kept() -> None:
    stand_ins = StandIns(KEY)
    for number in KINDS["number"]:
        ((_, after), (made,)) = stand_ins.split(number)
        assert after == ""
        assert regex.sub(r"\d", "0", made) == regex.sub(r"\d", "0", regex.sub("[A-Z]", "X", number)) or (
            regex.sub("[A-Z]", "X", regex.sub(r"\d", "0", made))
            == regex.sub("[A-Z]", "X", regex.sub(r"\d", "0", number))
        )
    card = [int(sign) for sign in stand_ins.split("4111 1111 1111 1111")[1][0] if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) if i % 2 else digit for i, digit in enumerate(card[::-1])]
    assert sum(doubled) % 10 == 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(100_000, 100_400), min_size=2, max_size=300, unique=True), st.binary(min_size=32))
def test_no_two_identifiers_share_a_stand_in_and_none_stands_for_itself(
    numbers: list[int], key: bytes
) -> None:
    stand_ins = StandIns(key)
    made = [stand_ins.replace(str(number)) for number in numbers]
    assert len(set(made)) == len(made)
    assert all(new != str(old) for new, old in zip(made, numbers, strict=True))
    for new, old in zip(made, numbers, strict=True):
        assert stand_ins.restore(f"it is {new}.") == f"it is {old}."


def test_more_names_than_are_frequent_have_stand_ins_too() -> None:
    names = sorted(name.capitalize() for name in built_in_words("names-1") if len(name) > 5)[::400]
    stand_ins = StandIns(KEY)
    made = [stand_ins.replace(name) for name in names]
    assert len(names) > len(GIVEN) + len(SURNAMES)
    assert len({each.casefold() for each in made}) == len(made)
    assert not {each.casefold() for each in made} & {name.casefold() for name in names[:1]}


def test_a_stand_in_that_comes_up_as_a_name_is_told_apart() -> None:
    stand_ins = StandIns(KEY)
    first = stand_ins.replace("Anna")
    second = stand_ins.replace(first)
    assert second not in (first, "Anna")
    assert stand_ins.restore(f"{first} and {second}") == f"Anna and {first}"


def test_only_whole_stand_ins_come_back() -> None:
    stand_ins = StandIns(KEY)
    made = stand_ins.replace("Anna")
    assert (
        stand_ins.restore(f"{made}, {made}ish, un{made} {made.lower()}")
        == f"Anna, {made}ish, un{made} {made.lower()}"
    )


@given(st.data())
def test_an_answer_that_comes_in_parts_is_the_same(data: st.DataObject) -> None:
    stand_ins = StandIns(KEY)
    name = stand_ins.replace("Anna")
    answer = f"So {stand_ins.replace('Anna, 555-014-2277')} or {stand_ins.replace('Kowalska')}! x{name}"
    sent, done = "", 0
    for end in [*sorted(data.draw(st.sets(st.integers(0, len(answer))))), len(answer)]:
        text = answer[:end]
        safe = len(text) - (stand_ins.held_back(text) if end < len(answer) else 0)
        if safe > done:
            sent += stand_ins.restore(text[:safe], done)
            done = safe
    assert sent == stand_ins.restore(answer)


def test_stand_ins_for_names_are_on_the_list_that_is_held_back() -> None:
    listed = built_in_words(BUILT_IN["names"])
    assert all(fold(name) in listed for name in GIVEN + SURNAMES)
    assert not set(GIVEN) & set(SURNAMES)


def test_presidio_finds_what_has_no_shape() -> None:
    class Analyzer:
        def analyze(self, *, text: str, language: str) -> list[Any]:
            kinds = {"Zork Grue": "PERSON", "AB-77": "US_PASSPORT", "Reykjavik": "LOCATION"}
            return [
                SimpleNamespace(entity_type=kind, start=text.index(word), end=text.index(word) + len(word))
                for word, kind in kinds.items()
            ]

    find = with_presidio(Analyzer())
    text = "Zork Grue of Reykjavik has AB-77 and 555-014-2277"
    spans = {text[span.start : span.end]: span.kind for span in map(Span._make, find(text))}
    assert spans == {"Zork": "name", "Grue": "name", "AB-77": "number", "555-014-2277": "number"}


REAL = """
import spacy
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import SpacyNlpEngine
from deniable.release.identifiers import StandIns, with_presidio

nlp = SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "blank"}])
nlp.nlp = {"en": spacy.blank("en")}
stand_ins = StandIns(b"k" * 32, with_presidio(AnalyzerEngine(nlp_engine=nlp)))
text = "Her licence is AC432223, her mail anna@corp.com, on 10 June 1999"
made = stand_ins.replace(text)
assert not [each for each in ("AC432223", "anna", "corp") if each in made], made
assert "10 June 1999" in made and stand_ins.restore(made) == text, made
"""


@pytest.mark.slow
def test_the_real_presidio_finds_by_its_patterns(tmp_path: Path) -> None:
    programs = environment(tmp_path / "presidio", "presidio-analyzer", "platformdirs", "msgspec", "regex")
    (tmp_path / "real.py").write_text(REAL, encoding="utf-8")
    run(programs / "python", "real.py", cwd=tmp_path, PYTHONPATH=str(Path(deniable.__file__).parents[1]))


def test_presidio_without_its_model_downloads_nothing() -> None:
    with pytest.raises(DeniableError):
        find_by_presidio("xx")
