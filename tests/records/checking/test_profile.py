"""What a column looks like, by values that try to pass for something harmless, in time proportional to their
length."""

from __future__ import annotations

import re

import pytest

from deniable import Embedding
from deniable.records import profile
from deniable.records.deciding import why_refused
from deniable.records.formats.columns import Path, Unnamed, parse_path
from deniable.records.profile import LOOKS, ColumnProfile, Columns
from tests.words.counting import CountingPattern

PEOPLE = ["Anna Kowalska", "John Smith", "Maria Garcia", "Jürgen Müller"]


def repeated(*values: object) -> list[object]:
    return [values[i % len(values)] for i in range(20)]


def profiled(name: str, values: list[object]) -> ColumnProfile:
    columns = Columns(Embedding.open())
    for value in values:
        columns.add(name, value)  # type: ignore[arg-type]
    (found,) = columns.profiles.values()
    return found


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("log", [f"2026-01-{i + 10} patient {PEOPLE[i % 4]} came, case {i}" for i in range(20)], "free text"),
        ("log", [f"{i + 1}.2.2026 {PEOPLE[i % 4]}" for i in range(20)], "short text"),
        ("seen", [f"2026-01-{i + 10}T10:{i + 10}:00.5+02:00" for i in range(20)], "date"),
        ("seen", [f"1/{i + 1}/2026 9:15 PM" for i in range(20)], "date"),
        ("seen", [f"2026-01-{i + 10} 10:{i + 10} CEST" for i in range(20)], "date"),
        ("who", ["0" if i % 5 < 3 else PEOPLE[i % 4] for i in range(40)], "person"),
        ("who", [0 if i % 5 < 3 else PEOPLE[i % 4] for i in range(40)], "person"),
        ("who", ["none" if i % 5 < 3 else PEOPLE[i % 4] for i in range(40)], "person"),
        ("patient_name", ["0" if i % 5 < 3 else ["Xqa", "Xqb"][i % 2] for i in range(40)], "person"),
        ("patient_name", ["NA" if i % 5 == 3 else i for i in range(40)], "number"),
        ("score", ["NA" if i % 5 == 3 else i for i in range(40)], "number"),
        ("contact", [0 if i % 5 < 3 else f"+49 30 1234{i}" for i in range(40)], "phone"),
        ("contact", ["none" if i % 5 < 3 else f"+49 30 1234{i}" for i in range(40)], "phone"),
        ("score", [1 if i else "Anna Kowalska was very rude" for i in range(40)], "short text"),
        ("answer", ["none" if i else "Anna Kowalska was very rude" for i in range(40)], "short text"),
        ("answer", ["I agree with all of it" if i % 5 == 3 else "no" for i in range(40)], "category"),
        ("seller", [["Anna", "Maria"][i % 2] for i in range(40)], "short text"),
        ("card", [4111111111111111 + i * 13 for i in range(40)], "identifier"),
        ("card", [str(4111111111111111 + i * 13) for i in range(40)], "identifier"),
        ("amount", [f"{i / 7:.15f}" for i in range(40)], "number"),
        ("mrn", [4711], "identifier"),
        ("birthday", [["3 May", "4 June"][i % 2] for i in range(40)], "birth date"),
        ("seen_by", repeated("Anna Kowalczyk", "John A. Smith", "Jürgen Müller", "Marie Dupont"), "person"),
        ("town", repeated("Denver", "Austin", "Jackson"), "short text"),
        ("eyes", repeated("brown", "white", "green"), "short text"),
        (
            "seen by",
            repeated("Dr. Müller", "Prof. Anna Weber", "Herr Karl von Berg", "John Smith Jr."),
            "person",
        ),
        ("фамилия", repeated("Петров", "Смирнова", "Иванов", "Попов"), "person"),
        ("患者", repeated("山田太郎", "佐藤花子"), "person"),
        ("contact", repeated("mail: a@example.org", "b@example.org; c@example.org", "none"), "e-mail"),
        ("geboren", repeated("1971-02-03", "1980-04-05"), "birth date"),
        ("birthday", repeated("3 May 1971", "April 5, 1980"), "birth date"),
        ("nacimiento", repeated("3 de mayo de 1971", "5 de abril de 1980"), "birth date"),
        ("Geburtsjahr", repeated(1971, 1980), "birth date"),
        ("born in", repeated("Berlin", "Paris"), "short text"),
        ("visit", repeated("3 May 1971", "5. März 1980"), "date"),
    ],
)
def test_what_is_private_does_not_pass_for_something_else(name: str, values: list[object], kind: str) -> None:
    assert profiled(name, values).kind == kind


def test_a_cell_without_a_name_is_not_called_cell() -> None:
    assert profiled(Unnamed("(cell 2)"), [3, 4, 3]).kind == "number"


def test_only_numbers_that_count_the_records_themselves_pass() -> None:
    """4711, 4712 are two patients, not the first two records."""
    for first, refused in ((0, False), (1, False), (7, True), (4711, True)):
        for records in (1, 2, 20):
            found = profiled("record_id", list(range(first, first + records)))
            assert (why_refused(found) is not None) == refused
    assert why_refused(profiled("born", [1950, 1951])) == "dates of birth"


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("scores.Anna Kowalska", True),
        ("Kowalska, Anna", True),
        ("by.anna@example.org", True),
        ("scores.anna", False),
        ("IE-1", False),
        ("nobs_ref", False),
        ("White blood cells", False),
        ("visits[].day", False),
    ],
)
def test_keys_that_are_people_are_refused(path: str, refused: bool) -> None:
    assert (why_refused(profiled(path, [3, 4, 3])) is not None) == refused


UNITS = "1|1.|12/|a@|b.|anno|ano naci|de |birth |user_|[]|+4 9|T10:|год| ".split("|")


def steps(pattern: re.Pattern[str], text: str) -> int:
    counting = CountingPattern(pattern.pattern)
    if pattern in LOOKS.values():
        counting.fullmatch(text)
    else:
        for _ in counting.finditer(text, 0, len(text)):
            pass
    return counting.steps


def is_linear(pattern: re.Pattern[str]) -> bool:
    return all(
        steps(pattern, unit * 80 + end) <= 2.6 * steps(pattern, unit * 40 + end) + 500
        for unit in UNITS
        for end in ("", "x", "é")
    )


def test_a_long_value_or_name_takes_work_proportional_to_its_length() -> None:
    patterns = [each for each in vars(profile).values() if isinstance(each, re.Pattern)]
    assert len(patterns) > 10
    assert [each.pattern for each in patterns if not is_linear(each)] == []


@pytest.mark.parametrize("pattern", [r"[-+]?[\d.,]*\d[\d.,]*%?$", "(?:anno|ano).*(?:naci)"])
def test_quadratic_patterns_are_found(pattern: str) -> None:
    assert not is_linear(re.compile(pattern))


def test_a_path_may_be_long() -> None:
    name = "a.b" + "[]" * 200_000
    assert len(parse_path(name).steps) == 200_002
    assert parse_path(name + "x") == Path(name=name + "x", steps=("a", name[2:] + "x"))
    assert parse_path("a.[]") == Path(name="a.[]")
