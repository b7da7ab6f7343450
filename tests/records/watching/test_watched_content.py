"""Content that changes after its release, or comes again under another name: never drawn again with fresh
noise, unless asked for."""

from __future__ import annotations

import os

import pytest

from deniable import Embedding, Keyed, Multivariate, Privatizer
from tests.records.watched_folders import Folders


def test_a_file_that_changes_after_its_release_is_never_drawn_again_with_fresh_noise(
    folders: Folders, noisy: Privatizer
) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n1,the fox\n")
    folders.look(noisy)
    before = folders.released("a.csv")
    path.write_text("id,text\n1,the fox\n2,the quick\n")
    assert folders.look(noisy) == 0
    assert folders.released("a.csv") == before
    assert folders.failed == 1
    assert "changed after it was released" in folders.lines[-1]


def test_an_output_that_was_taken_away_does_not_make_a_released_file_new(
    folders: Folders, noisy: Privatizer
) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n1,the fox\n")
    assert folders.look(noisy) == 1
    (folders.out / "a.csv").unlink()
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert folders.look(noisy) == 0
    path.write_text("id,text\n1,the quick\n")
    assert folders.look(noisy) == 0
    assert "changed after it was released" in folders.lines[-1]
    assert not (folders.out / "a.csv").exists()


def test_a_file_that_was_only_touched_is_no_change(folders: Folders) -> None:
    path = folders.inbox / "a.txt"
    path.write_text("the fox\n")
    folders.look()
    os.utime(path, (1, 1))
    assert folders.look() == 0
    assert folders.failed == 0


def test_with_a_key_and_ids_a_changed_file_is_released_again_and_old_records_stay_as_they_were(
    folders: Folders, keyed: Privatizer
) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n1,the quick brown fox\n")
    folders.look(keyed, record_id="id")
    before = folders.released("a.csv")
    path.write_text("id,text\n1,the quick brown fox\n2,the quick\n")
    assert folders.look(keyed, record_id="id") == 1
    assert folders.released("a.csv").startswith(before)
    assert len(folders.released("a.csv").splitlines()) == 3
    assert "released a.csv again, by its key: 2 records, 6 words" in folders.lines
    path.write_text("id,text\n1,the fox\n")
    assert folders.look(keyed) == 0, "without ids a key gives other noise to another file"
    assert folders.failed == 1


def test_a_key_that_was_not_used_before_does_not_make_a_changed_file_safe_to_release(
    folders: Folders, noisy: Privatizer, keyed: Privatizer, embedding: Embedding
) -> None:
    path = folders.inbox / "a.csv"
    path.write_text("id,text\n1,the fox\n")
    folders.look(noisy, record_id=None)
    path.write_text("id,text\n1,the fox\n2,the quick\n")
    other = Privatizer(Multivariate(embedding, epsilon=0.25), randomness=Keyed(bytes(32)))
    for private in (keyed, other):
        assert folders.look(private, record_id="id") == 0
        assert "released with other settings, another key or by another version" in folders.lines[-1]


@pytest.mark.parametrize("renamed", [True, False])
def test_the_same_content_under_a_new_name_is_not_released_again_with_fresh_noise(
    folders: Folders, noisy: Privatizer, renamed: bool
) -> None:
    path, new = folders.inbox / "b.csv", folders.inbox / "a.csv"
    path.write_text("id,text\n1,the quick brown fox\n")
    assert folders.look(noisy) == 1
    path.rename(new) if renamed else new.write_bytes(path.read_bytes())
    assert folders.look(noisy) == 0
    assert not (folders.out / "a.csv").exists()
    assert "skipped a.csv: its content was released as b.csv" in folders.lines[-1]
    assert folders.failed == 0
    said = len(folders.lines)
    new.rename(folders.inbox / "c.csv")
    assert folders.look(noisy) == 0
    assert "skipped c.csv: its content was released as b.csv" in folders.lines[-1]
    assert folders.look(noisy) == 0
    assert len(folders.lines) == said + 1
    (folders.inbox / "c.csv").write_text("id,text\n1,the quick\n")
    assert folders.look(noisy) == 0
    assert "changed after it was released" in folders.lines[-1]


