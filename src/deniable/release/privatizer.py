"""Private text in, private text out: the object most users hold."""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from deniable.embeddings.derived import leave_out
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism, Randomness
from deniable.mechanisms.base import DrawsByParts, draws_on_gpu
from deniable.mechanisms.catalogue import chosen_as
from deniable.noise import Keyed
from deniable.noise.encoding import RecordId, UniqueIds, encode_id
from deniable.noise.randomness import SecureRandomness
from deniable.parameters import validated_epsilon
from deniable.progress import check_interrupt
from deniable.release.policies import CasePolicy, Draft, Drafter, PunctuationPolicy, TextPolicy, UnknownPolicy
from deniable.release.receipt import Receipt, ReleaseSettings
from deniable.release.tally import Call, Repeats, Tally
from deniable.words.never_release import GivenList, NeverRelease

if TYPE_CHECKING:
    import pyarrow

    from deniable.release.card import Card

_NOT_CONSISTENT = (
    "a budget per record gives records of different lengths different noise, so that a user's word would be "
    "drawn more than once; use epsilon alone with a consistent key"
)
_WITH_A_BUDGET = (
    "; the budget per record is divided by the number of words drawn, so a record in which "
    "that number changes is drawn anew as a whole"
)
_KEEPS_WORDS = (
    "this mechanism keeps known words as they are, and would so keep the known word that an unknown one is "
    "spelt most like; choose perturb (the default), redact, drop or error"
)
_NOT_A_MECHANISM = (
    "is no mechanism; for an ε write Privatizer(Multivariate(Embedding.open(), epsilon=6)), "
    "or Release(epsilon=6).make() for a release"
)
WORDS_AT_ONCE = 16_384
TEXTS_AT_ONCE = 4_096
_NAMES_TWO = "names two texts; give each its own id, or use Keyed(…, consistent=True) with users' ids"


