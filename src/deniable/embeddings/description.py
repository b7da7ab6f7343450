"""What is known about an embedding, as flat facts to show or to print as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from deniable.embeddings.store import DEFAULT, StoredInfo


def described(info: StoredInfo) -> dict[str, Any]:
    """Return the facts of an installed embedding; a damaged one has its ``problem`` instead of most of them."""
    facts: dict[str, Any] = {"name": info.name}
    if info.meta is not None:
        facts |= {key: value for key, value in msgspec.to_builtins(info.meta).items() if key not in ("name", "format_version")}
    if info.problem is not None:
        facts["problem"] = info.problem
    return facts | {"size": info.size, "folder": info.folder}


def described_default() -> dict[str, Any]:
    """Return the facts of the embedding that comes with the package, under the same names."""
    from deniable.embeddings.default import default_info

    known = default_info()
    source = known["source"]
    return {
        "name": DEFAULT,
        "words": known["words"],
        "dimension": known["dimension"],
        "fingerprint": known["fingerprint"],
        "cased": known["cased"],
        "shadowed": len(known["shadowed"]),
        "source": known["title"],
        "source_sha256": source["sha256"],
        "licence": source["licence"],
        "size": None,
        "folder": None,
    }
