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
from deniable.channel.rays.rays import Rays
from deniable.channel.rays.statistics import length_function, unchanged
from deniable.embeddings.embedding import Embedding
from deniable.errors import DeniableError
from deniable.interfaces import Mechanism
from deniable.mechanisms.base import radial_noise
from deniable.mechanisms.catalogue import entry_of, identity_of
from deniable.release.note import quote_calibration, read_note
from deniable.release.policies import POLICIES
from deniable.service.messages import (
    CalibrationQuery,
    Choice,
    ExplainRequest,
    Refused,
    TextRequest,
    decode,
    refusal_of,
)
from deniable.service.releases import json_reply, read_body, read_query
from deniable.service.replies import (
    AllowedReply,
    Candidate,
    DecodeReply,
    EmbeddingReply,
    GuessReply,
    WordReply,
    WordsReply,
)
from deniable.service.rules import Prepared, Rules
from deniable.words.cutter import Cutter
from deniable.words.frequency import as_shares, shares_of_all

_RAYS = 200
_DRAWS = 300
POINTS_TO_DECODE = 64
_MOST_WORDS = 500
MOST_DECODED = 60
MOST_WAITING = 16
_EPSILONS_OF_A_TABLE = 40
_KEPT = 8
_CANDIDATES = 8
_LEAST_CHANCE = 1e-6
_IN_A_PICTURE = 24
_SEED = 7

Result = TypeVar("Result")


