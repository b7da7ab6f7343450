"""Data sets, spaces, levels of an attacker and readings, in the words of the page."""

from __future__ import annotations

from scripts.purpose.settings import CONTEXT_LEVEL, KIND_LEVELS, PURPOSES, SOURCE

DATA = {
    "sst2": "SST-2",
    "agnews": "AG News",
    "mr": "MR",
    "cr": "CR",
    "imdb": "IMDb",
    "newsgroups": "20 Newsgroups",
    "insurance": "InsuranceQA domains",
    "negation": "SST-2, praise xor negation",
    "questions": "first words of questions",
    "enron": "Enron authors",
    "c50": "Reuters C50 authors",
}
LEVELS: tuple[float | str, ...] = (0.08, 0.17, 0.33, "kind", "context")
MECHANISMS = {"multivariate": "", "santext": "SanText", "randomized-response": "randomised response"}
READINGS = {
    "released words": "words as released",
    "decoded words": "words decoded",
    "released vectors": "vectors as released",
    "decoded vectors": "vectors decoded",
    "released source vectors": "source vectors as released",
    "decoded source vectors": "source vectors decoded",
}
_SHAPED_BY = {  # where the public texts are not those of the data's own purpose
    "sentiment": "for sentiment",
    "topic": "for topics",
    "both": "for sentiment and topics at once",
    "products": "by CR",
    "newsgroups": "by 20 Newsgroups",
    "evenreviews": "by fewer reviews, labels even",
    "skewedreviews": "by fewer reviews, labels skewed",
    "eventopic": "by fewer news, labels even",
    "skewedtopic": "by fewer news, labels skewed",
}


def space_name(data: str, space: str, mechanism: str = "multivariate") -> str:
    """Return a space, and a mechanism that is not the paper's, in words."""
    by = f", {MECHANISMS[mechanism]}" if MECHANISMS[mechanism] else ""
    if space == "default":
        return f"built-in, 50d{by}"
    if space == SOURCE:
        return f"GloVe 840B, 300d{by}"
    purpose, dimension, *strength = space.split("-")
    if purpose == "reduced":
        return f"reduced to {dimension}{by}"
    public = "" if purpose == PURPOSES[data] else f" {_SHAPED_BY[purpose]}"
    return f"**shaped** {dimension} × {strength[0]}{public}{by}"


def is_shaped(data: str, space: str) -> bool:
    """Say whether a space is the one for the purpose of a data set that all others are compared with."""
    return space == f"{PURPOSES[data]}-16-2"


def wanted_share(data: str, level: float | str) -> float:
    """Return the share that an attacker is to reach, in %."""
    if level == "kind":
        return 100.0 * KIND_LEVELS[data]
    return 100.0 * (CONTEXT_LEVEL if level == "context" else float(level))


def level_name(data: str, level: float | str) -> str:
    """Return a level of an attacker in words."""
    of = {"kind": "of kinds", "context": "in context"}.get(str(level), "of words")
    return f"{wanted_share(data, level):.0f} % {of}"
