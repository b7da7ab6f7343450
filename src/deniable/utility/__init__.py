"""What your own labelled texts are still good for after a release: a classifier, with and without
perturbation."""

from deniable.utility.findings import Findings
from deniable.utility.measurement import measure_utility

__all__ = ["Findings", "measure_utility"]