class Privatizer:
    """Replaces every word of a text by a word drawn by a mechanism.

    >>> from deniable import Embedding, Multivariate, Privatizer
    >>> private = Privatizer(Multivariate(Embedding.open(), epsilon=6))
    >>> text = private("the quick brown fox")          # str -> str
    >>> texts = private.many(["one text", "another"])  # list -> list, the fast path
    >>> lazily = private.stream(line for line in ["a", "b"])  # any iterable -> iterator

    The noise comes from a cryptographic source unless another one is given. With a ``Keyed`` source every
    call takes ``record_ids``, one for each text, and gives the same words whenever it is given the same ids
    and texts. The counts for ``receipt`` add up over all calls. A privatizer may be used from several
    threads; it cannot be pickled, so make one per process.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        unknown: UnknownPolicy = "perturb",
        punctuation: PunctuationPolicy = "drop",
        case: CasePolicy = "drop",
        keep_words: Collection[str] = (),
        never_release: GivenList = None,
        record_epsilon: float | None = None,
        risk: str | float | None = None,
        randomness: Randomness | Keyed | None = None,
    ) -> None:
        """Prepare a privatizer; see ``TextPolicy`` for the policies.

        ``record_epsilon`` is a budget per text, divided by its number of words. The mechanism's ε stays the
        most that a word gets, so that short texts are not released unchanged: ε per word is the smaller of
        the two. ``never_release`` is a public list of words that never come out (see ``NeverRelease.of``):
        the mechanism is made again over the embedding without them. ``risk`` is the level that ε was chosen
        by, for the card and the receipt; ``Release`` chooses it.

        :raises InvalidParameter: if a setting is not allowed, or two of them exclude one another.
        :raises MalformedEmbedding: if there is a key, and the embedding is not what its fingerprint says.
        """
        if isinstance(mechanism, int | float | str):
            raise InvalidParameter("mechanism", mechanism, _NOT_A_MECHANISM)
        if never_release is not None:
            mechanism = _without_words(mechanism, NeverRelease.of(never_release))
        self.mechanism: Mechanism
        self.policy: TextPolicy
        self.record_epsilon: float | None
        vars(self).update(  # past __setattr__, which lets nobody change them afterwards
            mechanism=mechanism,
            policy=TextPolicy(unknown=unknown, punctuation=punctuation, case=case, keep_words=keep_words),
            record_epsilon=None
            if record_epsilon is None
            else validated_epsilon(record_epsilon, "record_epsilon"),
        )
        self._risk = None if risk is None else _share_of(risk)
        self._randomness: Randomness | Keyed = SecureRandomness() if randomness is None else randomness
        if self.record_epsilon is not None and self.keyed is not None and self.keyed.consistent:
            raise InvalidParameter("record_epsilon", record_epsilon, _NOT_CONSISTENT)
        if self.policy.unknown == "subwords" and mechanism.guarantee.keeps_words:
            raise InvalidParameter("unknown", unknown, _KEEPS_WORDS)
        if (
            self.keyed is not None or mechanism.embedding.is_received
        ):  # keyed noise is drawn from the fingerprint
            mechanism.embedding.check_content()
        if self.record_epsilon is None and mechanism.embedding.is_received:
            from deniable.release.note import quote_calibration

            quote_calibration(mechanism)  # what its folder says is checked before anything is released
        self._drafter = Drafter(mechanism.embedding, self.policy)
        self._vocabulary = mechanism.embedding.words
        self._tally = Tally()
        self._repeats = Repeats() if self.keyed is None else None  # with a key, nothing more is spent
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        policy = [f"{name} = {value}" for name, value in self.policy.choices.items()]
        budget = [] if self.record_epsilon is None else [f"record_epsilon = {self.record_epsilon:g}"]
        key = [] if self.keyed is None else [repr(self.keyed)]
        return f"<Privatizer: {', '.join([repr(self.mechanism), *policy, *budget, *key])}>"

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change a setting: the receipt describes all texts released so far."""
        _check_private(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        _check_private(name)
        super().__delattr__(name)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied: a copy would repeat the noise."""
        raise TypeError(
            "a Privatizer cannot be pickled or copied: send its Release, and call release.make() in each "
            "process"
        )

    def remember_nothing(self) -> None:
        """Keep nothing of the words of a text once it is released, so that timing does not reveal one user's
        words to another.

        Some mechanisms, and the policy "subwords", are faster for a word that they had before. Texts that are
        released again are not recognised either.
        """
        self._repeats = None
        self._drafter.remember_nothing()
        if isinstance(self.mechanism, DrawsByParts):
            self.mechanism.remember_nothing()

    @property
    def keyed(self) -> Keyed | None:
        """The key of the noise; None if the noise is fresh."""
        return self._randomness if isinstance(self._randomness, Keyed) else None

    @cached_property
    def settings(self) -> ReleaseSettings:
        """How text is released here, as receipts and jobs describe it."""
        randomness = {**self._randomness.describe(), "class": type(self._randomness).__qualname__}
        if draws_on_gpu(self.mechanism, self._randomness):
            randomness["generator"] = "ChaCha20 on a GPU, keyed by the operating system"
        if self.keyed is not None and self.record_epsilon is not None:
            randomness["repeated"] += _WITH_A_BUDGET
        return ReleaseSettings(
            mechanism=self.mechanism,
            policy=self.policy,
            record_epsilon=self.record_epsilon,
            randomness=randomness,
            risk=self._risk,
        )

    @overload
    def __call__(self, text: str, *, record_id: RecordId | None = None) -> str: ...

    @overload
    def __call__(self, text: None, *, record_id: RecordId | None = None) -> None: ...

    def __call__(self, text: str | None, *, record_id: RecordId | None = None) -> str | None:
        """Return one text with every word replaced; None for None, as ``many`` does."""
        if text is not None and not isinstance(text, str):
            raise InvalidParameter(
                "text", type(text).__name__, "is not text; for lists there is many(), for columns column()"
            )
        return self.many([text], record_ids=None if record_id is None else [record_id])[0]

    def many(
        self,
        texts: Sequence[str | None],
        *,
        record_ids: Sequence[RecordId] | None = None,
        rows: Sequence[int] | None = None,
        people: Sequence[RecordId] | None = None,
    ) -> list[str | None]:
        """Return the texts with every word replaced, in order; None and NaN become None.

        ``rows`` is how many texts each row of a table has, one row after the other, and ``people`` whose each
        text is: the receipt adds up what is spent on a row and on a person; nothing is drawn by it.

        :raises InvalidParameter: if something is neither text nor None, people do not fit the texts, or there
            is a key and not one id for each text; nothing is released then.
        :raises UnknownWord: if the policy is to stop at unknown words.
        """
        whose = None if people is None else self._encoded(people, len(texts))
        _check_rows(rows, len(texts))
        return self._many(texts, self._checked(record_ids, len(texts)), rows, self._call(), whose)

    def _many(
        self,
        texts: Sequence[str | None],
        record_ids: Sequence[RecordId] | None,
        rows: Sequence[int] | None,
        call: Call | None,
        whose: list[bytes] | None = None,
    ) -> list[str | None]:
        tally = Tally()
        tally.place_in_rows(rows)
        released = [text for block in self._release(texts, record_ids, tally, call, whose) for text in block]
        self._count(tally, call)
        return released

    def stream(
        self,
        texts: Iterable[str | None],
        *,
        record_ids: Iterable[RecordId] | None = None,
        rows: Iterable[int] | None = None,
    ) -> Iterator[str | None]:
        """Yield the texts of any iterable with every word replaced, reading a few thousand words ahead.

        :raises InvalidParameter: as ``many``; an id that comes again after more than 65,536 others is noticed
            at the end only.
        """
        tally, call, seen = Tally(), self._call(), None
        tally.place_in_rows(rows)
        if self._ids_differ and record_ids is not None and not isinstance(record_ids, str):
            seen = UniqueIds()
            record_ids = _remember_ids(record_ids, seen)
        for released in self._release(texts, record_ids, tally, call):
            self._count(tally, call)
            tally.clear()
            yield from released
        if seen is not None and (repeated := seen.repeated()) is not None:
            raise InvalidParameter("record_ids", f"of texts {repeated[0]:,} and {repeated[1]:,}", _NAMES_TWO)

    def column(self, column: Any, *, record_ids: Sequence[RecordId] | None = None) -> pyarrow.ChunkedArray:
        """Return a column of texts with every word replaced, as an Arrow array with the same nulls.

        Takes anything that has the Arrow interface: a pandas, Polars or DuckDB column or an Arrow array.

        :raises InvalidParameter: if the column does not hold text, or there is a key and not one id for each
            text.
        """
        from deniable.release.columns import as_text_column, map_column

        texts, call = as_text_column(column), self._call()
        # Checked over all parts of the column, each of which is released by itself.
        ids = None if record_ids is None else iter(self._checked(record_ids, len(texts)) or ())

        def release(part: list[str | None]) -> list[str | None]:
            return self._many(part, None if ids is None else list(islice(ids, len(part))), None, call)

        return map_column(texts, release)

    @cached_property
    def card(self) -> Card:
        """What is public about the release and needed to decode it; the same before and after texts are
        released."""
        from deniable.release.card import Card  # it loads what a release does not need

        return Card.of(self.settings)

    def receipt(self) -> Receipt:
        """Return what was promised and spent so far."""
        with self._lock:
            tally = Tally.from_dict(self._tally.to_dict())
        return self.receipt_for(tally)

    def receipt_for(self, tally: Tally) -> Receipt:
        """Return the receipt for counts kept elsewhere, such as those of a resumed job."""
        return self.settings.receipt(tally)

    def take_tally(self) -> Tally:
        """Return the counts so far and start again from zero: for jobs that keep their own books."""
        with self._lock:
            tally, self._tally = self._tally, Tally()
            if self._repeats is not None:
                self._repeats.forget()
        return tally

    def count(
        self,
        texts: Sequence[str | None],
        *,
        record_ids: Sequence[RecordId] | None = None,
        rows: Sequence[int] | None = None,
    ) -> Tally:
        """Return the counts that ``many`` would add to the receipt; nothing is drawn and nothing is
        released."""
        tally = Tally()
        _check_rows(rows, len(texts))
        tally.place_in_rows(rows)
        whose = self._users(None if record_ids is None else list(record_ids), 1)
        _add(tally, self._drafts(texts), whose)
        return tally

    @property
    def _ids_differ(self) -> bool:
        """Whether no two texts may have one id: their noise would be the same."""
        return self.keyed is not None and not self.keyed.consistent

    def _call(self) -> Call | None:
        return None if self._repeats is None else self._repeats.call()

    def _count(self, tally: Tally, call: Call | None) -> None:
        with self._lock:
            self._tally.add(tally)
            if call is not None and self._repeats is not None:
                self._repeats.count(call, self._tally)

    def _checked(self, record_ids: Sequence[RecordId] | None, texts: int) -> Sequence[RecordId] | None:
        """Return the ids if there is one for each text, and they differ where two texts under one id would
        show by equal noise where they agree."""
        if record_ids is None:
            return None
        if len(record_ids) != texts:
            raise InvalidParameter(
                "record_ids", f"{len(record_ids):,} ids", f"must be one for each of the {texts:,} texts"
            )
        seen: dict[bytes, int] = {}
        for record, one in enumerate(record_ids if self._ids_differ else (), 1):
            earlier = seen.setdefault(encode_id(one, record), record)
            if earlier != record:  # an id can be a name, so no message shows it
                raise InvalidParameter("record_ids", f"of texts {earlier:,} and {record:,}", _NAMES_TWO)
        return record_ids

    def _release(
        self,
        texts: Iterable[str | None],
        record_ids: Iterable[RecordId] | None,
        tally: Tally,
        call: Call | None,
        whose: list[bytes] | None = None,
    ) -> Iterator[list[str | None]]:
        """Yield the released texts in blocks, and count them."""
        if isinstance(texts, str):
            raise InvalidParameter(
                "texts", "a single str", "call the privatizer itself for one text: private(text)"
            )
        if isinstance(record_ids, str):
            raise InvalidParameter("record_ids", "a single str", "must be one id for each text")
        if self.keyed is not None and record_ids is None:
            raise InvalidParameter(
                "record_ids",
                None,
                "a keyed release needs an id for each text that names it and no other: record_ids=[…]",
            )
        if self.keyed is None and record_ids is not None:
            raise InvalidParameter(
                "record_ids",
                "given",
                "mean something only with a key: Privatizer(…, randomness=Keyed.from_file(…))",
            )
        ids = None if record_ids is None else iter(record_ids)
        start = 0
        for drafts in _blocks(self._drafts(texts, call)):
            names = None if ids is None else list(islice(ids, len(drafts)))
            words = iter(self._draw(drafts, names, start))
            users = self._users(names, start + 1) if whose is None else whose[start : start + len(drafts)]
            _add(tally, drafts, users)
            yield [
                None if draft is None else draft.assemble(list(islice(words, len(draft.drawn))))
                for draft in drafts
            ]
            start += len(drafts)

    def _drafts(self, texts: Iterable[str | None], call: Call | None = None) -> Iterator[Draft | None]:
        for record, text in enumerate(texts, 1):
            check_interrupt()
            if text is None or (isinstance(text, float) and math.isnan(text)):
                yield None  # what is missing is NaN in many tables
            elif isinstance(text, str):
                draft = self._drafter.draft(text, record=record)
                if call is not None:
                    call.add(text, len(draft.drawn))
                yield draft
            else:
                raise InvalidParameter(
                    "texts", type(text).__name__, f"record {record:,} is not text; give str or None"
                )

    def _draw(self, drafts: list[Draft | None], record_ids: list[RecordId] | None, start: int) -> list[str]:
        """Return a released word for each drawn word of the drafts."""
        lengths = [0 if draft is None else len(draft.drawn) for draft in drafts]
        there = [draft for draft in drafts if draft is not None]
        ids = np.array([word_id for draft in there for word_id in draft.drawn], dtype=np.int64)
        epsilon = None
        if self.record_epsilon is not None:
            share = self.record_epsilon / np.maximum(lengths, 1)
            epsilon = np.repeat(np.minimum(self.mechanism.epsilon, share), lengths)
        randomness = self._randomness
        if isinstance(randomness, Keyed):
            randomness = randomness.bind(
                self.mechanism,
                ids,
                positions=np.array([place for draft in there for place in draft.positions], dtype=np.int64),
                record_ids=record_ids or [],
                lengths=lengths,
                epsilon=epsilon,
                first=start + 1,
            )
        if not len(ids):
            return []
        released = self.mechanism.perturb(ids, randomness, epsilon=epsilon)
        return [self._vocabulary[word_id] for word_id in released.tolist()]

    def _encoded(self, people: Sequence[RecordId], texts: int) -> list[bytes]:
        if self.keyed is not None:
            raise InvalidParameter(
                "people",
                "given",
                "are for releases without a key; Keyed(…, consistent=True) adds up users by its ids",
            )
        if isinstance(people, str) or len(people) != texts:
            raise InvalidParameter(
                "people", f"{len(people):,} ids", f"must be one for each of the {texts:,} texts"
            )
        return [encode_id(person, place) for place, person in enumerate(people, 1)]

    def _users(self, record_ids: list[RecordId] | None, first: int) -> list[bytes] | None:
        """Return whose each text is, where the ids of a key name users; ``first`` numbers the texts."""
        if record_ids is None or self.keyed is None or not self.keyed.consistent:
            return None
        return [encode_id(one, place) for place, one in enumerate(record_ids, first)]


def _check_private(name: str) -> None:
    if not name.startswith("_"):
        raise AttributeError(
            f"cannot change {name}: the settings of a Privatizer are fixed; make a new Privatizer with the "
            "settings you want"
        )


def _add(tally: Tally, drafts: Iterable[Draft | None], whose: list[bytes] | None) -> None:
    """Count drafts; ``whose`` says of each whose text it is, if that is known."""
    for place, draft in enumerate(drafts):
        if draft is None:
            tally.count_missing()
        else:
            tally.count(
                words=draft.words,
                unknown=draft.unknown,
                spent=len(draft.drawn),
                protected=draft.protected,
                user=None if whose is None else whose[place],
            )


def _share_of(risk: str | float) -> float:
    from deniable.measures.risk import share_of

    return share_of(risk)


def _without_words(mechanism: Mechanism, listed: NeverRelease) -> Mechanism:
    """Return the mechanism over its embedding without the listed words."""
    embedding = leave_out(mechanism.embedding, listed)
    if embedding is mechanism.embedding:
        return mechanism
    chosen = chosen_as(mechanism)
    if chosen is None:
        problem = (
            f"{type(mechanism).__name__} is a mechanism of your own: make it over "
            "leave_out(embedding, NeverRelease.of(…))"
        )
        raise InvalidParameter("never_release", "given", problem)
    return chosen(embedding, epsilon=mechanism.epsilon)


def _check_rows(rows: Sequence[int] | None, texts: int) -> None:
    if rows is not None and (sum(rows) != texts or min(rows, default=0) < 0):
        raise InvalidParameter(
            "rows", f"{len(rows):,} rows", f"must say for each row how many of the {texts:,} texts it has"
        )


def _remember_ids(record_ids: Iterable[RecordId], seen: UniqueIds) -> Iterator[RecordId]:
    for record, one in enumerate(record_ids, 1):
        if not seen.add(encode_id(one, record), record):
            raise InvalidParameter("record_ids", f"of text {record:,} and of an earlier one", _NAMES_TWO)
        yield one


def _blocks(drafts: Iterable[Draft | None]) -> Iterator[list[Draft | None]]:
    """Yield drafts in lists of bounded size, whose words are drawn together.

    With a seed the words depend on which are drawn together. So the lists end by the number of texts and by
    what drafts hold, which is public, and never by the length of private text; a draft holds nothing of that,
    so memory stays bounded all the same.
    """
    block: list[Draft | None] = []
    size = 0
    for draft in drafts:
        block.append(draft)
        size += 0 if draft is None else draft.size
        if size >= WORDS_AT_ONCE or len(block) >= TEXTS_AT_ONCE:
            yield block
            block, size = [], 0
    if block:
        yield block
