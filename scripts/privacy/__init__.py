"""Membership and authorship: docs/research/privacy.md."""