class Facts:
    """Answers questions about words."""

    def __init__(self, rules: Rules) -> None:
        self._rules, self._limits = rules, rules.settings.limits
        # Decoding takes seconds a text: nobody's words wait for it.
        self._threads = {name: ThreadPoolExecutor(1, thread_name_prefix=name) for name in ("words", "decode")}
        self.waiting = dict.fromkeys(self._threads, 0)
        self._rays: OrderedDict[str, Rays] = OrderedDict()

    def stop(self) -> None:
        """End when what was begun is done."""
        for thread in self._threads.values():
            thread.shutdown(cancel_futures=True)

    async def allowed(self, _: Request) -> Response:
        """Return what clients may ask for."""
        release = self._rules.settings.release
        reply = AllowedReply(
            embeddings=list(release.embeddings),
            mechanisms=list(release.mechanisms),
            epsilon=release.epsilon,
            max_epsilon=release.max_epsilon,
            record_epsilon=release.record_epsilon,
            policies={name: getattr(release, name) for name in POLICIES},
            never_release=list(self._rules.listed.called),
            keyed=self._rules.keyed,
            limits=msgspec.to_builtins(self._limits),
            keep_minutes=self._rules.settings.jobs.keep_minutes,
        )
        return json_reply(reply)

    async def embeddings(self, _: Request) -> Response:
        """List the embeddings."""
        return json_reply([_embedding_facts(each) for each in self._rules.embeddings.values()])

    async def mechanisms(self, _: Request) -> Response:
        """List the mechanisms and their options."""
        return json_reply([entry_of(name).to_dict() for name in self._rules.settings.release.mechanisms])

    async def card(self, request: Request) -> Response:
        """Return the card of releases with these settings."""
        return json_reply((await self._rules.ready(read_query(request, Choice))).card)

    async def calibration(self, request: Request) -> Response:
        """Return the calibration of an embedding, if it was calibrated."""
        asked = read_query(request, CalibrationQuery)
        choice = Choice(mechanism=asked.mechanism, embedding=request.path_params["embedding"])
        note = read_note(await self._mechanism(choice))
        if note is None:
            problem = (
                "this embedding is not calibrated for this mechanism; the operator can: deniable calibrate"
            )
            raise Refused(404, problem)
        return json_reply(note.to_dict())

    async def explain_named(self, request: Request) -> Response:
        """Explain the word in the path."""
        values = msgspec.structs.asdict(read_query(request, Choice))
        return await self._explain(ExplainRequest(word=request.path_params["word"], **values))

    async def explain(self, request: Request) -> Response:
        """Explain a word that stands in no address: what it becomes, with a picture of it."""
        return await self._explain(decode(await read_body(request, self._limits), ExplainRequest))

    async def words(self, request: Request) -> Response:
        """Return how often every word of a text is released unchanged, over the whole range of ε.

        Each of ``words`` has its place among the ``rows``, which are shares at each of ``epsilons``.
        """
        asked = decode(await read_body(request, self._limits), TextRequest)
        mechanism = await self._mechanism(asked)
        return json_reply(await self._in_thread("words", lambda: self._figures(mechanism, asked.text)))

    async def decode(self, request: Request) -> Response:
        """Read a released text as a stranger would: each word by itself, by Bayes' rule and how frequent
        words are."""
        asked = decode(await read_body(request, self._limits), TextRequest)
        prepared = await self._rules.ready(asked)
        mechanism, instead = prepared.private.mechanism, "use `deniable decode` with the card"
        noise = radial_noise(mechanism)
        if noise is None or noise.lengths != "gamma" or noise.shape is not None:
            raise Refused(422, f"mechanism: decoding takes too long for a reply here; {instead}")
        if prepared.release.record_epsilon is not None:
            raise Refused(422, "record_epsilon: decoding here takes texts without a budget of their own")
        # Reading a long text takes time as well, and everybody else would wait for it here.
        words = await self._in_thread("words", lambda: prepared.words(asked.text))
        if len(words) > MOST_DECODED:
            raise Refused(413, f"text: at most {MOST_DECODED} words are decoded here; {instead}")
        reply = await self._in_thread("decode", lambda: guesses(mechanism, words))
        reply.factor = _factor(prepared)
        return json_reply(reply)

    async def _explain(self, asked: ExplainRequest) -> Response:
        mechanism = await self._mechanism(asked)
        # Not remembered: how fast an answer comes would tell who else asked for the word.
        return json_reply(await self._in_thread("words", lambda: explained(mechanism, asked.word, asked.top)))

    async def _mechanism(self, choice: Choice) -> Mechanism:
        return (await self._rules.ready(choice)).private.mechanism

    async def _in_thread(self, name: str, work: Callable[[], Result]) -> Result:
        """Return what the work returns, done by the thread of that name."""
        if self.waiting[name] >= MOST_WAITING:
            raise Refused(503, "too many questions are waiting; try again in a moment", retry=1)
        self.waiting[name] += 1
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await asyncio.get_running_loop().run_in_executor(self._threads[name], work)
        except TimeoutError:
            raise Refused(503, "the answer took too long", retry=5) from None
        except DeniableError as error:
            raise refusal_of(error) from None
        finally:
            self.waiting[name] -= 1

    def _figures(self, mechanism: Mechanism, text: str) -> WordsReply:
        embedding = mechanism.embedding
        words = Cutter(embedding).words(text)
        if len(words) > _MOST_WORDS:
            raise Refused(413, f"text: at most {_MOST_WORDS} words are looked at here")
        ids = np.array(Cutter(embedding).ids(words), dtype=np.int64)
        distinct, places = np.unique(ids, return_inverse=True)
        largest = max(self._rules.settings.release.max_epsilon, 2.0)
        if embedding.linear_map is None:
            epsilons = np.linspace(1.0, largest, _EPSILONS_OF_A_TABLE)
        else:  # distances are others there, and what matters may lie far below 1
            epsilons = np.geomspace(0.1, largest, _EPSILONS_OF_A_TABLE)
        rows = [
            None if i == embedding.unknown_id else row for i, row in zip(ids, places.tolist(), strict=True)
        ]
        return WordsReply(
            words=[
                WordReply(word=word, known=row is not None, row=row)
                for word, row in zip(words, rows, strict=True)
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
        rays = self._rays.pop(key, None) or Rays(mechanism.embedding, noise, rays=_RAYS)
        self._rays[key] = rays
        if len(self._rays) > _KEPT:
            self._rays.popitem(last=False)
        if not len(ids):
            return []
        ends, _ = rays.first_breakpoints(ids)
        shares, _ = unchanged(ends, epsilons, length_function(rays.noise))
        return [[round(share, 5) for share in row] for row in shares.tolist()]


def _embedding_facts(embedding: Embedding) -> EmbeddingReply:
    left_out = embedding.left_out
    return EmbeddingReply(
        name=embedding.name if left_out is None else left_out.source.name,
        words=len(embedding),
        dimension=embedding.dimension,
        fingerprint=embedding.fingerprint,
        protected_words=len(embedding.protected),
        never_released_words=0 if left_out is None else left_out.count,
        source="" if left_out is None else left_out.source.fingerprint,
    )


def _factor(prepared: Prepared) -> float | None:
    """Return by how much a released word raises the chance of any guess at most, if a calibration knows."""
    release, mechanism = prepared.release, prepared.private.mechanism
    quote = quote_calibration(mechanism)
    if quote is None:
        return None
    kept = len(prepared.private.card.keep_words)
    quote = quote.with_policies(unknown=release.unknown, kept=kept, consistent=release.consistent)
    return None if quote.capacity is None else quote.capacity.at_most


def guesses(mechanism: Mechanism, words: list[str]) -> DecodeReply:
    """Return which words could have stood behind each released word, the likeliest first, and what that rests
    on."""
    embedding = mechanism.embedding
    ids = Cutter(embedding).ids(words)
    known = np.array(sorted({i for i in ids if i != embedding.unknown_id}), dtype=np.int64)
    told, by = dict[int, GuessReply](), "no released word is known"
    if len(known):
        channel = columns_of(mechanism, known, seed=_SEED, points=POINTS_TO_DECODE)
        before = as_shares(shares_of_all(embedding)[channel.inputs])
        for released, column in zip(known.tolist(), channel.columns(known), strict=True):
            after = column * before
            after /= after.sum()
            best = np.argsort(-after)[:_CANDIDATES]
            told[released] = GuessReply(
                released=embedding.words[released],
                guess=embedding.words[channel.inputs[best[0]]],
                candidates=[
                    Candidate(
                        word=embedding.words[channel.inputs[i]],
                        probability=round(float(after[i]), 5),
                        before=round(float(before[i]), 8),
                    )
                    for i in best
                ],
                others=max(0, int((after > _LEAST_CHANCE).sum()) - len(best)),
            )
        by = f"Bayes' rule on {channel.how}; words as frequent as their rank says"
    unknown = [GuessReply(released=word, guess="", candidates=[], others=0) for word in words]
    listed = [told.get(i, empty) for i, empty in zip(ids, unknown, strict=True)]
    return DecodeReply(guesses=listed, by=by, factor=None)


def explained(mechanism: Mechanism, word: str, top: int) -> dict[str, Any]:
    """Return what a word becomes, with the points of a picture of it. ``noise`` is the radius in it that half
    of the noise stays within; None where it is not round."""
    explanation = explain_word(mechanism, word, draws=_DRAWS, top=max(top, _IN_A_PICTURE))
    points = _picture(mechanism, explanation)
    data = explanation.to_dict()
    data["outcomes"], data["neighbours"] = data["outcomes"][:top], data["neighbours"][:top]
    return {"explanation": data, "points": points, "noise": _noise_in_a_picture(mechanism)}


def _picture(mechanism: Mechanism, explanation: Explanation) -> list[dict[str, Any]]:
    """Return the word, its neighbours and what it becomes, by the two axes along which they differ most; the
    word is at 0, 0."""
    embedding, word = mechanism.embedding, explanation.word
    chances = {outcome.word: outcome.probability for outcome in explanation.outcomes}
    near = [*(each.word for each in explanation.neighbours), *list(chances)[:_IN_A_PICTURE]]
    names = [name for name in dict.fromkeys(near) if name != word]
    cutter = Cutter(embedding)
    own = embedding.rows(np.array(cutter.ids([word])))[0]
    apart = embedding.rows(np.array(cutter.ids(names), dtype=np.int64)).astype(np.float64) - own
    _, _, axes = np.linalg.svd(apart - apart.mean(axis=0), full_matrices=False)
    flat = apart @ axes[:2].T
    flat = np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))
    places = zip([word, *names], [[0.0, 0.0], *flat.round(4).tolist()], strict=True)
    return [{"word": name, "x": x, "y": y, "probability": chances.get(name, 0.0)} for name, (x, y) in places]


def _noise_in_a_picture(mechanism: Mechanism) -> float | None:
    """Return the radius that half of the noise stays within when all but two of its axes are left out."""
    noise = radial_noise(mechanism)
    if noise is None or noise.lengths != "gamma" or noise.shape is not None or noise.dimension < 3:
        return None
    from scipy.special import gammaincinv

    # The square of two coordinates of a direction is Beta(1, (n - 2)/2), whose median has a closed form.
    share = np.sqrt(1.0 - 2.0 ** (-2.0 / (noise.dimension - 2)))
    return float(gammaincinv(noise.dimension, 0.5) / mechanism.epsilon * share)
