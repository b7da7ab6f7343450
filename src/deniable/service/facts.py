"""What is known of words, embeddings and mechanisms before anything is released, and what a stranger reads in
a release.

Everything here is about the public embedding and words that the caller names; nothing of it is a release.
What takes long is done in threads of its own, for one request after the other.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from deniable.arrays import Floats
from deniable.channel.columns import columns_of
from deniable.channel.explanation import Explanation, explain_word
from deniable.channel.rays.rays import RadialRays
from deniable.channel.rays.statistics import length_function, unchanged
from deniable.decoding.posterior import BayesAdversary
from deniable.errors import DeniableError
from deniable.interfaces import Mechanism
from deniable.mechanisms.base import radial_noise
from deniable.mechanisms.catalogue import entry_of, identity_of
from deniable.release.note import read_note
from deniable.release.policies import POLICIES
from deniable.service.messages import (
    Choice,
    DecodeReply,
    DecodeRequest,
    ExplainReply,
    ExplainRequest,
    Guess,
    Point,
    Refused,
    WordFigures,
    WordsReply,
    WordsRequest,
    decode,
    refusal_of,
)
from deniable.service.releases import choice_from_query, json_reply, read_body
from deniable.service.rules import Rules
from deniable.words.cutter import Cutter, Lookup
from deniable.words.frequency import by_rank

_RAYS = 200
_DRAWS = 300
_POINTS_TO_DECODE = 64
_MOST_WORDS = 500
_MOST_DECODED = 60
_MOST_WAITING = 16
_EPSILONS_OF_A_TABLE = 40
_KEPT = 8
_IN_A_PICTURE = 24
_SEED = 7

Found = TypeVar("Found")


class Facts:
    """Answers questions about words."""

    def __init__(self, rules: Rules) -> None:
        self._rules, self._limits = rules, rules.settings.limits
        self._words_thread = ThreadPoolExecutor(1, thread_name_prefix="words")
        self._decode_thread = ThreadPoolExecutor(
            1, thread_name_prefix="decode"
        )  # seconds a text: nobody's words wait for it
        self._waiting = {self._words_thread: 0, self._decode_thread: 0}
        self._rays: OrderedDict[str, RadialRays] = OrderedDict()

    def stop(self) -> None:
        """End when what was begun is done."""
        for thread in (self._words_thread, self._decode_thread):
            thread.shutdown(cancel_futures=True)

    async def allowed(self, _: Request) -> Response:
        """Say what clients may ask for."""
        release, jobs = self._rules.settings.release, self._rules.settings.jobs
        return json_reply(
            {
                "embeddings": release.embeddings,
                "mechanisms": release.mechanisms,
                "epsilon": release.epsilon,
                "max_epsilon": release.max_epsilon,
                "record_epsilon": release.record_epsilon,
                "policies": {name: getattr(release, name) for name in POLICIES},
                "keyed": self._rules.keyed,
                "limits": msgspec.to_builtins(self._limits),
                "keep_minutes": jobs.keep_minutes,
            }
        )

    async def embeddings(self, _: Request) -> Response:
        """List the embeddings."""
        found = self._rules.embeddings.values()
        return json_reply(
            [
                {
                    "name": each.name if each.left_out is None else each.left_out.source.name,
                    "words": len(each),
                    "dimension": each.dimension,
                    "fingerprint": each.fingerprint,
                    "protected_words": len(each.protected),
                    **({} if each.left_out is None else {"never_released_words": each.left_out.count}),
                }
                for each in found
            ]
        )

    async def mechanisms(self, _: Request) -> Response:
        """List the mechanisms and their options."""
        entries = [entry_of(name) for name in self._rules.settings.release.mechanisms]
        return json_reply(
            [
                {
                    "name": entry.name,
                    "summary": entry.summary,
                    "options": [
                        {"name": option.name, "default": option.default, "help": option.help}
                        for option in entry.options
                    ],
                }
                for entry in entries
            ]
        )

    async def card(self, request: Request) -> Response:
        """Give the card of releases with these settings."""
        return json_reply(self._rules.prepare(self._rules.release(choice_from_query(request))).card)

    async def calibration(self, request: Request) -> Response:
        """Give what the calibration of an embedding found, if it was calibrated."""
        if "embedding" in request.query_params:
            raise Refused(422, "embedding: stands in the path")
        choice = msgspec.structs.replace(
            choice_from_query(request), embedding=request.path_params["embedding"]
        )
        note = read_note(self._mechanism(choice))
        if note is None:
            raise Refused(
                404,
                "this embedding is not calibrated for this mechanism; the operator can: deniable calibrate",
            )
        return json_reply(note.to_dict())

    async def explain_named(self, request: Request) -> Response:
        """Explain the word in the path."""
        choice = choice_from_query(request)
        values = {name: getattr(choice, name) for name in choice.__struct_fields__}
        return await self._explain_reply(ExplainRequest(word=request.path_params["word"], **values))

    async def explain(self, request: Request) -> Response:
        """Explain a word that stands in no address."""
        return await self._explain_reply(decode(await read_body(request, self._limits), ExplainRequest))

    async def words(self, request: Request) -> Response:
        """Say of every word of a text how often it is released unchanged, over the whole range of ε."""
        asked = decode(await read_body(request, self._limits), WordsRequest)
        mechanism = self._mechanism(asked)
        return json_reply(
            await self._in_thread(lambda: self._figures(mechanism, asked.text), self._words_thread)
        )

    async def decode(self, request: Request) -> Response:
        """Read a released text as a stranger would: each word by itself, by Bayes' rule and how frequent
        words are."""
        asked = decode(await read_body(request, self._limits), DecodeRequest)
        prepared = self._rules.prepare(self._rules.release(asked))
        mechanism = prepared.private.mechanism
        noise = radial_noise(mechanism)
        if noise is None or noise.lengths != "gamma" or noise.shape is not None:
            raise Refused(
                422,
                "mechanism: decoding takes too long for a reply here; use `deniable decode` with the card",
            )
        if prepared.release.record_epsilon is not None:
            raise Refused(422, "record_epsilon: decoding here takes texts without a budget of their own")
        # Reading a long text takes time as well, and everybody else would wait for it here.
        words = await self._in_thread(lambda: prepared.words(asked.text), self._words_thread)
        if len(words) > _MOST_DECODED:
            raise Refused(
                413,
                f"text: at most {_MOST_DECODED} words are decoded here; use `deniable decode` with the card",
            )
        return json_reply(await self._in_thread(lambda: _guesses(mechanism, words), self._decode_thread))

    async def _explain_reply(self, asked: ExplainRequest) -> Response:
        if not 1 <= asked.top <= 50:
            raise Refused(422, "top: must be a whole number from 1 to 50")
        mechanism = self._mechanism(asked)
        # Not remembered: how fast an answer comes would tell who else asked for the word.
        return json_reply(
            await self._in_thread(lambda: _explained(mechanism, asked.word, asked.top), self._words_thread)
        )

    def _mechanism(self, choice: Choice) -> Mechanism:
        return self._rules.prepare(self._rules.release(choice)).private.mechanism

    async def _in_thread(self, work: Callable[[], Found], thread: ThreadPoolExecutor) -> Found:
        """Return what the work returns, done by that thread.

        :raises Refused: if too much is waiting, it takes too long, or what was asked for is not allowed.
        """
        if self._waiting[thread] >= _MOST_WAITING:
            raise Refused(
                503, "too many questions are waiting; try again in a moment", headers={"Retry-After": "1"}
            )
        self._waiting[thread] += 1
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await asyncio.get_running_loop().run_in_executor(thread, work)
        except TimeoutError:
            raise Refused(503, "the answer took too long", headers={"Retry-After": "5"}) from None
        except DeniableError as error:
            raise refusal_of(error) from None
        finally:
            self._waiting[thread] -= 1

    def _figures(self, mechanism: Mechanism, text: str) -> WordsReply:
        embedding = mechanism.embedding
        words = Cutter(embedding).words(text)
        if len(words) > _MOST_WORDS:
            raise Refused(413, f"text: at most {_MOST_WORDS} words are looked at here")
        ids = np.array(Lookup(embedding).ids(words), dtype=np.int64)
        distinct, rows = np.unique(ids, return_inverse=True)
        epsilons = np.linspace(1.0, max(self._rules.settings.release.max_epsilon, 2.0), _EPSILONS_OF_A_TABLE)
        return WordsReply(
            words=[
                WordFigures(word=word, known=(known := i != embedding.unknown_id), row=row if known else None)
                for word, i, row in zip(words, ids.tolist(), rows.tolist(), strict=True)
            ],
            epsilons=epsilons.round(4).tolist(),
            rows=self._unchanged(mechanism, distinct, epsilons),
        )

    def _unchanged(self, mechanism: Mechanism, ids: Any, epsilons: Floats) -> list[list[float]] | None:
        """Return how often each word stays itself at each ε: one walk along a direction tells all of them.
        None if only draws tell."""
        noise = radial_noise(mechanism)
        if noise is None:
            return None
        key = f"{mechanism.embedding.fingerprint} {identity_of(mechanism)}"
        rays = self._rays.get(key) or RadialRays(mechanism.embedding, noise, rays=_RAYS)
        _remember(self._rays, key, rays)
        if not len(ids):
            return []
        ends = rays.first_breakpoints(ids)
        shares, _ = unchanged(ends, epsilons, length_function(rays.noise))
        return [[round(share, 5) for share in row] for row in shares.tolist()]


def _guesses(mechanism: Mechanism, words: list[str]) -> DecodeReply:
    embedding = mechanism.embedding
    ids = Lookup(embedding).ids(words)
    known = np.array(sorted({i for i in ids if i != embedding.unknown_id}), dtype=np.int64)
    if not len(known):
        return DecodeReply(
            guesses=[Guess(released=word, guess="") for word in words], by="no released word is known"
        )
    channel = columns_of(mechanism, known, seed=_SEED, points=_POINTS_TO_DECODE)
    best = dict(
        zip(known.tolist(), BayesAdversary(channel, by_rank(embedding)).guesses(known).tolist(), strict=True)
    )
    guesses = [
        Guess(released=word, guess=embedding.words[best[i]] if i in best else "")
        for word, i in zip(words, ids, strict=True)
    ]
    return DecodeReply(
        guesses=guesses, by=f"Bayes' rule on {channel.how}; words as frequent as their rank says"
    )


def _explained(mechanism: Mechanism, word: str, top: int) -> ExplainReply:
    found = explain_word(mechanism, word, draws=_DRAWS, top=max(top, _IN_A_PICTURE))
    points = _picture(mechanism, found)
    data = found.to_dict()
    data["outcomes"], data["neighbours"] = data["outcomes"][:top], data["neighbours"][:top]
    return ExplainReply(explanation=data, points=points, noise=_noise_in_a_picture(mechanism))


def _picture(mechanism: Mechanism, found: Explanation) -> list[Point]:
    """Return the word, its neighbours and what it becomes, by the two axes along which they differ most; the
    word is at 0, 0."""
    embedding = mechanism.embedding
    chances = {outcome.word: outcome.probability for outcome in found.outcomes}
    names = list(dict.fromkeys([*(near.word for near in found.neighbours), *list(chances)[:_IN_A_PICTURE]]))
    names = [name for name in names if name != found.word]
    lookup = Lookup(embedding)
    own = embedding.rows(np.array(lookup.ids([found.word])))[0]
    apart = embedding.rows(np.array(lookup.ids(names), dtype=np.int64)).astype(np.float64) - own
    _, _, axes = np.linalg.svd(apart - apart.mean(axis=0), full_matrices=False)
    flat = apart @ axes[:2].T
    if flat.shape[1] < 2:
        flat = np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))
    here = Point(word=found.word, x=0.0, y=0.0, probability=chances.get(found.word, 0.0))
    places = zip(names, flat.round(4).tolist(), strict=True)
    return [
        here,
        *(Point(word=name, x=x, y=y, probability=chances.get(name, 0.0)) for name, (x, y) in places),
    ]


def _noise_in_a_picture(mechanism: Mechanism) -> float | None:
    """Return the radius that half of the noise stays within when all but two of its axes are left out."""
    noise = radial_noise(mechanism)
    if noise is None or noise.lengths != "gamma" or noise.shape is not None or noise.dimension < 3:
        return None
    from scipy.special import gammaincinv

    # The square of two coordinates of a direction is Beta(1, (n - 2)/2), whose median has a closed form.
    share = np.sqrt(1.0 - 2.0 ** (-2.0 / (noise.dimension - 2)))
    return float(gammaincinv(noise.dimension, 0.5) / mechanism.epsilon * share)


def _remember(known: OrderedDict[str, Found], key: str, value: Found) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > _KEPT:
        known.popitem(last=False)
