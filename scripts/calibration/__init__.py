"""Whole embeddings calibrated: docs/experiments/calibration.md."""
