"""What a calibration says in one small file: for receipts, and for choosing ε without computing anything.

The default embedding has its file in the package; ``deniable calibrate`` of all words writes one beside a stored embedding.
It holds values at some ε only. Between two of them, N_w is quoted at the larger one, since N_w grows with ε; S_w may rise
and fall (at tiny ε all words become the same few), so the smaller of the two values is quoted.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from deniable.embeddings.embedding import Embedding
from deniable.errors import DamagedCalibration, InvalidParameter, TargetsNotMet

FILE_NAME = "calibration.json"


def stored_quote(embedding: Embedding) -> dict[str, Any] | None:
    """Return the file of an embedding's calibration, or None if it was not calibrated.

    :raises DamagedCalibration: if it cannot be read.
    """
    file = (resources.files("deniable.embeddings") / "data" if embedding.folder is None else embedding.folder) / FILE_NAME
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return content if content["fingerprint"] == embedding.fingerprint else None
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedCalibration(str(file), f"cannot be read ({error})") from error


def quoted(embedding: Embedding, epsilon: float) -> dict[str, Any] | None:
    """Return what a receipt says of the words at this ε: N_w and S_w, median, 95 % and worst; None if it is not known."""
    epsilon = float(epsilon)
    content = stored_quote(embedding)
    place = None if content is None else next((i for i, row in enumerate(content["table"]) if row["epsilon"] >= epsilon), None)
    if content is None or place is None:
        return None
    row = content["table"][place]
    return {
        "at_epsilon": row["epsilon"],
        "unchanged": {key: row["unchanged"][key] for key in ("median", "95%", "worst")},
        "support": _smaller(content["table"], epsilon, "support"),
        "distinct_in_one_draw_per_ray": _smaller(content["table"], epsilon, "distinct"),
        "rays": content["rays"],
        "words": content["words"],
        "words_for_support": content.get("words_for_support"),
    }


def _smaller(table: list[dict[str, Any]], epsilon: float, name: str) -> dict[str, float] | None:
    """Return the smaller of the values at the nearest ε on both sides where they are known."""
    below, above = ([row for row in table if name in row and side(row["epsilon"])] for side in (epsilon.__ge__, epsilon.__le__))
    if not above:
        return None
    around = [*below[-1:], above[0]] if above[0]["epsilon"] != epsilon else above[:1]
    return {key: min(row[name][key] for row in around) for key in ("median", "95%", "worst")}


def largest_epsilon(embedding: Embedding, max_unchanged: float, quantile: float = 1.0) -> float:
    """Return the largest ε of the stored calibration at which a share of the words stays itself at most so often.

    :raises InvalidParameter: if the embedding was not calibrated, or a number is not allowed.
    :raises TargetsNotMet: if no ε in the file does.
    """
    if not 0.0 < max_unchanged < 1.0:
        raise InvalidParameter("max_unchanged", max_unchanged, "must lie between 0 and 1, such as 0.5")
    content = stored_quote(embedding)
    if content is None:
        problem = f"the embedding {embedding.name!r} is not calibrated; run: deniable calibrate --embedding {embedding.name}"
        raise InvalidParameter("max_unchanged", max_unchanged, problem)
    known = [float(key) for key in content["table"][0]["unchanged_quantiles"]]
    if quantile not in known:
        raise InvalidParameter("quantile", quantile, f"must be one the calibration holds: {', '.join(f'{q:g}' for q in known)}")
    met = [
        row["epsilon"]
        for row in content["table"]
        if {float(key): value for key, value in row["unchanged_quantiles"].items()}[quantile] <= max_unchanged
    ]
    if not met:
        smallest = content["table"][0]
        raise TargetsNotMet(
            f"at the smallest ε calibrated, {smallest['epsilon']:g}, some words still stay themselves more often than "
            f"{max_unchanged:g}; ask for fewer words (--quantile), or protect the exposed ones: deniable calibrate --protect"
        )
    return float(max(met))
