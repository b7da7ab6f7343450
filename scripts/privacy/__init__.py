"""Membership and authorship: docs/experiments/privacy.md."""
