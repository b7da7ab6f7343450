"""All mechanisms by name, with their options: for the command line, services and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypedDict

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.mechanisms.base import NearestWord
from deniable.mechanisms.custext import CusText
from deniable.mechanisms.gaussian import Gaussian
from deniable.mechanisms.line import Line
from deniable.mechanisms.mahalanobis import Mahalanobis
from deniable.mechanisms.multivariate import Multivariate
from deniable.mechanisms.randomized_response import RandomizedResponse
from deniable.mechanisms.rank_smoothing import RankSmoothing
from deniable.mechanisms.santext import SanText, SanTextPlus
from deniable.mechanisms.tem import TEM
from deniable.mechanisms.vickrey import Vickrey
from deniable.words.public_text import read_word_list


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a mechanism: how its text becomes a value, its default (None if it must be given), and
    what it is for."""

    name: str
    parse: Callable[[str], object]
    default: object
    help: str

    def value(self, given: object) -> object:
        """Return the value of an option given as text, or as it is."""
        if not isinstance(given, str):
            return given
        try:
            return self.parse(given)
        except InvalidParameter:
            raise
        except ValueError:
            kind = "a whole number" if self.parse is int else "a number"
            raise InvalidParameter(self.name, given, f"is not {kind}") from None

    def takes(self, value: object) -> bool:
        """Return whether a value is of the option's type: a text, a number or a list of words."""
        if self.parse not in (str, int, float):
            return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)
        kinds = (int, float) if self.parse is float else self.parse
        return isinstance(value, kinds) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Entry:
    """A mechanism of the catalogue."""

    name: str
    summary: str
    make: Callable[..., Mechanism]
    options: tuple[Option, ...] = ()

    @property
    def kind(self) -> str:
        """The name of the class of the mechanisms that it makes, as cards and receipts have it."""
        return self.make.__name__ if isinstance(self.make, type) else RankSmoothing.__name__

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as JSON data, without its code."""
        options = [{"name": one.name, "default": one.default, "help": one.help} for one in self.options]
        return {"name": self.name, "summary": self.summary, "options": options}


def _smoothed(
    embedding: Embedding, *, epsilon: float, over: str = "multivariate", c: float = 0.04, **options: Any
) -> RankSmoothing:
    if over not in _NEAREST_WORD:
        raise InvalidParameter("over", over, f"must be one of: {', '.join(_NEAREST_WORD)}")
    inner = checked_options(CATALOGUE[over], options)
    return RankSmoothing(_NEAREST_WORD[over](embedding, epsilon=epsilon, **inner), c=c)


_NEAREST_WORD: Mapping[str, Callable[..., NearestWord]] = {
    "multivariate": Multivariate,
    "mahalanobis": Mahalanobis,
    "vickrey": Vickrey,
    "gaussian": Gaussian,
}

_LAM = Option(
    "lam", float, 0.2, "λ of Mahalanobis noise: 0 is round, near 1 it has the shape of the cloud of words."
)
_T = Option("t", float, 0.75, "How much the second nearest word weighs: 0 never, 0.5 by distance.")
_BETA = Option("beta", float, 0.001, "Sets γ: how likely a word beyond γ is, if all are.")
_K = Option("k", int, 20, "The words of a cell.")
_NOISE = Option("noise", str, "multivariate", "The noise of Vickrey: multivariate or mahalanobis.")

_ENTRIES = (
    Entry("multivariate", "The paper's: noise of density exp(-ε‖z‖), nearest word.", Multivariate),
    Entry("mahalanobis", "Noise shaped like the cloud of words, nearest word.", Mahalanobis, (_LAM,)),
    Entry("vickrey", "One of the two nearest words of the noisy point.", Vickrey, (_T, _NOISE, _LAM)),
    Entry("gaussian", "Normal noise with σ = 1/ε, nearest word.", Gaussian),
    Entry(
        "rank-smoothing",
        "A near neighbour of what another mechanism releases.",
        _smoothed,
        (
            Option("c", float, 0.04, "Successive ranks have probabilities in the ratio exp(-c·ε)."),
            Option(
                "over",
                str,
                "multivariate",
                "The mechanism that is smoothed: multivariate, mahalanobis, vickrey or gaussian.",
            ),
            _T,
            _NOISE,
            _LAM,
        ),
    ),
    Entry("tem", "Softmax of the distance cut off at γ.", TEM, (_BETA,)),
    Entry("santext", "Softmax of the distance over the whole vocabulary.", SanText),
    Entry(
        "santext-plus",
        "SanText for listed words; others are mostly kept.",
        SanTextPlus,
        (
            Option(
                "sensitive",
                partial(read_word_list, name="sensitive"),
                None,
                "A public file of the sensitive words, one a line. Never made from the private text.",
            ),
            Option("p", float, 0.2, "How often other words are replaced."),
        ),
    ),
    Entry("custext", "A draw inside a public cell of near words; the cell is exposed.", CusText, (_K,)),
    Entry(
        "line",
        "Noise on the place in a public list of all words.",
        Line,
        (Option("lists", int, 1, "The number of public lists, one of which is drawn for each word."),),
    ),
    Entry(
        "randomized-response", "The word itself or any other: knows nothing of meaning.", RandomizedResponse
    ),
)

CATALOGUE: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}
"""Every mechanism by the name that the command line knows."""


def make_mechanism(
    name: str, embedding: Embedding, *, epsilon: float, options: Mapping[str, object] | None = None
) -> Mechanism:
    """Return the mechanism of that name; options are values, or texts as typed on a command line.

    :raises InvalidParameter: if the name, an option or a value is not allowed, or an option is missing.
    """
    entry = entry_of(name)
    return entry.make(embedding, epsilon=epsilon, **checked_options(entry, options or {}))


def entry_of(name: str) -> Entry:
    """Return the entry of that name."""
    if name not in CATALOGUE:
        raise InvalidParameter("mechanism", name, f"must be one of: {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


def checked_options(entry: Entry, options: Mapping[str, object]) -> dict[str, object]:
    """Return the options as values, checked for names that do not exist and for missing ones."""
    known = {option.name: option for option in entry.options}
    for name, given in options.items():
        if name not in known:
            there_are = f"it has {', '.join(known)}" if known else "it has none"
            raise InvalidParameter(name, given, f"is no option of the mechanism {entry.name}: {there_are}")
    for option in entry.options:
        if option.default is None and option.name not in options:
            raise InvalidParameter(option.name, None, f"must be given for {entry.name}: {option.help}")
    return {name: known[name].value(given) for name, given in options.items()}


def check_option_types(entry: Entry, options: Mapping[str, object]) -> None:
    """Check that options that somebody else wrote down are values of the mechanism, and not texts, which
    may name files."""
    for option in entry.options:
        if option.name in options and not option.takes(given := options[option.name]):
            raise InvalidParameter(
                option.name, type(given).__name__, f"is no value of this option of {entry.name}"
            )
    checked_options(entry, options)


def parse_options(name: str, texts: Iterable[str], *, parameter: str = "options") -> dict[str, object]:
    """Return the options of the mechanism of that name, each typed as NAME=VALUE, as values; nothing is
    loaded for it.

    >>> parse_options("vickrey", ["t=0.5", "noise=mahalanobis"])
    {'t': 0.5, 'noise': 'mahalanobis'}

    ``parameter`` is what errors call a text that is not NAME=VALUE.

    :raises InvalidParameter: if the name, an option or a value is not allowed, or given twice or not at all.
    """
    options = split_options(texts, parameter=parameter)
    return checked_options(entry_of(name), options)


def split_options(
    texts: Iterable[str], *, parameter: str = "options", form: str = "NAME=VALUE, such as t=0.5"
) -> dict[str, str]:
    """Return options typed as NAME=VALUE by name, with their values as they were typed."""
    options: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InvalidParameter(parameter, text, f"must be {form}")
        if name in options:
            raise InvalidParameter(parameter, text, f"gives {name} a second time")
        options[name] = value
    return options


PAPERS = "multivariate"
"""The paper's mechanism, and the one that is meant where none is named."""


