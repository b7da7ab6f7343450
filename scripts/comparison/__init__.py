"""Mechanisms at equal privacy: docs/research/comparison.md."""
