"""Mechanisms side by side at equal privacy. Their ε do not compare, so ε is chosen for each by what an
attacker reaches."""

from deniable.lab.comparison.comparison import compare_mechanisms
from deniable.lab.comparison.readings import ComparisonSettings, Target
from deniable.lab.comparison.results import ComparisonResult, read_comparison

__all__ = ["ComparisonResult", "ComparisonSettings", "Target", "compare_mechanisms", "read_comparison"]
