"""What your own labelled texts are still good for after a release: a classifier, with and without
perturbation.

labelled texts ──► versions ──────► learner ──────────────────────────► scores ──► curve and page texts.py
learning/version  learning/word_classifier, classifier   measurement.py, findings.py, page.py
"""

from deniable.utility.findings import Findings
from deniable.utility.measurement import measure_utility

__all__ = ["Findings", "measure_utility"]
