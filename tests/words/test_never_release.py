"""What a list of words that are never released holds, and which words of a vocabulary it means."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from deniable import Embedding
from deniable.errors import InvalidParameter
from deniable.words.never_release import (
    BUILT_IN,
    NeverRelease,
    built_in_digest,
    built_in_list,
    built_in_words,
    fold,
    without_accents,
    words_of_line,
)


@pytest.mark.parametrize(
    ("line", "listed"),
    [
        ("Kowalczyk", {"kowalczyk"}),
        ("KOWALCZYK's", {"kowalczyk's", "kowalczyk"}),
        ("Anna Maria Kowalczyk", {"anna", "maria", "kowalczyk"}),
        ("Van Damme-Jones", {"van", "damme-jones", "dammejones", "damme", "jones"}),
        ("J. O’Brien", {"o'brien", "obrien", "brien"}),
        ("type 2 diabetes", {"type", "diabetes"}),
        ("covid-19", {"covid-19", "covid19", "covid"}),
        ("12", {"12"}),
        ("x", {"x"}),
        ("'s", {"'s"}),
        ("U.S.", {"u.s.", "u.s", "u", "s"}),
        ("STRASSE straße", {"strasse"}),
        ("ﬁsher", {"fisher"}),
    ],
)
def test_a_line_lists_every_word_of_it_but_initials_numbers_and_endings(line: str, listed: set[str]) -> None:
    assert words_of_line(line) == listed


@pytest.mark.parametrize(
    ("listed", "left_out", "stays"),
    [
        (
            "smith",
            ["smith", "Smith", "SMITH", "smith's", "smith-jones", "smith.jones", "Smith’s"],
            ["smiths", "smithsonian", "blacksmith"],
        ),
        ("o'brien", ["O'Brien", "obrien", "brien", "o’brien"], ["o", "o'clock"]),
        ("don", ["don", "Don's"], ["don't", "do", "donkey"]),
        ("john's", ["john", "john's"], ["'s", "johns"]),
        ("ray", ["ray", "x-ray"], ["rays", "array"]),
        ("19", ["19", "covid-19"], ["1", "190"]),
        ("müller", ["müller", "MULLER", "Müller's", "muller-jones"], ["mueller", "mull"]),
        ("Lodz Soren Strasse", ["Łódź", "Søren", "straße"], ["lod"]),
        ("Æthelred Đorđe", ["aethelred", "dorde"], ["thelred"]),
        ("Nguyễn", ["nguyen", "NGUYỄN"], ["nguy"]),
        ("Гончарёв Αλέξης", ["гончарев", "αλεξης"], ["гонча"]),
    ],
)
def test_a_word_is_left_out_in_every_form_that_folds_to_it_and_where_it_is_a_part(
    listed: str, left_out: list[str], stays: list[str]
) -> None:
    found = NeverRelease.of([listed])
    assert [word for word in (*left_out, *stays) if found.holds(word)] == left_out


def test_a_file_may_have_comments_blank_lines_and_any_ends_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "drugs"
    path.write_bytes("\ufeff# of the drugs\r\nAspirin\r\n\r\n  ibuprofen  \n#metoo\n".encode())
    found = NeverRelease.read([path])
    assert found.words == {"aspirin", "ibuprofen", "#metoo", "metoo"}
    assert found == NeverRelease.of(["aspirin", "Ibuprofen", "#MeToo"]) == NeverRelease.of(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "holds no word"),
        (b"# nothing\n\n", "holds no word"),
        (b"aspirin\x00ibuprofen", "control characters"),
        (b"\xff\xfea\x00", "must be a UTF-8 file"),
    ],
)
def test_a_file_that_is_no_list_is_refused(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_bytes(content)
    with pytest.raises(InvalidParameter, match=problem):
        NeverRelease.read([str(path)])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"nowhere.*No such file"):
        NeverRelease.read([str(tmp_path / "nowhere")])


@pytest.mark.parametrize("given", ["kowalczyk", ["drugs.txt"], [3], [b"word"]])
def test_what_may_be_meant_otherwise_is_refused_in_python(given: object) -> None:
    with pytest.raises(InvalidParameter):
        NeverRelease.of(given)  # type: ignore[arg-type]


def test_lists_add_up_and_their_digest_does_not_depend_on_their_order() -> None:
    one, other = NeverRelease.of(["b", "a c"]), NeverRelease.of(["a c", "b", "B"])
    assert one == other
    assert one.digest == other.digest != NeverRelease.of(["b"]).digest
    both = NeverRelease.of(["names", "kowalczyk", "aspirin"])
    assert (both.lists, both.called) == (("names-2",), ("names-2",))
    assert both == NeverRelease.of("names") | NeverRelease.of(["aspirin", "kowalczyk"])
    assert len(both) == len(built_in_words("names-2")) + 1, "kowalczyk is a name already"
    assert pickle.loads(pickle.dumps(both)) == both
    assert not NeverRelease.of(None)
    assert not NeverRelease.of([])


def test_the_built_in_list_has_given_names_and_surnames_and_not_what_is_mostly_a_word() -> None:
    names = NeverRelease.of("names")
    for name in "kowalczyk smith Nguyen maria john o'brien hussein mark grace jean-paul".split():
        assert names.holds(name), name
    for word in "will may the doctor pain long black male x-ray april co-operation said heart son".split():
        assert not names.holds(word), word
    assert all(word == word.lower() and word.isalpha() for word in built_in_words("names-2"))


@pytest.mark.parametrize(
    ("name", "digest", "length"),
    [
        ("names-1", "ba20ddce889012a5028b47e677b2ba5c", 201_312),
        ("names-2", "a1f735adea5f49bd95d1df6fa5961f6e", 227_181),
    ],
)
def test_a_built_in_list_never_changes_and_is_found_by_its_digest(
    name: str, digest: str, length: int
) -> None:
    """A changed list would let nobody decode what was released with it: a better list is another list. The
    guide states the lengths."""
    assert built_in_digest(name) == digest
    assert built_in_list(digest) == name
    assert len(built_in_words(name)) == length
    assert built_in_list("0" * 32) is None
    assert BUILT_IN["names"] == "names-2"


def test_accents_hide_no_name_of_the_latest_list_and_tell_words_apart_in_the_first() -> None:
    names = "María García Jürgen Müller José Hernández Stanisław Françoise Björk Nguyễn Saïd".split()
    latest, first = NeverRelease.of("names"), NeverRelease.of("names-1")
    assert [name for name in names if not latest.holds(name)] == []
    assert [name for name in names if first.holds(name)] == []
    assert not latest.holds("said"), "a name that is an ordinary word without its accent is listed with it"
    own = NeverRelease.of(["Müller", "names-1"])
    assert (own.holds("müller"), own.holds("mûller")) == (True, False), (
        "what was released with the first list stays what it was"
    )


def test_words_without_accents_take_no_ordinary_word_out() -> None:
    """Every accented word that only folding takes out is a name, or is one more than a word by the rule of
    the list."""
    latest = NeverRelease.of("names")
    for word in ("née", "château", "café", "école", "début", "attaché", "protégé", "hôtel", "façade"):
        assert not latest.holds(word), word
    by_folding = [
        word for word in Embedding.open().words if without_accents(fold(word)) != word and latest.holds(word)
    ]
    assert len(by_folding) < 125


def test_marks_of_other_scripts_make_other_letters() -> None:
    for one, other in (("が", "か"), ("कि", "क"), ("ก่", "ก"), ("한", "하"), ("أ", "ا")):
        assert without_accents(one) == one != other


def test_people_in_public_life_are_on_the_list() -> None:
    names = NeverRelease.of("names")
    for (
        name
    ) in "Obama Putin Sarkozy Merkel Berlusconi Netanyahu Saddam Erdoğan Gaddafi Yeltsin Chirac".split():
        assert names.holds(name), name


def test_a_word_of_ones_own_takes_out_more_than_the_built_in_list_and_has_another_digest() -> None:
    built_in, more = NeverRelease.of("names"), NeverRelease.of(["names", "ray"])
    assert (built_in.holds("x-ray"), more.holds("x-ray")) == (False, True)
    assert built_in.digest != more.digest
    assert built_in.holds("mary-j-smith"), "a letter between two names is no reason to keep them"


@pytest.mark.parametrize("entry", ["Names", "names ", "", "  ", "drugs.json", "lists/drugs", "a\\b"])
def test_an_entry_that_lists_nothing_or_looks_like_a_file_is_refused(entry: str) -> None:
    with pytest.raises(InvalidParameter, match="never_release"):
        NeverRelease.of([entry])
