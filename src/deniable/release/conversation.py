"""Messages of a conversation: each is released once, however often a client sends it.

Chat clients send the whole history again with each turn. Fresh noise each time could be averaged away, so the
noise is drawn from a key (``noise.keyed``) under a record id that is the same whenever the message is:

    id = BLAKE2b under a key of (conversation, ids of the words of the message, which occurrence of them)

*Why it keeps the guarantee.* Two different messages have different ids, so each has noise that cannot be told
from fresh independent noise without the key: the released form of every single message has exactly the
distribution that the mechanism promises, whatever the message is. The same message again has the same input,
so it gets the same words, and nothing is learnt or spent. The second of two equal messages in one history is
another occurrence, so they get independent noise: a history does not show which of its messages are equal.
The id holds word ids, not spellings, so unknown words stay indistinguishable, as they are in the noise.

*What it discloses.* That a message was sent before in the same conversation. If a client drops the start of
its history, the second of two equal messages becomes the first and gets its words: then they are seen to be
equal. Anybody who can send messages into somebody's conversation can try guesses and compare what is
released, so the name of a conversation must not be known to the reader of the release. Without a name, all
messages of one key are one conversation.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from deniable.errors import InvalidParameter
from deniable.noise.encoding import encode_parts
from deniable.release.privatizer import Privatizer
from deniable.words.cutter import Cutter

RELAXATION = (
    "a message sent again in the same conversation gets the same words: the reader of the release can tell "
    "that it was sent before"
)


class Conversations:
    """Names the messages of conversations for a privatizer that draws from a key.

    >>> from deniable import Embedding, Keyed, Multivariate, Privatizer
    >>> private = Privatizer(Multivariate(Embedding.open(), epsilon=6), randomness=Keyed.new())
    >>> conversations = Conversations(private)
    >>> history = ["the soup was cold", "so was the tea"]
    >>> first = conversations.release(history, name="table 7")
    >>> conversations.release([*history, "and the bread"], name="table 7")[:2] == first
    True
    """

    def __init__(self, private: Privatizer) -> None:
        """Take a privatizer with a key.

        :raises InvalidParameter: if it draws fresh noise, which repetition averages away.
        """
        if private.keyed is None:
            raise InvalidParameter("private", "a privatizer without a key", "give it randomness=Keyed.new()")
        embedding = private.mechanism.embedding
        self._private, self._keyed = private, private.keyed
        self._cutter = Cutter(embedding, keep_case=private.policy.case == "keep")
        self._secret = private.keyed.derive(b"conversations")

    def release(self, messages: Sequence[str], *, name: str = "") -> list[str]:
        """Return the messages of a history with every word replaced."""
        ids = self.ids([[message] for message in messages], name=name)
        return [str(text) for text in self._private.many(messages, record_ids=[each[0] for each in ids])]

    def secret(self, name: str) -> bytes:
        """Return 32 bytes that belong to one conversation, for its stand-ins."""
        return self._digest([b"stand-ins", name], size=32)

    def ids(self, messages: Sequence[Sequence[str]], *, name: str = "") -> list[list[str]]:
        """Return a record id for each piece of each message of a history, between its identifiers."""
        if self._keyed.consistent:  # ids name users
            who = self._digest([b"user", name], size=16).hex()
            return [[who] * len(pieces) for pieces in messages]
        seen: Counter[bytes] = Counter()
        found = []
        for pieces in messages:
            words = self._digest([name, *map(self.words, pieces)], size=32)
            digest = self._digest([words, str(seen[words])], size=16).hex()
            seen[words] += 1
            found.append([f"{digest}-{place}" for place in range(len(pieces))])
        return found

    def words(self, text: str) -> bytes:
        """Return what a message is told by: the ids of its words."""
        found = self._cutter.ids(self._cutter.words(text), folded=self._cutter.folds)
        return np.array(found, dtype="<i8").tobytes()

    def _digest(self, parts: Sequence[str | bytes], *, size: int) -> bytes:
        return hashlib.blake2b(encode_parts(parts), key=self._secret, digest_size=size).digest()
