"""Recognises texts that one ``Privatizer`` releases again: each release of a text with fresh noise spends its
budget once more.

A text is recognised by 64 bits of BLAKE2b under a random key that never leaves the process, so what is kept
says nothing to anybody without that key. The last ``MOST_TEXTS`` texts are kept; one that was forgotten
counts as new. Equal texts of one call are different records, so the second copy is compared with the second
copies of earlier calls.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter

from deniable.release.tally import Tally

MOST_TEXTS = 65_536

Key = tuple[bytes, int]


class Call:
    """The texts of one call: their digests, in the order of the copies, and how many words were drawn for
    each."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._copies: Counter[bytes] = Counter()
        self.texts: list[tuple[Key, int]] = []

    def add(self, text: str, words: int) -> None:
        """Note a text for which that many words were drawn."""
        if not words:
            return
        digest = hashlib.blake2b(
            text.encode("utf-8", "surrogatepass"), key=self._secret, digest_size=8
        ).digest()
        if len(self._copies) > MOST_TEXTS:  # of a stream, which may never end
            self._copies.clear()
        self.texts.append(((digest, self._copies[digest]), words))
        self._copies[digest] += 1


class Repeats:
    """Knows which texts were released before, and how often. The caller holds a lock."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._seen: dict[Key, tuple[Call, int]] = {}

    def call(self) -> Call:
        """Return what notes the texts of a new call."""
        return Call(self._secret)

    def count(self, call: Call, tally: Tally) -> None:
        """Count the texts that the call has noted and an earlier call released, and forget the notes."""
        for key, words in call.texts:
            before, times = self._seen.pop(key, (call, 0))
            if before is not call:
                tally.count_again(words, times + 1)
            self._seen[key] = (call, 1 if before is call else times + 1)
            if len(self._seen) > MOST_TEXTS:
                del self._seen[next(iter(self._seen))]
        call.texts.clear()

    def forget(self) -> None:
        """Forget all texts: their counts were handed over."""
        self._seen.clear()
