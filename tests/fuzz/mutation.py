"""Damage done to a file at random, the way that finds faults in readers: numbers at their limits, parts
moved, removed and repeated."""

from __future__ import annotations

import random
import re
from typing import Literal

_NUMBERS = (
    0,
    1,
    -1,
    2,
    7,
    127,
    128,
    255,
    256,
    2**15 - 1,
    2**16,
    2**24,
    10**6,
    2**31 - 1,
    -(2**31),
    2**32 - 1,
    2**53,
    2**63 - 1,
    -(2**63),
)
_TOKENS = (
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",  # half a character
    b"\xe2\x80\xa8",  # a separator of lines
    b"\x1b[31m",
    b"\xef\xbb\xbf",
    b"\n",
    b"\r",
    b"\r\n",
    b" ",
    b'"',
    b",",
    b"[" * 3000,
    b'{"a":' * 3000,
    b"nan",
    b"inf",
    b"1e999",
    b"-0",
    b"9" * 5000,
    b"null",
    b"true",
    b"\\ud800",
    b"\x93NUMPY\x01\x00",
    b"PK\x03\x04",
    b"PAR1",
    b"\x1f\x8b",
)
_DECIMAL = re.compile(rb"-?[0-9]+")


def mutate(content: bytes, others: list[bytes], source: random.Random) -> bytes:
    """Return the content with a few mutations; ``others`` are files that parts may come from."""
    data = bytearray(content)
    for _ in range(source.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        _MUTATIONS[source.randrange(len(_MUTATIONS))](data, others, source)
    return bytes(data[: 1 << 20])


def _place(data: bytearray, source: random.Random) -> int:
    return source.randrange(len(data) + 1)


def _part(data: bytearray, source: random.Random) -> slice:
    start = _place(data, source)
    return slice(start, start + source.choice((1, 1, 2, 4, 8, 16, source.randrange(1, 200))))


def _flip(data: bytearray, _others: list[bytes], source: random.Random) -> None:
    if data:
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)


def _set(data: bytearray, _others: list[bytes], source: random.Random) -> None:
    if data:
        data[source.randrange(len(data))] = source.choice((0, 1, 0x7F, 0x80, 0xFF, source.randrange(256)))


def _number(data: bytearray, _others: list[bytes], source: random.Random) -> None:
    size = source.choice((2, 4, 4, 8, 8))
    order: Literal["little", "big"] = "big" if source.randrange(3) == 2 else "little"
    at = _place(data, source)
    value = source.choice(_NUMBERS) % (1 << (8 * size))
    data[at : at + size] = value.to_bytes(size, order)


def _decimal(data: bytearray, _others: list[bytes], source: random.Random) -> None:
    found = list(_DECIMAL.finditer(bytes(data[: 1 << 16])))
    if found:
        match = source.choice(found)
        data[match.start() : match.end()] = str(source.choice(_NUMBERS)).encode()


def _delete(data: bytearray, _others: list[bytes], source: random.Random) -> None:
    del data[_part(data, source)]


def _repeat(data: bytearray, _others: list[bytes], source: random.Random) -> None:
    part = bytes(data[_part(data, source)])
    at = _place(data, source)
    data[at:at] = part * source.choice((1, 1, 2, 50))


def _insert(data: bytearray, _others: list[bytes], source: random.Random) -> None:
    at = _place(data, source)
    data[at:at] = (
        source.choice(_TOKENS) if source.random() < 0.7 else source.randbytes(source.randrange(1, 20))
    )


def _cut(data: bytearray, _others: list[bytes], source: random.Random) -> None:
    del data[_place(data, source) :]


def _splice(data: bytearray, others: list[bytes], source: random.Random) -> None:
    other = bytearray(source.choice(others))
    at = _place(data, source)
    part = bytes(other[_part(other, source)])
    data[at : at + (len(part) if source.random() < 0.5 else 0)] = part


def _swap(data: bytearray, _others: list[bytes], source: random.Random) -> None:
    first, second = _part(data, source), _part(data, source)
    data[first], data[second] = bytes(data[second]), bytes(data[first])


_TWICE = (_flip, _set, _decimal, _insert)
_MUTATIONS = (*_TWICE, *_TWICE, _number, _number, _number, _delete, _repeat, _cut, _splice, _swap)
