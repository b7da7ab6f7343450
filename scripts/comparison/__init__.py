"""Mechanisms at equal privacy: docs/experiments/comparison.md."""