def test_equal_files_of_different_people_are_released_each_when_the_user_says_so(
    folders: Folders, noisy: Privatizer
) -> None:
    for name in ("a.txt", "b.txt"):
        (folders.inbox / name).write_text("the quick brown fox " * 20 + "\n")
    assert folders.look(noisy) == 1
    assert folders.look(noisy, same_content="release") == 1
    assert folders.released("a.txt") != folders.released("b.txt")
    assert folders.look(noisy, same_content="release") == 0


def test_files_without_a_word_are_released_under_every_name_and_may_grow(
    folders: Folders, noisy: Privatizer
) -> None:
    for name in ("a.csv", "b.csv"):
        (folders.inbox / name).write_text("id,text\n")
    assert folders.look(noisy) == 2
    (folders.inbox / "a.csv").write_text("id,text\n1,the fox\n")
    assert folders.look(noisy) == 1
    (folders.inbox / "a.csv").write_text("id,text\n1,the quick\n")
    assert folders.look(noisy) == 0
    (folders.inbox / "b.csv").write_text("id,text\n1,the fox\n")
    assert folders.look(noisy) == 0
    assert "skipped b.csv: its content was released as a.csv" in folders.lines[-1]


@pytest.mark.parametrize("record_id", [None, "id"])
def test_with_a_key_the_same_content_under_a_new_name_is_released_in_the_same_words(
    folders: Folders, keyed: Privatizer, embedding: Embedding, record_id: str | None
) -> None:
    (folders.inbox / "a.csv").write_text("id,text\n1,the quick brown fox\n")
    assert folders.look(keyed, record_id=record_id) == 1
    (folders.inbox / "a.csv").rename(folders.inbox / "b.csv")
    assert folders.look(keyed, record_id=record_id) == 1
    assert folders.released("b.csv") == folders.released("a.csv")
    (folders.inbox / "b.csv").rename(folders.inbox / "c.csv")
    other = Privatizer(Multivariate(embedding, epsilon=0.5), randomness=Keyed(bytes([1] * 32)))
    assert folders.look(other, record_id=record_id) == 0
    assert "skipped c.csv" in folders.lines[-1]


def test_one_id_in_two_files_is_one_record_equal_words_come_out_equal_and_others_are_drawn_anew(
    folders: Folders, keyed: Privatizer
) -> None:
    text = ["the quick brown fox"] * 20
    other = ["the brown brown fox"] * 20
    (folders.inbox / "a.csv").write_text(f"id,text\n1,{' '.join(text)}\n")
    (folders.inbox / "b.csv").write_text(f"id,text\n1,{' '.join(other)}\n")
    assert folders.look(keyed, record_id="id") == 2
    one, two = (folders.released(name).splitlines()[1].split(",")[1].split() for name in ("a.csv", "b.csv"))
    for place, (first, second) in enumerate(zip(one, two, strict=True)):
        assert place % 4 == 1 or first == second
    assert [one[i] for i in range(1, 80, 4)] != [two[i] for i in range(1, 80, 4)]


def test_a_file_that_becomes_a_copy_of_one_released_under_another_key_is_not_drawn_again(
    folders: Folders, keyed: Privatizer, embedding: Embedding
) -> None:
    (folders.inbox / "a.csv").write_text("id,text\n1,the fox\n")
    assert folders.look(keyed, record_id="id") == 1
    other = Privatizer(Multivariate(embedding, epsilon=0.5), randomness=Keyed(bytes([1] * 32)))
    (folders.inbox / "b.csv").write_text("id,text\n2,the quick\n")
    assert folders.look(other, record_id="id") == 1
    (folders.inbox / "b.csv").write_text("id,text\n1,the fox\n")
    before = folders.released("b.csv")
    assert folders.look(other, record_id="id") == 0
    assert folders.failed == 1
    assert "was released as a.csv with other settings or another key" in folders.lines[-1]
    assert folders.released("b.csv") == before
