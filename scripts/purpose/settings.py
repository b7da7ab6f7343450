"""What docs/research/purpose.md measures: the data, the spaces, and the settings in order of worth."""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "glove-840b"
_OTHER_SHAPES = [(8, 2), (32, 2), (16, 1), (16, 4), (8, 1), (8, 4), (32, 1), (32, 4), (16, 8)]
SHAPES = [(dimension, float(strength)) for dimension, strength in [(16, 2), *_OTHER_SHAPES]]
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
PUBLIC = {  # the public texts behind each purpose; two files are two purposes at once
    "sentiment": ["public-sentiment"],
    "movies": ["mr"],
    "topic": ["public-topic"],
    "newsgroups": ["public-newsgroups"],
    "insurance": ["public-insurance"],
    "questions": ["public-questions"],
    "negation": ["public-negation"],
    "both": ["public-sentiment", "public-topic"],
    "products": ["cr"],
    "evenreviews": ["public-reviews-even"],
    "skewedreviews": ["public-reviews-skewed"],
    "eventopic": ["public-topic-even"],
    "skewedtopic": ["public-topic-skewed"],
}
IN_CONTEXT = {"sst2": "public-reviews", "agnews": "public-news"}
KIND_LEVELS = {"sst2": 0.28, "agnews": 0.27}
CONTEXT_LEVEL = 0.10
MAIN, OTHERS, AUTHORS = ("sst2", "agnews"), ("mr", "cr", "imdb", "newsgroups", "insurance"), ("enron", "c50")
OTHER_DECODED = ("mr", "imdb")
NOT_LINEAR = ("negation", "questions")
SHIFTED = {
    "sst2": ("evenreviews-16-2", "skewedreviews-16-2", "products-16-2"),
    "agnews": ("eventopic-16-2", "skewedtopic-16-2", "newsgroups-16-2"),
}
OTHER_PURPOSE = {"sst2": "topic-16-2", "agnews": "sentiment-16-2"}


@dataclass(frozen=True)
class Setting:
    """One data set released in one space by one mechanism, where the attacker reaches a level.

    A level is a share of words that a context-free attacker names, "kind" for the share of kinds that is
    asked for, or "context" for what an attacker in context names.
    """

    data: str
    space: str
    level: float | str
    mechanism: str = "multivariate"

    @property
    def name(self) -> str:
        """Its name, and that of its result."""
        return f"{self.data}-{self.space}-{self.mechanism}-{self.level}"

    @property
    def is_shaped(self) -> bool:
        """Whether its space is shaped by public texts."""
        return self.space not in ("default", SOURCE) and not self.space.startswith("reduced-")

    @property
    def vocabulary(self) -> str:
        """The embedding that says which words are known: reduced and shaped spaces have the words of their
        source."""
        return "default" if self.space == "default" else SOURCE


def settings() -> list[Setting]:
    """Return all settings, those that matter most first; neighbours of one data set, space and mechanism
    share what they need."""
    found: list[Setting] = []

    def add(data: str, space: str, *levels: float | str, mechanism: str = "multivariate") -> None:
        found.extend(Setting(data, space.format(PURPOSES[data]), level, mechanism) for level in levels)

    three = ("{}-16-2", "default", "reduced-16")
    exact = ("santext", "randomized-response")
    for data in MAIN:
        for space in three:
            add(data, space, 0.08, "kind", "context", 0.17, 0.33)
    for data in MAIN:
        for shape in SHAPES[1:]:
            add(data, shape_name(PURPOSES[data], *shape), 0.08)
    for data in MAIN:
        for space in ("{}-16-2", "default"):
            for mechanism in exact:
                add(data, space, 0.08, mechanism=mechanism)
    for data in MAIN:
        for space in ("both-16-2", OTHER_PURPOSE[data]):
            add(data, space, 0.08)
    for data, spaces in SHIFTED.items():
        for space in spaces:
            add(data, space, 0.08)
    for data in MAIN:
        for space in ("{}-16-4", "{}-16-8"):
            add(data, space, "kind", "context")
    for data in (*MAIN, *OTHER_DECODED):  # the rows of docs/research/decoding.md
        add(data, "default", 0.08, 0.17, 0.33)
        add(data, SOURCE, 0.08, 0.17, 0.33)
    for data in NOT_LINEAR:
        for space in three:
            add(data, space, 0.08, 0.17, 0.33)
    for levels in ((0.08,), (0.17, 0.33)):
        for data in (*OTHERS, *AUTHORS):
            for space in (*three, "{}-16-4"):
                add(data, space, *levels)
    for data in MAIN:
        add(data, SOURCE, "kind", "context")
        add(data, "both-16-2", 0.17, 0.33)
        for space in ("default", "{}-16-2"):
            for mechanism in exact:
                add(data, space, 0.17, 0.33, mechanism=mechanism)
    for data in OTHER_DECODED:
        for mechanism in exact:
            add(data, "default", 0.08, 0.17, 0.33, mechanism=mechanism)
    for data in MAIN:
        for shape in SHAPES[1:]:
            add(data, shape_name(PURPOSES[data], *shape), 0.17, 0.33, "kind")
    return list(dict.fromkeys(found))


def shape_name(purpose: str, dimension: int, strength: float) -> str:
    """Return the name of a shaped space."""
    return f"{purpose}-{dimension}-{strength:g}"
