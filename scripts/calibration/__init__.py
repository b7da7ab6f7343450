"""Whole embeddings calibrated: docs/research/calibration.md."""
