"""A source of noise that depends on a secret key and on what is released, and on nothing else.

*The function.* The noise of a token is F(key; context, record id, position, word id, ε). The
context is the version of this function, the mechanism with its parameters, the fingerprint of the embedding,
the mode (below) and, where they are not the plain ones, the number of the rules by which text is cut into
words (``words.languages``). The position is the place of the word among all words of the text, whatever
policies do with the others. With three keys derived from the secret one by BLAKE2b,

    R = BLAKE2b-128 under key 1 of (context, record id), written so that different inputs have different
    bytes, T = AES-256 under key 2 of R ⊕ (position, word id, ε), the bits of the token's noise are AES-256
    under key 3 of T ⊕ 0, T ⊕ 1, T ⊕ 2, …

each token with 128 bits of its own. Two tokens of one record differ in what is added to R, so they never
share T; tokens of different records share it with probability 2^-128 a pair. Streams of q tokens with b
blocks each look random to anyone without the key but for (q·b)²/2^128, the bound of AES in counter mode.

*Why it keeps the guarantee.* *One release.* Every token of a release has its own
(record id, position), hence noise that cannot be distinguished from independent fresh noise without the key.
The theorem in ``mechanisms`` holds unchanged, against anyone who cannot break AES-256 or BLAKE2b and does
not hold the key. Record ids must therefore be unique: of two records under one id, equal words at the same
place get equal noise, which shows that they are equal.

For the same reason ids must be given by the data holder: anybody who can have a text of their own released
under the id of somebody else's record, with the same key, can try out guesses and sees which are right.

*The same record again.* Every token has the same input to F, so it has the same output: nothing is learnt,
nothing spent. That holds under other policies too: the words that are drawn in both releases have kept their
places, and come out the same.

*An edited record.* A word that changed has another word id, so its noise is new and independent of the old.
Were the word left out of F, φ(w) + N and φ(w') + N would be released with one N, and their difference would
show w' given w. Comparing the two releases shows which places stayed the same; what changed is spent again.
Another ε or another embedding gives independent noise for the same reason. With a budget per record ε itself
depends on how many words are drawn, so one word more draws the whole record again.

*Unicode tables.* The tables that cut text are not in the context. Under other tables a text may be cut
otherwise; its tokens are then an edited record: the same word at the same position has the same noise, and
every other token is drawn again. With the tables in the context each new version of the ``regex`` library
would draw every record again and spend all of it.

*Unknown words.* F is given the id of ⊥, not the spelling. So the whole release, and any series of releases,
is a function of the ids alone, and unknown words stay perfectly indistinguishable: exchanging one for
another, at any time, changes nothing at all. With the spelling in F, an edit from one unknown word to another
would show that something changed.

*Consistent replacement.* With ``consistent=True`` the position is left out and the record id names a user:
the same word of one user becomes the same word in all places. That discloses which of a user's words are
equal (all unknown words count as one), hence how often each occurs, and the receipt says so. In return a word
is drawn once, however often the user repeats it.

*Versions.* Version 1 counted positions among the words that were drawn, so that one more kept word redrew all
words after it. Version 2 counts them in the text. The version is part of the context, so noise of the one is
independent of the other's. Consistent replacement has no positions, and stays what it was in version 1.

What matters about time: AES and BLAKE2b take the same time for all keys and inputs in the libraries used. The
search that follows takes a time that depends on the noisy point, with a key as without one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.errors import InvalidParameter, RandomnessError
from deniable.interfaces import Mechanism
from deniable.noise import portable
from deniable.noise.encoding import encode_id, encode_parts
from deniable.noise.key_file import read_key, write_new_key
from deniable.noise.portable import Bits
from deniable.noise.randomness import KEY_BYTES, fresh_key
from deniable.words.cutter import RULES, rules_for
from deniable.words.languages import other_tables

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext


_NORMALS, _GAMMAS, _UNIFORMS = 1, 2, 3
_BITS_AT_ONCE = 1 << 15
_MOST_DRAWS = 1 << 16


def noise_version(*, consistent: bool) -> int:
    """Return the version of the noise: under another one, the same record gives other words."""
    return 1 if consistent else 2


class Keyed:
    """A secret key for releases that can be repeated without spending more. Anybody who holds the key can
    undo the noise.

    >>> from deniable import Embedding, Keyed, Multivariate, Privatizer
    >>> private = Privatizer(Multivariate(Embedding.open(), epsilon=6), randomness=Keyed.new())
    >>> texts = ["the soup was cold", "the train was late"]
    >>> private.many(texts, record_ids=[1, 2]) == private.many(texts, record_ids=[1, 2])
    True

    With ``consistent=True`` the record ids name users, and a word of a user always becomes the same word. The
    key cannot be seen, printed, pickled or copied from here; another process opens the key file itself.
    """

    __slots__ = ("__dict__", "_key", "consistent")

    def __init__(self, key: bytes, *, consistent: bool = False) -> None:
        """Take a key of 32 random bytes.

        :raises InvalidParameter: if it is anything else.
        """
        if not isinstance(key, bytes) or len(key) != KEY_BYTES:
            given = f"{len(key)} bytes" if isinstance(key, bytes) else type(key).__name__
            raise InvalidParameter(
                "key", given, f"must be {KEY_BYTES} random bytes; `deniable key new FILE` makes a key file"
            )
        self._key = key
        self.consistent = bool(consistent)

    @classmethod
    def new(cls, *, consistent: bool = False) -> Keyed:
        """Return a key that nobody else has and that ends with this object; keys to keep live in files.

        :raises RandomnessError: if the operating system gives no entropy.
        """
        return cls(fresh_key(), consistent=consistent)

    @classmethod
    def from_file(cls, path: Path | str, *, consistent: bool = False) -> Keyed:
        """Return the key of a key file.

        :raises KeyFileError: if it cannot be read, others may read it, or it is no key file.
        """
        return cls(read_key(Path(path)), consistent=consistent)

    @classmethod
    def new_file(cls, path: Path | str, *, consistent: bool = False) -> Keyed:
        """Make a key, write it to a new file that only its owner can read, and return it.

        :raises KeyFileError: if something is there already, or the file cannot be made.
        :raises RandomnessError: if the operating system gives no entropy.
        """
        return cls(write_new_key(Path(path)), consistent=consistent)

    @cached_property
    def fingerprint(self) -> str:
        """A name for the key that shows nothing of it: 64 bits of a one-way function."""
        return hashlib.blake2b(key=self._key, digest_size=8, person=b"deniable-name").hexdigest()

    @property
    def version(self) -> int:
        """The version of the noise: under another one, the same record gives other words."""
        return noise_version(consistent=self.consistent)

    def describe(self) -> Mapping[str, Any]:
        """Say what kind of source this is, for the receipt; the key itself is not in it."""
        return {
            "source": "keyed",
            "version": self.version,
            "generator": "AES-256 and BLAKE2b under a secret key; whoever holds the key can undo the noise",
            "key": self.fingerprint,
            "consistent": self.consistent,
            "repeated": (
                "the same record under the same id gives the same words and spends nothing more; "
                "an edited record shows which of its words stayed the same and spends the others anew; "
                "record ids must be unique"
                if not self.consistent
                else "a word of a user is drawn once: repeating it, or releasing it again, gives the same "
                "word and spends nothing more"
            ),
            **other_tables(),
        }

    def bind(
        self,
        mechanism: Mechanism,
        ids: Ids,
        *,
        positions: Ids,
        record_ids: Sequence[object],
        lengths: Sequence[int],
        epsilon: Floats | None,
        first: int = 1,
    ) -> KeyedTokens:
        """Return the source of noise for a batch of tokens.

        ``ids`` are the word ids of all records in a row and ``positions`` their places in the text of their
        record, from 0; ``lengths`` says how many belong to each record, and ``epsilon`` is what the mechanism
        will be given. ``first`` is the number of the first record, for messages.

        :raises InvalidParameter: if there is not one allowed id for each record.
        """
        if len(record_ids) != len(lengths) or sum(lengths) != len(ids) or len(positions) != len(ids):
            raise InvalidParameter(
                "record_ids",
                f"{len(record_ids):,} ids",
                f"must be one for each of the {len(lengths):,} records",
            )
        records = self._records(mechanism)
        tags = bytearray()
        for record, record_id in enumerate(record_ids, first):
            digest = records.copy()
            digest.update(encode_id(record_id, record))
            tags += digest.digest()
        counts = np.asarray(lengths, dtype=np.int64)
        blocks = np.repeat(np.frombuffer(tags, dtype="<u8").reshape(-1, 2), counts, axis=0)
        if not self.consistent:
            blocks[:, 0] ^= positions.astype(np.uint64)
        blocks[:, 0] ^= ids.astype(np.uint64) << np.uint64(32)
        each = (
            np.full(len(ids), mechanism.epsilon) if epsilon is None else np.asarray(epsilon, dtype=np.float64)
        )
        blocks[:, 1] ^= each.astype("<f8").view("<u8")
        return KeyedTokens(encrypt(self._cipher(b"tokens"), blocks), self._cipher(b"noise"), self.describe())

    def _records(self, mechanism: Mechanism) -> Any:
        """Return the function of record ids for this mechanism, ready to be copied and given one."""
        parameters = sorted(mechanism.guarantee.parameters.items())
        context = [
            f"deniable keyed noise {self.version}",
            "consistent" if self.consistent else "by position",
            mechanism.embedding.fingerprint,
            type(mechanism).__name__,
            *(
                part
                for name, value in parameters
                for part in (name, value if isinstance(value, str) else float(value).hex())
            ),
            *([] if (rules := rules_for(mechanism.embedding)) == RULES else [f"rules for words {rules}"]),
        ]
        return hashlib.blake2b(
            encode_parts(context), key=self.derive(b"records"), digest_size=16, person=b"deniable-record"
        )

    def _cipher(self, purpose: bytes) -> CipherContext:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        # One block at a time is all that is asked of the cipher: blocks that never repeat go in, random ones
        # come out.
        return Cipher(algorithms.AES(self.derive(purpose)), modes.ECB()).encryptor()  # noqa: S305

    def derive(self, purpose: bytes) -> bytes:
        """Return a key for another purpose, from which this one cannot be found."""
        return hashlib.blake2b(
            purpose, key=self._key, digest_size=KEY_BYTES, person=b"deniable-derive"
        ).digest()

    def __repr__(self) -> str:
        return f"<Keyed {self.fingerprint}{', consistent' if self.consistent else ''}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a key cannot be pickled or copied; send the path of the key file and open it there: "
            "Keyed.from_file(path)"
        )


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
