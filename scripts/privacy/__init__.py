"""Membership, authorship and linking: docs/research/privacy.md."""
