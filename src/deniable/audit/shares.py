"""How often something was right: as a share of tries with an interval, or as an estimate for all text with
its standard error."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.audit.bound.refutation import lower, upper

_SAYS_LITTLE = 0.5


@dataclass(frozen=True, kw_only=True)
class Share:
    """How often something was right, of how many tries, and what the probability lies between with 95 %
    confidence."""

    value: float
    low: float
    high: float
    tries: int

    @property
    def says_little(self) -> bool:
        """Whether the interval is so wide that too few were tried to say how often something is right."""
        return self.high - self.low > _SAYS_LITTLE


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A share of all text, with its standard error."""

    value: float
    standard_error: float

    @property
    def high(self) -> float:
        """The upper end of its 95 % interval."""
        return min(1.0, self.value + 1.959964 * self.standard_error)  # standard errors to either side


def share_of(hits: int, tries: int) -> Share:
    """Return a share with the interval of Clopper and Pearson."""
    return Share(
        value=hits / tries, low=lower(hits, tries, 0.025), high=upper(hits, tries, 0.025), tries=tries
    )
