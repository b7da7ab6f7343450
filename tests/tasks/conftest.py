"""Fixtures of several rooms."""

from __future__ import annotations

from tests.support.made_tasks import installed, questions, reviews, two_kinds

__all__ = ["installed", "questions", "reviews", "two_kinds"]
