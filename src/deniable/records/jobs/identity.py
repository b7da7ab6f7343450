"""What a job is recognised by: a partial output may only be continued by the very job that began it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deniable.errors import ResumeError
from deniable.records.formats.layout import Layout
from deniable.records.formats.source import Source
from deniable.text.privatizer import Privatizer
from deniable.version import __version__
from deniable.words.tokens import RULES


def identity_of(private: Privatizer, source: Source, layout: Layout) -> dict[str, Any]:
    """Return the input and every setting that the output depends on, as JSON-ready data without private text."""
    return {"deniable": __version__, **(source.identity() or {"input": source.name}), **_settings(private, layout)}


def settings_digest(private: Privatizer, layout: Layout) -> str:
    """Return a digest of every setting that the output depends on: with a key, equal digests and records give equal words."""
    settings = json.dumps(_settings(private, layout), sort_keys=True).encode()
    return hashlib.blake2b(settings, digest_size=16).hexdigest()


def _settings(private: Privatizer, layout: Layout) -> dict[str, Any]:
    receipt = private.receipt()
    keep_words = "\n".join(sorted(private.policy.keep_words)).encode("utf-8", "surrogatepass")
    return {
        **layout.to_dict(),
        "rules_for_words": RULES,
        "mechanism": receipt.mechanism,
        "epsilon": receipt.ceiling,
        "record_epsilon": private.record_epsilon,
        "parameters": repr(receipt.guarantee["parameters"]),
        "embedding": receipt.embedding["fingerprint"],
        "unknown": private.policy.unknown,
        "punctuation": private.policy.punctuation,
        "case": private.policy.case,
        "keep_words": hashlib.blake2b(keep_words, digest_size=8).hexdigest(),
        "randomness": receipt.randomness["source"],
        "key": receipt.randomness.get("key"),
        "consistent": receipt.randomness.get("consistent"),
    }


def check_identity(begun: Mapping[str, Any], now: Mapping[str, Any], partial: Path) -> None:
    """Do nothing if both are the same job.

    :raises ResumeError: if not, with every setting that differs.
    """
    differing = [key for key in {**begun, **now} if begun.get(key) != now.get(key)]
    if differing:
        settings = "; ".join(f"{key} was {begun.get(key)!r} and is {now.get(key)!r}" for key in differing)
        raise ResumeError(partial, f"belongs to another job: {settings}. Use the same settings, or start over with --force")
