"""Spaces made for a purpose: docs/experiments/purpose.md."""
