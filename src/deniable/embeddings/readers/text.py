"""Text formats: GloVe (no header), word2vec text and fastText .vec (a first line with the numbers of words
and dimensions).

A line is a word, then its values, separated by U+0020. The word is what is left of the last n fields, so
words with spaces inside, which the GloVe 840B file has, are read as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deniable.arrays import Vectors
from deniable.embeddings.readers.packing import Read
from deniable.embeddings.readers.raw import HEADER, Block, RawEmbedding, sizes_of
from deniable.errors import MalformedEmbedding

_LINES_TO_JUDGE = 100
BLOCK_BYTES = 1 << 22
LONGEST_LINE = 1 << 26
_STARTS_OF_NUMBERS = frozenset(bytes([start]) for start in b"+-.0123456789iInN")


def read_text(read: Read, *, source: Path, header: bool) -> RawEmbedding:
    """Return the embedding of a text file, read as it is consumed.

    :raises MalformedEmbedding: if the file is empty or has no valid header where one must be.
    """
    blocks = _line_blocks(read, source=source)
    lines, ended = next(blocks, ([], True))
    if not any(lines):
        raise MalformedEmbedding(source, "the file is empty")
    announced = None
    if header:
        match = HEADER.fullmatch(lines[0])
        if match is None:
            problem = f"{_show(lines[0])} is not a header of two whole numbers (words, dimensions)"
            raise MalformedEmbedding(source, problem, line=1)
        announced, dimension = sizes_of(match, source, line=1)
        lines = lines[1:]
    else:
        dimension = _most_frequent_dimension(lines, source=source)
    first_line = 2 if header else 1
    return RawEmbedding(
        format="word2vec-text" if header else "glove",
        blocks=_parse_blocks(lines, ended, blocks, dimension, source, first_line),
        announced=announced,
        first_line=first_line,
    )


def _most_frequent_dimension(lines: Sequence[bytes], *, source: Path) -> int:
    """Return the number of values per line that most of the first lines have, taking each word for one field:
    a word with a space inside may well stand on line 1."""
    counts = Counter(line.rstrip(b" ").count(b" ") for line in islice(filter(None, lines), _LINES_TO_JUDGE))
    most = max(counts.values())
    dimension = min(count for count, times in counts.items() if times == most)
    if dimension == 0:
        raise MalformedEmbedding(source, f"{_show(lines[0])} is not a word followed by numbers", line=1)
    return dimension


def _parse_blocks(
    lines: list[bytes],
    ended: bool,
    blocks: Iterator[tuple[list[bytes], bool]],
    dimension: int,
    source: Path,
    first_line: int,
) -> Iterator[Block]:
    line = first_line
    blank: int | None = None  # empty lines are let pass at the end of the file only
    while True:
        kept = len(lines)
        while kept and not lines[kept - 1]:
            kept -= 1
        if kept:
            yield _block(lines[:kept], ended or kept < len(lines), dimension, source, line)
        line += kept
        if kept < len(lines):
            blank = line
        following = next(blocks, None)
        if following is None:
            return
        lines, ended = following
        if blank is not None and any(lines):
            raise MalformedEmbedding(source, "the line is empty", line=blank)


def _block(lines: list[bytes], ended: bool, dimension: int, source: Path, first_line: int) -> Block:
    words: list[bytes] = []
    tails: list[bytes] = []
    for number, line in enumerate(lines, first_line):
        if line.endswith(b" "):  # word2vec and fastText write a space after the last value
            line = line.rstrip(b" ")
        surplus = line.count(b" ") - dimension
        if surplus == 0:
            word, _, tail = line.partition(b" ")
        elif surplus > 0:
            word = line.rsplit(b" ", dimension)[0]
            tail = line[len(word) + 1 :]
            if is_number(word.rpartition(b" ")[2]):
                raise MalformedEmbedding(source, _too_many(line, word, dimension), line=number)
        else:
            cut_off = not ended and number == first_line + len(lines) - 1
            raise MalformedEmbedding(source, _too_few(line, dimension, cut_off), line=number)
        if not word.strip(b" "):
            raise MalformedEmbedding(source, "the word is empty", line=number)
        words.append(word)
        tails.append(tail)
    # Arrow parses a whole block in one call; only when that fails is the line searched for.
    if (values := _parse_values(tails, dimension)) is None:
        bad = _first_bad(tails, lambda part: _parse_values(part, dimension) is None)
        raise MalformedEmbedding(source, _bad_value(tails[bad]), line=first_line + bad)
    return _decode(words, source, first_line), values.reshape(len(tails), dimension)


def _too_many(line: bytes, word: bytes, dimension: int) -> str:
    fields = line.split(b" ")
    numbers = next((i for i, field in enumerate(reversed(fields)) if not is_number(field)), len(fields) - 1)
    advice = f"if {_show(word)} is one word, write _ for the space in it"
    return f"{numbers:,} values where {dimension:,} were expected; {advice}"


def _too_few(line: bytes, dimension: int, cut_off: bool) -> str:
    if not line:
        return "the line is empty"
    if b"\x00" in line:
        return "binary data where a line of text was expected"
    values = line.count(b" ")
    if cut_off:
        ends = f"the file ends within this line, after {values:,} of {dimension:,} values"
        return f"{ends}: it was cut off; get it again"
    return f"{values:,} values where {dimension:,} were expected ({_show(line)})"


def _bad_value(tail: bytes) -> str:
    fields = tail.split(b" ")
    field = fields[_first_bad(fields, lambda part: _parse_values(part, 1) is None)]
    if field == b"":
        return "two spaces in a row: a value is missing"
    if parse_numbers(field) is None:
        return f"{_show(field)} is not a number"
    return f"the value {_show(field)} is not a finite float32 number"


def _decode(words: list[bytes], source: Path, first_line: int) -> list[str]:
    try:
        return b"\n".join(words).decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        number = first_line + error.object.count(b"\n", 0, error.start)
        shown = _show(words[number - first_line])
        problem = f"the word {shown} is not UTF-8; remove the line, or convert the file: iconv -c -t utf-8"
        raise MalformedEmbedding(source, problem, line=number) from error


def _show(text: bytes) -> str:
    return repr(text[:50].decode("utf-8", "backslashreplace"))


def _line_blocks(read: Read, *, source: Path) -> Iterator[tuple[list[bytes], bool]]:
    """Yield lists of lines without their ends, in order, and whether the last line of the list was ended by a
    line break.

    Only "\\n" ends a line: words may hold U+0085, U+2028 and other characters that Python splits at.
    A "\\r" before the "\\n" is taken off, and so is a byte-order mark at the start of the file.

    :raises MalformedEmbedding: if a line is absurdly long, which means that this is no text.
    """
    rest: list[bytes] = []
    held = 0
    at_start = True
    while data := read(BLOCK_BYTES):
        if at_start:
            # A mark before a space is not a mark: it is the word U+FEFF.
            if data.startswith(b"\xef\xbb\xbf") and data[3:4] != b" ":
                data = data[3:]
            at_start = False
        cut = data.rfind(b"\n")
        if cut < 0:
            rest.append(data)
            held += len(data)
            if held > LONGEST_LINE:
                problem = f"no line break within {held:,} bytes: this is not a text of vectors"
                raise MalformedEmbedding(source, problem)
            continue
        whole = b"".join((*rest, data[:cut]))
        rest, held = [data[cut + 1 :]], len(data) - cut - 1
        yield _split(whole), True
    last = b"".join(rest)
    if last:
        yield _split(last), False


def _split(text: bytes) -> list[bytes]:
    lines = text.split(b"\n")
    if b"\r" in text:
        return [line[:-1] if line.endswith(b"\r") else line for line in lines]
    return lines


def is_number(field: bytes) -> bool:
    """Return whether a field reads as a number (NaN and infinity included)."""
    return field[:1] in _STARTS_OF_NUMBERS and b" " not in field and parse_numbers(field) is not None


def _parse_values(tails: Sequence[bytes], dimension: int) -> Vectors | None:
    """Return the values of lines that hold ``dimension`` finite numbers each; None if one does not."""
    values = parse_numbers(b" ".join(tails))
    if values is None or values.size != len(tails) * dimension or not np.isfinite(values).all():
        return None
    return values


def _first_bad(parts: Sequence[bytes], is_bad: Callable[[Sequence[bytes]], bool]) -> int:
    """Return the place of the first bad part, by halves: one by one, a file of millions of small lines would
    take minutes."""
    start, end = 0, len(parts)
    while end - start > 1:
        middle = (start + end) // 2
        start, end = (start, middle) if is_bad(parts[start:middle]) else (middle, end)
    return start


def parse_numbers(text: bytes) -> Vectors | None:
    """Return the numbers of a text, separated by single spaces; None if one is none."""
    try:
        joined = pa.array([text], pa.large_binary()).cast(pa.large_string())
        parsed: Vectors = pc.cast(pc.split_pattern(joined, " ").flatten(), pa.float32()).to_numpy()
    except pa.ArrowInvalid:
        return None
    return parsed