class MechanismIdentity(TypedDict):
    """What mechanisms that draw alike have in common, whatever their ε and embedding."""

    mechanism: str
    parameters: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class ChosenMechanism:
    """Makes the mechanism of that name at any ε; options are values, or texts as typed."""

    name: str = PAPERS
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __call__(self, embedding: Embedding, *, epsilon: float) -> Mechanism:
        """Return the mechanism over an embedding."""
        return make_mechanism(self.name, embedding, epsilon=epsilon, options=self.options)

    @property
    def is_papers(self) -> bool:
        """Whether it is the paper's mechanism, which has no options."""
        return self.name == PAPERS

    @property
    def as_typed(self) -> str:
        """What to add to a command so that it takes this mechanism; a list of words is not shown."""
        if self.is_papers:
            return ""
        return f" --mechanism {self.name}" + "".join(
            f" -O {name}={value}" for name, value in self.shown_options.items()
        )

    @property
    def shown_options(self) -> dict[str, str | int | float]:
        """The options that were given, but "…" for a list of words."""
        return {
            name: value if name != "sensitive" and isinstance(value, str | int | float) else "…"
            for name, value in self.options.items()
        }

    def in_words(self, embedding: Embedding) -> str:
        """Return its name with all options, as people read it."""
        options = ", ".join(
            f"{name} = {value}" for name, value in self.identity(embedding)["parameters"].items()
        )
        return f"{self.name} ({options})" if options else self.name

    def identity(self, embedding: Embedding) -> MechanismIdentity:
        """Return everything but ε and the embedding that the draws depend on, defaults included."""
        return identity_of(self(embedding, epsilon=1.0))


