"""Rehearsal: attacks on draws of this very text, and what such a draw is good for.

The data holder has the truth, so nothing is guessed about attackers: they know the mechanism, ε and how
frequent the words of this text are, which is more than most readers know. A rehearsal draw has noise of its
own, lives in memory and is deleted. The draw that is handed over is made later, and nothing is measured on
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.linked import Linked, linked_texts
from deniable.audit.named import Named
from deniable.audit.shares import Flags, Share, share_by_cluster, share_of
from deniable.channel.channel import Channel
from deniable.channel.making import make_channel
from deniable.decoding.channel_decoder import ChannelDecoder
from deniable.decoding.ngrams import Bigrams, count_bigrams, read_bigrams
from deniable.decoding.priors import SUPPORT
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.kinds import make_kinds
from deniable.errors import UnusableAuditData
from deniable.interfaces import Mechanism
from deniable.measures.bayes_bound import Words, bayes_bound
from deniable.measures.estimate import Estimate
from deniable.measures.texts import Texts, cut_texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.progress import Report, Steps
from deniable.release.privatizer import Privatizer
from deniable.utility.accuracy import draw_words
from deniable.words.never_release import NeverRelease

ATTACKED_WORDS = 10_000
"""About how many words of the text are attacked; texts are taken from all over the file. Never more than
twice as many, whatever the texts: of longer ones the first words are attacked."""

MOST_PLACES = 0.5
"""A word that comes out unchanged more often than this is exposed."""

SAMPLES = 10
LONGEST_SAMPLE = 4_000
"""How many characters of a text are shown at most, before and after."""

_FEWEST_TO_LINK = 20
_ALONE, _CONTEXT, _KINDS = "word by word", "in context", "kinds of words, word by word"


@dataclass(frozen=True, kw_only=True)
class Attack:
    """How often one reader was right, with its 95 % interval, and how often a guess without the release
    is."""

    reader: str
    share: Share
    blind: float

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON-ready data."""
        return {**asdict(self), "too_few_words": self.share.says_little}


@dataclass(frozen=True, kw_only=True)
class Listed:
    """The words of one list in this text: how often one came out unchanged, and how often a reader named
    it."""

    name: str
    places: int
    held_back: bool
    """Whether these words are never released."""
    unchanged: Share | None
    named: Share | None


