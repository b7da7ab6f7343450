"""Mechanisms side by side at equal privacy. Their ε do not compare, so ε is chosen for each by what an adversary meets."""

from deniable.comparison.experiment import compare_mechanisms
from deniable.comparison.matching import Target
from deniable.comparison.results import ComparisonResult, read_comparison
from deniable.comparison.settings import ComparisonSettings

__all__ = ["ComparisonResult", "ComparisonSettings", "Target", "compare_mechanisms", "read_comparison"]
