from __future__ import annotations

from pathlib import Path

import pytest

from deniable import InvalidParameter
from deniable.words.public_text import read_word_list


def test_word_lists_are_one_word_a_line(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeffa\r\n\n \tb  \nno\u00a0break\n\u0085x".encode())
    assert read_word_list(path) == ["a", "b", "no\u00a0break", "\u0085x"]


@pytest.mark.parametrize(
    ("content", "problem"), [(b"fox\n\xff", "invalid start byte at byte 4"), (None, "No such file")]
)
def test_a_file_that_is_no_list_of_words_is_refused(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    path = tmp_path / "words.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidParameter, match=f"^keep = .*one a line .{problem}"):
        read_word_list(path, name="keep")
