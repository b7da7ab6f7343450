"""Who takes part: mechanisms as they are typed, NAME or NAME:OPTION=VALUE,OPTION=VALUE."""

from __future__ import annotations

from typing import Any

from deniable.comparison.experiment import Contender
from deniable.comparison.matching import Target
from deniable.comparison.readings import NAMES
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import CATALOGUE, checked_options, entry_of
from deniable.parameters import validated_share


def all_contenders(embedding: Embedding) -> tuple[list[Contender], dict[str, str]]:
    """Return every mechanism that needs no option, and those left out with the reason."""
    needy = {
        name: f"which needs an option: --mechanism {name}:{option.name}=…"
        for name, entry in CATALOGUE.items()
        for option in entry.options
        if option.default is None
    }
    return [contender(name, embedding) for name in CATALOGUE if name not in needy], needy


def contender(typed: str, embedding: Embedding) -> Contender:
    """Return a mechanism as typed on the command line.

    :raises InvalidParameter: if there is no such mechanism or option.
    """
    name, _, rest = typed.partition(":")
    given: dict[str, object] = {}
    for text in rest.split(",") if rest else []:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InvalidParameter("--mechanism", typed, "must be NAME or NAME:OPTION=VALUE, such as rank-smoothing:c=0.1")
        given[key] = value
    entry = entry_of(name)
    options = checked_options(entry, given)

    def make(epsilon: float) -> Mechanism:
        return entry.make(embedding, epsilon=epsilon, **options)

    identity: dict[str, Any] = {"name": name, "parameters": dict(make(1.0).guarantee.parameters)}
    return Contender(name=typed.partition("=")[0].rstrip(":") if "sensitive=" in typed else typed, make=make, identity=identity)


def target(typed: str) -> Target:
    """Return a target typed as READING=VALUE.

    :raises InvalidParameter: if there is no such reading, or the value is not a share.
    """
    name, _, value = typed.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    for known in NAMES:
        if name == known and 0.0 < number < 1.0:
            return Target(reading=known, value=validated_share(number, "--target"))
    raise InvalidParameter("--target", typed, f"must be READING=VALUE with a reading of {', '.join(NAMES)} and a value between 0 and 1")
