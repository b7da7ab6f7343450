"""The noise of a batch of tokens under a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from deniable.arrays import Floats
from deniable.errors import InvalidParameter, RandomnessError
from deniable.noise import portable
from deniable.noise.portable import Bits

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

_NORMALS, _GAMMAS, _UNIFORMS = 1, 2, 3
_BITS_AT_ONCE = 1 << 15
_MOST_DRAWS = 1 << 16


class KeyedTokens:
    """The noise of a batch of tokens: every row depends on the key and its own token, whatever the batch.

    Draws are numbered token by token, so that asking twice never gives the same noise twice.
    """

    def __init__(
        self, tags: Bits, encryptor: CipherContext, described: Mapping[str, Any], drawn: Bits | None = None
    ) -> None:
        self._tags = tags
        self._encryptor = encryptor
        self._described = described
        self._drawn: Bits = np.zeros(len(tags), dtype=np.uint64) if drawn is None else drawn

    def normals(self, tokens: int, dimension: int) -> Floats:
        """Return a (tokens, dimension) array of standard normal numbers."""
        wanted, made = portable.normal_bits(dimension), np.empty((tokens, dimension))
        draw = self._next_draw(tokens, _NORMALS)
        for rows in _in_steps(tokens, wanted):
            made[rows] = portable.normals(self._bits(self._tags[rows], draw[rows], 0, wanted), dimension)
        return made

    def gammas(self, tokens: int, shape: float) -> Floats:
        """Return (tokens,) Gamma(shape, 1) numbers.

        :raises InvalidParameter: if the shape is below 1.
        """
        if not shape >= 1:
            raise InvalidParameter("shape", shape, "keyed noise needs a shape of at least 1")
        draw = self._next_draw(tokens, _GAMMAS)
        return portable.gammas(
            lambda rows, attempt: self._bits(self._tags[rows], draw[rows], 2 * attempt, 4),
            tokens,
            float(shape),
        )

    def uniforms(self, tokens: int, count: int) -> Floats:
        """Return a (tokens, count) array of numbers that are uniform on [0, 1)."""
        made, draw = np.empty((tokens, count)), self._next_draw(tokens, _UNIFORMS)
        for rows in _in_steps(tokens, count):
            made[rows] = portable.uniforms(self._bits(self._tags[rows], draw[rows], 0, count))
        return made

    def for_tokens(self, part: slice) -> KeyedTokens:
        """Return the source for these tokens of the batch."""
        return KeyedTokens(self._tags[part], self._encryptor, self._described, self._drawn[part])

    def describe(self) -> Mapping[str, Any]:
        """Say what kind of source this is, for the receipt."""
        return self._described

    def _next_draw(self, tokens: int, kind: int) -> Bits:
        """Return what sets this draw of each token apart from all others: its kind and its number."""
        if tokens != len(self._tags):
            problem = (
                f"keyed noise was asked for {tokens:,} tokens and holds {len(self._tags):,}; a part "
                "is drawn through for_tokens"
            )
            raise RandomnessError(f"{problem}; nothing was released")
        if tokens and int(self._drawn.max()) >= _MOST_DRAWS:
            raise RandomnessError(f"more than {_MOST_DRAWS:,} draws for one token; nothing was released")
        draw = (self._drawn << np.uint64(32)) | np.uint64(kind << 56)
        self._drawn += np.uint64(1)
        return draw

    def _bits(self, tags: Bits, draw: Bits, first: int, count: int) -> Bits:
        """Return (rows, count) 64-bit numbers: as many blocks of AES as they need, counted from ``first``."""
        per_row = -(-count // 2)
        blocks = np.empty((len(tags), per_row, 2), dtype="<u8")
        blocks[:, :, 1] = tags[:, 1, None]
        np.bitwise_xor(
            (tags[:, 0] ^ draw)[:, None],
            np.arange(first, first + per_row, dtype=np.uint64),
            out=blocks[:, :, 0],
        )
        made = encrypt(self._encryptor, blocks)
        return made.reshape(len(tags), 2 * per_row)[:, :count]

    def __reduce__(self) -> NoReturn:
        raise TypeError("keyed noise cannot be pickled or copied")


def encrypt(encryptor: CipherContext, blocks: Bits) -> Bits:
    """Return every 16 bytes of the array encrypted, in the same shape."""
    if not blocks.size:
        return blocks
    blocks = np.ascontiguousarray(blocks, dtype="<u8")
    made = np.empty(
        blocks.nbytes + 15, dtype=np.uint8
    )  # the library wants room for one block more, less a byte
    written = encryptor.update_into(blocks.data.cast("B"), made.data)
    return made[:written].view("<u8").reshape(blocks.shape)


def _in_steps(tokens: int, per_token: int) -> list[slice]:
    step = max(1, _BITS_AT_ONCE // max(per_token, 1))
    return [slice(start, start + step) for start in range(0, tokens, step)]
