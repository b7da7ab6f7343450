"""Spaces made for a purpose: docs/research/purpose.md."""