@dataclass(frozen=True, kw_only=True)
class ExposedWord:
    """A word of this text that the rehearsal released unchanged in most places."""

    word: str
    places: int
    unchanged: float


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """What rehearsal draws showed."""

    texts: int
    words: int
    attacked_words: int
    unknown_share: float
    bound: Estimate | None
    """What no reader of single words exceeds at the frequencies of this text."""
    attacks: tuple[Attack, ...]
    lists: tuple[Listed, ...]
    exposed: tuple[ExposedWord, ...] = field(repr=False)
    linked: Linked | None
    frequencies: tuple[int, int, int] | None
    """Of how many frequent words a receiver of the release knows the count within a factor of two, as
    released and decoded, and how many words these are."""
    samples: tuple[tuple[str, str], ...] = field(repr=False)
    """Texts before and after, of a rehearsal draw."""

    @property
    def on_words(self) -> tuple[Attack, ...]:
        """The attacks on words."""
        return tuple(each for each in self.attacks if each.reader != _KINDS)

    @property
    def best_attack(self) -> Attack | None:
        """The attack on words that was right most often."""
        return max(self.on_words, key=lambda each: each.share.value, default=None)

    @property
    def gap(self) -> float | None:
        """How far the attack on single words stays below the bound; None if one of them is not known."""
        alone = [each.share.value for each in self.attacks if each.reader == _ALONE]
        return self.bound.high - max(alone) if self.bound is not None and alone else None

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the sample texts as JSON-ready data."""
        found = {name: value for name, value in asdict(self).items() if name != "samples"}
        found |= {"attacks": [each.to_dict() for each in self.attacks], "gap": self.gap}
        return found | {"linked": None if self.linked is None else self.linked.to_dict()}


def rehearse(
    private: Privatizer,
    chosen: ChosenMechanism,
    texts: Sequence[str],
    *,
    lists: Mapping[str, NeverRelease],
    held_back: NeverRelease | None,
    people: Sequence[str] | None = None,
    public: Path | None = None,
    report: Report | None = None,
) -> Rehearsal:
    """Return what attackers learn from draws of these texts, and what such a draw is good for.

    ``chosen`` is the mechanism of the privatizer, by its name. ``lists`` are words to report apart, and
    ``held_back`` those that never come out. ``people`` says whose each text is; ``public`` is a public text,
    one document a line, from which the attackers know which words follow one another.

    :raises UnusableAuditData: if no text holds a word.
    """
    steps = Steps(report, 6)
    mechanism, embedding = private.mechanism, private.mechanism.embedding
    whole = cut_texts(list(texts), embedding)
    if not len(whole.ids):
        raise UnusableAuditData("the texts", "hold no word, so there is nothing to release")
    kept = private.card.kept_ids(embedding)
    counts = np.bincount(whole.ids, minlength=len(embedding) + 1).astype(np.float64)
    nameable = np.where(np.arange(len(counts)) == embedding.unknown_id, 0.0, counts)  # nobody names ⊥
    if not nameable.any():
        raise UnusableAuditData("the texts", "hold no word that the embedding knows")
    steps.done()
    words = Words(shares=nameable, in_words="known words as frequent as in this file", revealed=kept)
    bound = bayes_bound(mechanism, words)
    steps.done()
    released_whole = _draw(whole, mechanism, kept)
    places = _spread(whole, ATTACKED_WORDS)
    longest = None
    if whole.lengths[places].sum() > 2 * ATTACKED_WORDS:  # inside one text too
        longest = max(1, 2 * ATTACKED_WORDS // len(places))
    part = whole.take(places, longest=longest)
    released = part.released(released_whole.ids[whole.places(places, longest=longest)], embedding)
    channel = make_channel(
        embedding,
        chosen,
        epsilon=mechanism.epsilon,
        inputs=_inputs(counts, embedding),
        outputs=np.unique(released.ids),
        keep=False,
    )
    steps.done()
    attacks, right = _attack_words(channel, nameable, part, released, public)
    steps.done()
    tokens = Counter(whole.spelled)
    found_lists = [
        _listed(name, listed, held_back, tokens, embedding, (whole, released_whole), (part, right))
        for name, listed in lists.items()
    ]
    steps.done()
    decoder = ChannelDecoder.learn_from(channel, _as_texts(released))
    of = None if people is None else [people[place] for place in places.tolist()]
    link = linked_texts(part, released, decoder, embedding, people=of)
    result = Rehearsal(
        texts=len(texts),
        words=len(whole.ids),
        attacked_words=len(part.ids),
        unknown_share=float(counts[embedding.unknown_id] / counts.sum()),
        bound=bound,
        attacks=attacks,
        lists=tuple(found_lists),
        exposed=_exposed(whole, released_whole, embedding),
        linked=link if link is not None and link.candidates >= _FEWEST_TO_LINK else None,
        frequencies=_frequencies(part, released, decoder, embedding),
        samples=_samples(private, texts),
    )
    steps.done()
    return result


def _spread(texts: Texts, words: int) -> Ids:
    """Return texts from all over the file that have about so many words together."""
    filled = np.flatnonzero(texts.lengths)
    total = int(texts.lengths.sum())
    if total <= words:
        return filled
    take = max(1, round(len(filled) * words / total))
    return filled[np.unique(np.linspace(0, len(filled) - 1, take).astype(np.int64))]


def _inputs(counts: Floats, embedding: Embedding) -> Ids:
    """Return the words that may have gone in: the most frequent ones of this text, and ⊥."""
    known = counts[: embedding.unknown_id]
    used = np.argsort(-known, kind="stable")[:SUPPORT]
    return np.append(np.sort(used[known[used] > 0.0]), embedding.unknown_id)


def _attack_words(
    channel: Channel, counts: Floats, original: Texts, released: Texts, public: Path | None
) -> tuple[tuple[Attack, ...], Flags]:
    """Return how often readers name words, alone and in context, and kinds of words; and where any of them
    did.

    Without public text a reader of whole texts learns which words follow one another from its own guesses.
    """
    embedding, texts = channel.embedding, released.split(released.ids)
    kinds = make_kinds(embedding, counts=counts)
    named = Named.by_ids(original, kinds, counts=counts)
    guesses = {_ALONE: named.words_alone(channel, released.ids)}
    if public is not None:
        model: Bigrams | None = read_bigrams(embedding, public)
    else:
        model = count_bigrams(released.split(guesses[_ALONE]), len(embedding) + 1)
    if model is not None:
        guesses[_CONTEXT], _ = replace(named, context=model).guesses_in_context(channel, texts)
    attacks = [
        _attack(reader, guessed, named.answers, original, float(counts.max() / counts.sum()))
        for reader, guessed in guesses.items()
    ]
    of_kinds = named.kinds_alone(channel, released.ids)
    if of_kinds is not None and named.kinds is not None:
        attacks.append(_attack(_KINDS, of_kinds, named.kinds, original, named.blind.kinds))
    right = np.logical_or.reduce([guessed == named.answers for guessed in guesses.values()])
    return tuple(each for each in attacks if each is not None), right & (named.answers >= 0)


def _attack(reader: str, guesses: Ids, truth: Ids, texts: Texts, blind: float) -> Attack | None:
    judged = truth >= 0
    share = share_by_cluster((guesses == truth)[judged], _text_of_each(texts)[judged])
    return None if share is None else Attack(reader=reader, share=share, blind=blind)


def _text_of_each(texts: Texts) -> Ids:
    """Return for each word which text it stands in."""
    return np.repeat(np.arange(len(texts)), texts.lengths)


def _listed(
    name: str,
    listed: NeverRelease,
    held_back: NeverRelease | None,
    tokens: Counter[str],
    embedding: Embedding,
    drawn: tuple[Texts, Texts],
    attacked: tuple[Texts, Flags],
) -> Listed:
    there = {word: count for word, count in tokens.items() if listed.holds(word)}
    ids = np.array([embedding.index[word] for word in there if word in embedding.index], dtype=np.int64)
    (original, released), (part, right) = drawn, attacked
    documents, of = _text_of_each(original), _text_of_each(part)
    places, read = np.isin(original.ids, ids), np.isin(part.ids, ids)
    return Listed(
        name=name,
        places=sum(there.values()),
        held_back=bool(there) and held_back is not None and all(map(held_back.holds, there)),
        unchanged=share_by_cluster((original.ids == released.ids)[places], documents[places]),
        named=share_by_cluster(right[read], of[read]),
    )


def _exposed(original: Texts, released: Texts, embedding: Embedding) -> tuple[ExposedWord, ...]:
    """Return the words that came out unchanged in more than half of their places, and not by chance."""
    size = len(embedding) + 1
    places = np.bincount(original.ids, minlength=size)
    same = np.bincount(original.ids[original.ids == released.ids], minlength=size)
    some = np.flatnonzero((places >= 3) & (same > places / 2))
    surely = [share_of(int(same[each]), int(places[each])).low > MOST_PLACES for each in some.tolist()]
    exposed = some[np.array(surely, dtype=bool)]
    exposed = exposed[np.argsort(-same[exposed], kind="stable")]
    return tuple(
        ExposedWord(
            word=embedding.words[each], places=int(places[each]), unchanged=float(same[each] / places[each])
        )
        for each in exposed.tolist()
    )


def _frequencies(
    original: Texts, released: Texts, decoder: ChannelDecoder, embedding: Embedding
) -> tuple[int, int, int] | None:
    """Return for how many words, of those used 20 times and more, a count is known within a factor of two."""
    size = len(embedding) + 1
    truth = np.bincount(original.ids, minlength=size).astype(np.float64)
    as_released = np.bincount(released.ids, minlength=size).astype(np.float64)
    decoded = np.zeros(size)
    decoded[decoder.inputs] = decoder.shares * truth.sum()
    frequent = np.flatnonzero(truth[:-1] >= 20)
    if not len(frequent):
        return None

    def close(counts: Floats) -> int:
        ratio = counts[frequent] / truth[frequent]
        return int(((ratio >= 0.5) & (ratio <= 2.0)).sum())

    return close(as_released), close(decoded), len(frequent)


def _samples(private: Privatizer, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    filled = [text for text in texts if text.strip()]
    places = np.unique(np.linspace(0, len(filled) - 1, min(SAMPLES, len(filled))).astype(np.int64))
    chosen = [filled[place][:LONGEST_SAMPLE] for place in places.tolist()]
    after = private.many(chosen)
    return tuple(zip(chosen, (text or "" for text in after), strict=True))


def _draw(texts: Texts, mechanism: Mechanism, kept: Ids) -> Texts:
    """Return the texts as a draw of their own releases them; kept words stay."""
    ids, drawn = texts.ids.astype(np.int64), ~np.isin(texts.ids, kept)
    ids[drawn] = draw_words(ids[drawn], mechanism)
    return texts.released(ids, mechanism.embedding)


def _as_texts(texts: Texts) -> list[str]:
    return [" ".join(words) for words in texts.words]
