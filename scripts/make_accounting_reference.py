"""Write tests/measures/dp_accounting.json: ε′ by Google's library dp-accounting, which our accounting is
compared with.

    python scripts/make_accounting_reference.py      # needs dp-accounting and scipy, and nothing of deniable

The library knows no radial noise in several dimensions: its loss is put on a grid here, finer than in the
package and by other functions, and rounded up like everything else.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from dp_accounting.pld import pld_pmf
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import beta, gamma

FILE = Path(__file__).parent.parent / "tests" / "measures" / "dp_accounting.json"
DELTAS, BINS, STEPS, FINE, TAIL = (1e-6, 1e-3), 6_000, 1_600, 1e-3, 1e-14
RADIAL = [(2, 3.0), (17, 6.0), (50, 16.5), (300, 33.0)]
WORDS = (1, 5, 20)
COLUMNS = ("noise", "size", "exponent", "words", "delta", "epsilon")


def radial(dimension: int, exponent: float) -> pld.PrivacyLossDistribution:
    """Return the loss of noise of density exp(-ε‖z‖) at ε·d = ``exponent``."""
    edges = np.linspace(gamma.ppf(TAIL, dimension), gamma.isf(TAIL, dimension), BINS)
    shares = np.diff(gamma.cdf(edges, dimension), append=1.0)
    grid = np.arange(-STEPS, STEPS + 1) * (exponent / STEPS)
    beyond = []
    for loss in grid[:-1]:
        cosine = (exponent**2 - loss**2) / (2 * edges * exponent) - loss / exponent
        half = (dimension - 1) / 2
        nearer = beta.cdf((np.clip(cosine, -1, 1) + 1) / 2, half, half)
        beyond.append(min(1.0, TAIL + float(nearer @ shares)))
    survival = np.maximum.accumulate([*beyond, 0.0][::-1])[::-1]
    masses = -np.diff(survival, prepend=1.0)
    on_grid = {place - STEPS: float(mass) for place, mass in enumerate(masses) if mass > 0.0}
    return pld.PrivacyLossDistribution(pld_pmf.create_pmf(on_grid, exponent / STEPS, 0.0, True))


def main() -> None:
    """Compose each of them for so many words."""
    made = [("radial", n, a, radial(n, a)) for n, a in RADIAL]
    made += [
        ("radial", 1, a, pld.from_laplace_mechanism(1.0 / a, value_discretization_interval=FINE))
        for a in (0.7, 3.0)
    ]
    made += [
        ("gaussian", 0, mu, pld.from_gaussian_mechanism(1.0 / mu, value_discretization_interval=FINE))
        for mu in (0.5, 2.0)
    ]
    for count, epsilon in ((12, 2.0), (1_000, 4.0)):
        kept = np.exp(epsilon) / (np.exp(epsilon) + count - 1)
        changed = float((1.0 - kept) * count / (count - 1))  # the library draws from all words, this one too
        loss = pld.from_randomized_response(changed, count, value_discretization_interval=FINE)
        made.append(("randomized-response", count, epsilon, loss))
    rows = [
        {
            "noise": noise,
            "size": size,
            "exponent": exponent,
            "words": words,
            "delta": delta,
            "epsilon": epsilon,
        }
        for noise, size, exponent, loss in made
        for words in WORDS
        for delta in DELTAS
        if (epsilon := round(float(loss.self_compose(words).get_epsilon_for_delta(delta)), 4)) > 0.0
    ]
    FILE.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