def parse_mechanism(typed: str, *, parameter: str = "mechanism") -> ChosenMechanism:
    """Return a mechanism typed as NAME or NAME:OPTION=VALUE,OPTION=VALUE; its options stay as they were
    typed.

    >>> parse_mechanism("vickrey:t=0.50,noise=mahalanobis").options
    {'t': '0.50', 'noise': 'mahalanobis'}

    :raises InvalidParameter: if there is no such mechanism or option; it calls the text ``parameter``.
    """
    name, _, rest = typed.partition(":")
    form = "NAME or NAME:OPTION=VALUE, such as rank-smoothing:c=0.1"
    options = split_options(rest.split(",") if rest else (), parameter=parameter, form=form)
    checked_options(entry_of(name), options)
    return ChosenMechanism(name=name, options=options)


def is_papers_mechanism(mechanism: Mechanism) -> bool:
    """Return whether a mechanism is the paper's itself: a derived class may draw otherwise."""
    return type(mechanism) is Multivariate


def identity_of(mechanism: Mechanism) -> MechanismIdentity:
    """Return what mechanisms that draw alike have in common, whatever their ε and embedding."""
    kind = type(mechanism)
    return {
        "mechanism": f"{kind.__module__}.{kind.__qualname__}",
        "parameters": dict(mechanism.guarantee.parameters),
    }


def chosen_as(mechanism: Mechanism) -> ChosenMechanism | None:
    """Return the name and options that make this mechanism, for anybody who has only its description; None if
    no name does.

    SanText+ is described with its sensitive words, which are public by its definition: those that the
    embedding knows.
    """
    names = {entry.make: entry.name for entry in CATALOGUE.values()}
    kind, given = type(mechanism), dict[str, object](mechanism.guarantee.parameters)
    name = "rank-smoothing" if kind is RankSmoothing else names.get(kind)
    if name is None:
        return None
    if name == "rank-smoothing":
        given["over"] = next(
            known for known, make in _NEAREST_WORD.items() if getattr(make, "__name__", "") == given["over"]
        )
    if isinstance(mechanism, SanTextPlus):
        given["sensitive"] = [mechanism.embedding.words[word] for word in mechanism.sensitive.tolist()]
    known_options = {option.name for option in CATALOGUE[name].options}
    return ChosenMechanism(
        name=name, options={key: value for key, value in given.items() if key in known_options}
    )
