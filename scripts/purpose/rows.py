"""What docs/research/purpose.json holds: one row for each data set, space, mechanism and level of an
attacker, and their names on the pages.

A level is a share of words that an attacker names word by word, "kind" for the share of kinds of
``KIND_LEVELS``, or "context" for what an attacker in context names.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import Any

from scripts.pages import EXPERIMENTS, read_json

KEPT, CAPACITIES = EXPERIMENTS / "purpose.json", EXPERIMENTS / "purpose-capacity.json"
SOURCE = "glove-840b"
PURPOSES = {  # the purpose of each data set, learnt from texts of another set, or of a disjoint part
    "sst2": "sentiment",
    "mr": "sentiment",
    "cr": "sentiment",
    "imdb": "movies",
    "agnews": "topic",
    "newsgroups": "newsgroups",
    "insurance": "insurance",
    "questions": "questions",
    "negation": "negation",
    "enron": "sentiment",
    "c50": "sentiment",
}
KIND_LEVELS, CONTEXT_LEVEL = {"sst2": 0.28, "agnews": 0.27}, 0.10
MAIN, AUTHORS, NOT_LINEAR = ("sst2", "agnews"), ("enron", "c50"), ("negation", "questions")
SHAPES = [f"{dimension}-{strength}" for dimension in (8, 16, 32) for strength in (1, 2, 4)]
SHAPES.insert(6, "16-8")
SHIFTED = {
    "sst2": ("evenreviews-16-2", "skewedreviews-16-2", "products-16-2"),
    "agnews": ("eventopic-16-2", "skewedtopic-16-2", "newsgroups-16-2"),
}
OTHER_PURPOSE = {"sst2": "topic-16-2", "agnews": "sentiment-16-2"}
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
Result = dict[str, Any]
Key = tuple[str, str, str, float | str]


def read_results() -> list[Result]:
    """Return the results as they were measured."""
    return list(read_json(KEPT))


def read_capacities() -> list[Result]:
    """Return the capacities that ``scripts.purpose.capacity`` measured."""
    return list(read_json(CAPACITIES))


def key_of(result: Result) -> Key:
    """Return what was measured: the data, the space, the mechanism and the level."""
    return result["name"], result["embedding"]["name"], result["mechanism"], result["level"]


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


def level_name(data: str, level: float | str) -> str:
    """Return a level of an attacker in words."""
    share = {"kind": KIND_LEVELS.get(data), "context": CONTEXT_LEVEL}.get(str(level), level)
    of = {"kind": "of kinds", "context": "in context"}.get(str(level), "of words")
    assert isinstance(share, float)
    return f"{100.0 * share:.0f} % {of}"


@dataclass(frozen=True)
class Row:
    """One data set in one space by one mechanism where an attacker reaches one level: means of the runs, in
    %."""

    data: str
    space: str
    mechanism: str
    level: float | str
    epsilon: float
    named: float
    kind: float
    in_context: float | None
    accuracy: dict[str, float]
    validation: dict[str, float]
    spread: dict[str, float]
    majority: float
    blind: float
    kind_blind: float
    original: dict[str, float]

    @property
    def key(self) -> Key:
        """What was measured."""
        return self.data, self.space, self.mechanism, self.level

    @property
    def label(self) -> str:
        """The space and the mechanism in words."""
        return space_name(self.data, self.space, self.mechanism)

    @property
    def is_shaped_for_it(self) -> bool:
        """Whether the space is the one for the data's purpose that all others are compared with."""
        return self.space == f"{PURPOSES[self.data]}-16-2"

    def chosen(self, beginning: str = "") -> str:
        """Return the reading that does best on validation texts, of those whose name begins so."""
        names = (name for name in self.validation if name.startswith(beginning))
        return max(names, key=lambda name: self.validation[name])

    def best(self, beginning: str = "") -> float:
        """Return the accuracy by that reading."""
        return self.accuracy[self.chosen(beginning)]


def read_rows(results: list[Result]) -> list[Row]:
    """Return a row for each result with releases, in the order of ``place``."""
    return sorted((_row(result) for result in results if result["releases"]), key=place)


def place(row: Row) -> tuple[int, int, int, int, str]:
    """Return where a row stands: by data and level, the shaped space first, other mechanisms last."""
    plain = {"default": 3, SOURCE: 4}.get(row.space, 2 if row.space.startswith("reduced") else 1)
    orders = list(DATA).index(row.data), LEVELS.index(row.level), list(MECHANISMS).index(row.mechanism)
    return *orders, 0 if row.is_shaped_for_it else plain, row.space


def _row(result: Result) -> Row:
    releases = result["releases"]
    data, space, mechanism, level = key_of(result)
    # At other levels a receiver read in context, who knows less.
    contexts = [each["named_in_context"] for each in releases if "named_in_context" in each]

    def runs(reading: str, by: str) -> list[float]:
        return [100.0 * each["accuracy"][reading][by] for each in releases]

    readings = [name for name in READINGS if name in releases[0]["accuracy"]]
    return Row(
        data=data,
        space=space,
        mechanism=mechanism,
        level=level,
        epsilon=result["epsilon"],
        named=100.0 * mean(each["named"] for each in releases),
        kind=100.0 * mean(each["kind_named"] for each in releases),
        in_context=100.0 * mean(contexts) if contexts and level == "context" else None,
        accuracy={name: mean(runs(name, "chosen")) for name in readings},
        validation={name: mean(runs(name, "validation")) for name in readings},
        spread={name: (max(runs(name, "chosen")) - min(runs(name, "chosen"))) / 2.0 for name in readings},
        majority=100.0 * result["majority"],
        blind=100.0 * result["blind"],
        kind_blind=100.0 * releases[0]["kind_blind"],
        original={name: 100.0 * each["chosen"] for name, each in result["original"][0].items()},
    )


class Found:
    """Rows by what they are of."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = {row.key: row for row in rows}
        self.places = list(dict.fromkeys((row.data, row.level) for row in rows))

    def at(self, data: str, space: str, level: float | str, mechanism: str = "multivariate") -> Row | None:
        """Return a row; ``{}`` in the name of a space is the purpose of the data."""
        return self.rows.get((data, space.format(PURPOSES[data]), mechanism, level))

    def unperturbed(self, data: str) -> float:
        """Return what the best model on unperturbed text of a data set reaches."""
        return max(max(row.original.values()) for row in self.rows.values() if row.data == data)
