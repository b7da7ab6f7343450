"""Golden releases by the public names of ``deniable``: every mechanism, policy, call and language over every
embedding."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa

from deniable import (
    TEM,
    CusText,
    Embedding,
    Gaussian,
    Keyed,
    Line,
    Mahalanobis,
    Mechanism,
    Multivariate,
    Privatizer,
    RandomizedResponse,
    RankSmoothing,
    SanText,
    SanTextPlus,
    Vickrey,
)
from tests.golden.compared import Golden, digest
from tests.golden.materials import IDS, KEY, TEXTS
from tests.support import made_languages

SENSITIVE = ["doctor", "keys", "soup", "Apple"]
KEPT = ["the", "Fox", "café", "xyzzy"]
EMBEDDINGS = ("plain", "cased", "guarded", "hidden", "spelled")
SENTENCES = [
    "my doctor said the encryption keys were stolen",
    "Xyzzy: the quick brown fox isn't in the U.S. at 5 o'clock",
]

MECHANISMS: dict[str, Callable[[Embedding, float], Mechanism]] = {
    "multivariate": lambda embedding, e: Multivariate(embedding, epsilon=e),
    "mahalanobis": lambda embedding, e: Mahalanobis(embedding, epsilon=e),
    "mahalanobis lam 0.7": lambda embedding, e: Mahalanobis(embedding, epsilon=e, lam=0.7),
    "vickrey": lambda embedding, e: Vickrey(embedding, epsilon=e),
    "vickrey t 0.5 over mahalanobis": lambda embedding, e: Vickrey(
        embedding, epsilon=e, t=0.5, noise="mahalanobis", lam=0.6
    ),
    "gaussian": lambda embedding, e: Gaussian(embedding, epsilon=e),
    "rank-smoothing": lambda embedding, e: RankSmoothing(Multivariate(embedding, epsilon=e)),
    "rank-smoothing c 0.5 over vickrey": lambda embedding, e: RankSmoothing(
        Vickrey(embedding, epsilon=e, t=0.3), c=0.5
    ),
    "tem": lambda embedding, e: TEM(embedding, epsilon=e),
    "tem beta 0.1": lambda embedding, e: TEM(embedding, epsilon=e, beta=0.1),
    "santext": lambda embedding, e: SanText(embedding, epsilon=e),
    "santext-plus": lambda embedding, e: SanTextPlus(embedding, epsilon=e, sensitive=SENSITIVE),
    "santext-plus p 0.7": lambda embedding, e: SanTextPlus(embedding, epsilon=e, sensitive=SENSITIVE, p=0.7),
    "custext": lambda embedding, e: CusText(embedding, epsilon=e),
    "custext k 5": lambda embedding, e: CusText(embedding, epsilon=e, k=5),
    "line": lambda embedding, e: Line(embedding, epsilon=e),
    "line lists 3": lambda embedding, e: Line(embedding, epsilon=e / 100, lists=3),
    "randomized-response": lambda embedding, e: RandomizedResponse(embedding, epsilon=e),
}
"""By the name that the command line knows, with options where they are not the usual ones."""


def keyed(mechanism: Mechanism, *, consistent: bool = False, **settings: Any) -> Privatizer:
    """Return a privatizer with the fixed key."""
    return Privatizer(mechanism, randomness=Keyed(KEY, consistent=consistent), **settings)


def of_mechanisms(home: Path) -> Golden:
    """Return what each mechanism releases over each embedding at a few ε, and over the built-in one."""
    golden: Golden = {}
    embeddings = {stored: Embedding.open(home / "embeddings" / stored) for stored in EMBEDDINGS}
    built_in = Embedding.open()  # once: what mechanisms learn of it takes seconds
    for name, make in MECHANISMS.items():
        for stored, epsilon in product(EMBEDDINGS, (0.5, 4.0)):
            private = keyed(make(embeddings[stored], epsilon))
            golden[f"{name}, {stored}, {epsilon}"] = digest(private.many(TEXTS, record_ids=IDS))
        for epsilon in (2.0, 12.0):
            private = keyed(make(built_in, epsilon))
            golden[f"{name}, built-in, {epsilon}"] = private.many(SENTENCES, record_ids=["a", ("b", 2)])
        golden[f"{name}, built-in, nasty"] = digest(private.many(TEXTS, record_ids=IDS))
    return golden


def of_policies(home: Path) -> Golden:
    """Return what each combination of policies releases over each embedding."""
    golden: Golden = {}
    for stored, unknown, punctuation, case, kept, budget in product(
        EMBEDDINGS,
        ("perturb", "subwords", "redact", "drop"),
        ("drop", "keep"),
        ("drop", "keep"),
        ((), KEPT),
        (None, 9.0),
    ):
        if (unknown == "subwords" and stored != "spelled") or (
            budget is not None and "keep" in (punctuation, case)
        ):
            continue
        settings: dict[str, Any] = {
            "unknown": unknown,
            "punctuation": punctuation,
            "case": case,
            "keep_words": kept,
        }
        mechanism = Multivariate(Embedding.open(home / "embeddings" / stored), epsilon=3.0)
        name = (
            f"{stored}, {unknown}, punctuation {punctuation}, case {case}, {len(kept)} kept, record {budget}"
        )
        golden[name] = digest(keyed(mechanism, record_epsilon=budget, **settings).many(TEXTS, record_ids=IDS))
        if budget is None and punctuation == case:
            users = [f"u{number % 3}" for number in range(len(TEXTS))]
            golden[f"{name}, consistent"] = digest(
                keyed(mechanism, consistent=True, **settings).many(TEXTS, record_ids=users)
            )
    return golden


def of_calls(home: Path) -> Golden:
    """Return what one call, a stream and a column release, in words."""
    private = keyed(
        Multivariate(Embedding.open(home / "embeddings" / "plain"), epsilon=3.0),
        punctuation="keep",
        case="keep",
    )
    column = pa.chunked_array([TEXTS[:7], TEXTS[7:]], pa.string())
    return {
        "one by one": [
            None if text is None else private(text, record_id=one)
            for text, one in zip(TEXTS, IDS, strict=True)
        ],
        "many": private.many(TEXTS, record_ids=IDS),
        "stream": list(private.stream(iter(TEXTS), record_ids=iter(IDS))),
        "column": private.column(column, record_ids=IDS).to_pylist(),
        "other names": private.many(["the fox"] * 4, record_ids=[("a", "b"), ("ab",), ("", 1), "\ud800"]),
    }


def of_languages(_home: Path) -> Golden:
    """Return releases in languages that ask for more than the plain rules, by every policy on text."""
    policies: dict[str, dict[str, Any]] = {
        "": {},
        ", all kept": {"punctuation": "keep", "case": "keep"},
        ", redacted": {"unknown": "redact"},
    }
    golden: Golden = {}
    for language, (named, policy) in product(made_languages.VOCABULARIES, policies.items()):
        private = Privatizer(
            Multivariate(made_languages.made_embedding(language), epsilon=1.5),
            randomness=Keyed(KEY),
            **policy,
        )
        texts = made_languages.TEXTS[language]
        golden[language + named] = private.many(texts, record_ids=range(len(texts)))
    return golden


def of_stored_embeddings(home: Path) -> Golden:
    """Return what is known about the stored embeddings and the built-in one when they are opened."""
    opened = {name: Embedding.open(home / "embeddings" / name) for name in EMBEDDINGS} | {
        "built-in": Embedding.open()
    }
    return {
        name: {
            "fingerprint": embedding.fingerprint,
            "words": len(embedding),
            "dimension": embedding.dimension,
            "cased": embedding.cased,
            "shadowed": embedding.shadowed.tolist() if name != "built-in" else len(embedding.shadowed),
            "protected": embedding.protected.tolist(),
            "unknown": embedding.unknown.tobytes().hex() if name != "built-in" else None,
        }
        for name, embedding in opened.items()
    }
