"""From what a client asks for to a release: never more than the operator allows, and the same checks as
everywhere."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Lock
from typing import Any

import msgspec
import numpy as np

from deniable.embeddings.derived import leave_out
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.places import DEFAULT, space_of
from deniable.errors import InvalidParameter, TargetsNotMet
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours import best_neighbours
from deniable.noise import Keyed
from deniable.release.conversation import Conversations
from deniable.release.policies import POLICIES
from deniable.release.privatizer import Privatizer
from deniable.release.release import Release
from deniable.release.writing import REDACTED, marks_of
from deniable.service.messages import Choice, Refused, refusal_of
from deniable.service.settings import Settings
from deniable.words.never_release import NeverRelease
from deniable.words.released import ReleasedWords

_MOST_PRIVATIZERS = 64
_MOST_LISTED = 10_000
_MOST_SMALLER = 4
_MOST_NUMBERS = 1 << 26
"""How many numbers an embedding may hold of which clients have copies made, without the words they list."""

_TELLS_LEAST = {"unknown": "perturb", "punctuation": "drop", "case": "drop"}


class Prepared:
    """A privatizer that is ready, with its card as it is sent."""

    def __init__(self, release: Release, private: Privatizer) -> None:
        self.release, self.private = release, private
        private.remember_nothing()  # clients share it
        self._reader = ReleasedWords(private.mechanism.embedding, marks_of(release.unknown))
        self.card = msgspec.Raw(msgspec.json.encode(private.card.to_dict()))

    def words(self, text: str | None) -> list[str]:
        """Return the words of a released text."""
        ids, embedding = next(self._reader.ids([text])).tolist(), self.private.mechanism.embedding
        return [REDACTED if i == embedding.unknown_id else embedding.words[i] for i in ids]

    def spent(self, text: str | None) -> float:
        """Return the most that was spent on a text, summed over its words, as anybody can tell from the
        released text."""
        drawn = self._reader.drawn(text)
        return drawn * self.private.card.epsilon_of_a_word(drawn)


class Rules:
    """Holds the embeddings that clients may use, open, and makes what releases their texts."""

    def __init__(self, settings: Settings) -> None:
        """Open the embeddings and prepare their searches."""
        self.settings, self._release = settings, settings.release
        self.listed = settings.never_released()
        self.embeddings = {
            name: leave_out(Embedding.open(name), self.listed) for name in self._release.embeddings
        }
        for embedding in self.embeddings.values():
            best_neighbours(embedding)
        self._smaller: OrderedDict[tuple[str, NeverRelease], Embedding] = OrderedDict()
        # What takes long keeps nobody from the next ε.
        self._makers = [ThreadPoolExecutor(1, thread_name_prefix=name) for name in ("rules", "risks")]
        self._kept_words = settings.kept_words()
        self._prepared: OrderedDict[Release, Prepared] = OrderedDict()
        self._lock = Lock()
        self._fresh_key = Keyed.new()  # before workers are forked: all of them have it
        self._key = Keyed.from_file(self._release.key_file).fingerprint if self._release.key_file else None
        self.prepare(self.release(Choice()))

    @cached_property
    def prompts(self) -> tuple[Prepared, Conversations]:
        """What releases prompts, each message once in its conversation: by the operator's settings, and with
        the operator's key or with one that ends with the service."""
        release = self.release(Choice())
        key = None if self.keyed else self._fresh_key
        made = release.make(embedding=self.embedding_of(release), randomness=key)
        prepared = Prepared(release, made)
        return prepared, Conversations(prepared.private)

    @property
    def keyed(self) -> bool:
        """Whether the noise comes from a key of the operator's, so that every text needs an id."""
        return self._release.key_file is not None

    def release(self, choice: Choice) -> Release:
        """Return the release for what a client asks for."""
        allowed = self._release
        mechanism = _one_of("mechanism", choice.mechanism, allowed.mechanisms)
        asked = choice.embedding
        if choice.purpose is not None:
            try:
                asked = space_of(choice.purpose, asked or DEFAULT)
            except InvalidParameter as error:
                raise refusal_of(error) from None
        embedding = _one_of("embedding", asked, allowed.embeddings)
        policies, listed = self._policies(choice), self._never_released(choice, embedding)
        epsilon = choice.epsilon
        if choice.risk is not None:
            epsilon = self._epsilon_of_risk(choice, mechanism, self._without(embedding, listed), policies)
        try:
            return Release(
                epsilon=_at_most("epsilon", epsilon, allowed.epsilon, allowed.max_epsilon),
                record_epsilon=_at_most(
                    "record_epsilon", choice.record_epsilon, allowed.record_epsilon, allowed.record_epsilon
                ),
                embedding=embedding,
                mechanism=mechanism,
                mechanism_options=allowed.options.get(mechanism, {}),
                never_release=listed,
                key_file=allowed.key_file,
                key=self._key,
                consistent=allowed.consistent,
                **policies,
            )
        except InvalidParameter as error:
            raise refusal_of(error) from None

    async def ready(self, choice: Choice) -> Prepared:
        """Return what releases texts as a client asks for; a thread of its own makes what nobody asked for
        before.
        """
        if choice.risk is None and choice.never_release is None:
            release = self.release(choice)
            if (prepared := self._prepared.get(release)) is not None:
                return prepared
        try:
            async with asyncio.timeout(self.settings.limits.seconds):
                make = self._makers[choice.risk is not None]
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(make, lambda: self.prepare(self.release(choice)))
        except TimeoutError:
            raise Refused(503, "the service is busy with other settings; try again", retry=5) from None

    def embedding_of(self, release: Release) -> Embedding:
        """Return the opened embedding of a release, without the words that it never releases."""
        listed = self.listed if release.never_release is None else NeverRelease.of(release.never_release)
        return self._without(str(release.embedding), listed)

    def prepare(self, release: Release) -> Prepared:
        """Return what releases texts by this release, made on first use and kept."""
        with self._lock:
            if release in self._prepared:
                self._prepared.move_to_end(release)
                return self._prepared[release]
        try:
            prepared = Prepared(release, release.make(embedding=self.embedding_of(release)))
        except InvalidParameter as error:
            raise refusal_of(error) from None
        with self._lock:
            self._prepared[release] = prepared
            while len(self._prepared) > _MOST_PRIVATIZERS:
                self._prepared.popitem(last=False)
        return prepared

    def _never_released(self, choice: Choice, embedding: str) -> NeverRelease:
        """Return the words that never come out: the operator's, and those that a client adds."""
        if not choice.never_release:
            return self.listed
        opened = self.embeddings[embedding]
        if len(choice.never_release) > _MOST_LISTED:
            raise Refused(422, f"never_release: at most {_MOST_LISTED:,} entries")
        if len(opened) * opened.dimension > _MOST_NUMBERS:
            problem = "this embedding is too large for lists of clients; the operator can set one"
            raise Refused(422, f"never_release: {problem}")
        try:
            return self.listed | NeverRelease.of(choice.never_release)
        except InvalidParameter as error:
            raise refusal_of(error) from None

    def _without(self, name: str, listed: NeverRelease) -> Embedding:
        """Return an embedding without the listed words; the last few that clients asked for are kept."""
        if listed == self.listed:
            return self.embeddings[name]
        with self._lock:
            known = self._smaller.pop((name, listed), None)
        try:
            smaller = leave_out(self.embeddings[name], listed) if known is None else known
        except InvalidParameter as error:
            raise refusal_of(error) from None
        with self._lock:
            self._smaller[name, listed] = smaller
            while len(self._smaller) > _MOST_SMALLER:
                _, gone = self._smaller.popitem(last=False)
                self._prepared = OrderedDict(
                    (release, each)
                    for release, each in self._prepared.items()
                    if each.private.mechanism.embedding is not gone
                )
        return smaller

    def _epsilon_of_risk(
        self, choice: Choice, mechanism: str, opened: Embedding, policies: dict[str, Any]
    ) -> float:
        """Return the ε of a level of risk: found once for each level, mechanism, embedding and treatment of
        unknown words."""
        from deniable.measures.risk import epsilon_of_risk

        if choice.epsilon is not None:
            raise Refused(422, "risk: gives epsilon; send one of the two")
        if policies.get("keep_words"):
            raise Refused(422, "risk: does not go with words that are released as they are; send epsilon")
        shown = [opened.unknown_id] if policies.get("unknown") in ("redact", "drop") else []
        chosen = ChosenMechanism(name=mechanism, options=self._release.options.get(mechanism, {}))
        try:
            return epsilon_of_risk(chosen, opened, choice.risk, revealed=np.array(shown, dtype=np.int64))
        except (InvalidParameter, TargetsNotMet) as error:
            raise Refused(422, str(error)) from None

    def _policies(self, choice: Choice) -> dict[str, Any]:
        """Return the policies: what the operator set, and the client's choice where nothing is set."""
        policies: dict[str, Any] = {}
        for name in POLICIES:
            fixed, asked = getattr(self._release, name), getattr(choice, name)
            less = asked == _TELLS_LEAST[name] and fixed != "error"  # what tells less is always allowed
            if fixed is not None and asked not in (None, fixed) and not less:
                raise Refused(422, f"{name}: the operator of this service has set it to {fixed}")
            policies[name] = fixed if asked is None else asked
        words, kept = choice.keep_words, self._kept_words or frozenset()
        if words is not None and not (kept.issuperset(words) or self._release.client_keep_words):
            problem = "the operator of this service does not let clients choose the list"
            raise Refused(422, f"keep_words: {problem}")
        if words is not None and len(words) > _MOST_LISTED:
            raise Refused(422, f"keep_words: at most {_MOST_LISTED:,} words")
        policies["keep_words"] = kept if words is None else frozenset(words)
        return {name: value for name, value in policies.items() if value is not None}


def _at_most(name: str, asked: float | None, default: float | None, most: float | None) -> float | None:
    value = default if asked is None else asked
    if value is not None and not (math.isfinite(value) and value > 0.0):
        raise Refused(422, f"{name}: must be a number greater than 0")
    if value is not None and most is not None and value > most:
        raise Refused(422, f"{name}: the operator of this service allows at most {most:g}")
    return value


def _one_of(name: str, asked: str | None, allowed: tuple[str, ...]) -> str:
    if asked is not None and asked not in allowed:
        raise Refused(422, f"{name}: the operator of this service allows {', '.join(allowed)}")
    return allowed[0] if asked is None else asked
