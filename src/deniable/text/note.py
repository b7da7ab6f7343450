"""What a calibration says in one small file: for receipts, and for choosing ε without computing anything.

The default embedding has its file in the package; ``deniable calibrate`` of all words writes one beside a stored embedding. Mechanisms
other than the paper's have a file for each choice of their options, among the calibrations that are kept.
It holds values at some ε only. Between two of them, the less favourable value is quoted. N_w grows with ε, so that is the one at the
larger ε, but for protected words, which may come out themselves less often then; S_w may rise and fall (at tiny ε all words
become the same few), so the smaller of the two values is quoted.
"""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from deniable.errors import DamagedCalibration, InvalidParameter, TargetsNotMet
from deniable.interfaces import Mechanism
from deniable.mechanisms.chosen import identity_of, is_papers_mechanism

FILE_NAME = "calibration.json"


def quote_place(mechanism: Mechanism) -> Path | None:
    """Return where the calibration of a mechanism over its embedding is noted; None for what comes with the package."""
    embedding = mechanism.embedding
    if is_papers_mechanism(mechanism):
        return None if embedding.folder is None else embedding.folder / FILE_NAME
    from deniable.embeddings.calibrations import calibrations_of  # platformdirs is loaded when it is needed

    identity = json.dumps(identity_of(mechanism), sort_keys=True)
    return calibrations_of(embedding) / f"{hashlib.blake2b(identity.encode(), digest_size=8).hexdigest()}-{FILE_NAME}"


def stored_quote(mechanism: Mechanism) -> dict[str, Any] | None:
    """Return the note of a mechanism's calibration over its embedding, at whatever ε, or None if it was not calibrated.

    :raises DamagedCalibration: if it cannot be read.
    """
    file: Traversable | None = quote_place(mechanism)
    if file is None:
        file = resources.files("deniable.embeddings") / "data" / FILE_NAME
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        known = content["fingerprint"] == mechanism.embedding.fingerprint
        _check(content)
        # The paper's mechanism is not named in its files.
        return content if known and content.get("mechanism", identity_of(mechanism)) == identity_of(mechanism) else None
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None  # somebody else's private note of a shared embedding must not keep others from releasing with it
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedCalibration(str(file), f"cannot be read ({error})") from error


def _check(content: dict[str, Any]) -> None:
    """Do nothing if the note holds what is read from it.

    :raises ValueError: or KeyError, TypeError or AttributeError, if it does not.
    """
    if not content["table"]:
        raise ValueError("it has no values")
    shares = [row["unchanged"][key] for row in content["table"] for key in ("median", "95%", "worst")]
    shares += [share for row in content["table"] for share in row["unchanged_quantiles"].values()]
    quantiles = [[float(key) for key in row["unchanged_quantiles"]] for row in content["table"]]
    epsilons = [row["epsilon"] for row in content["table"]]
    if not all(0.0 <= share <= 1.0 for share in shares) or any(each != quantiles[0] for each in quantiles):
        raise ValueError("N_w is not there, or not between 0 and 1")
    if not all(epsilon > 0.0 for epsilon in epsilons) or epsilons != sorted(epsilons) or content["rays"] < 1 or content["words"] < 1:
        raise ValueError("a number is not allowed")


def quoted(mechanism: Mechanism) -> dict[str, Any] | None:
    """Return what a receipt says of the words at the mechanism's ε: N_w and S_w, median, 95 % and worst; None if it is not known."""
    content, epsilon = stored_quote(mechanism), float(mechanism.epsilon)
    place = None if content is None else next((i for i, row in enumerate(content["table"]) if row["epsilon"] >= epsilon), None)
    if content is None or place is None:
        return None
    row = content["table"][place]
    around = content["table"][max(0, place - (row["epsilon"] > epsilon)) : place + 1]
    return {
        "at_epsilon": row["epsilon"],
        "unchanged": {key: max(each["unchanged"][key] for each in around) for key in ("median", "95%", "worst")},
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


def largest_epsilon(mechanism: Mechanism, max_unchanged: float, quantile: float = 1.0) -> float:
    """Return the largest ε of the stored calibration of a mechanism at which a share of the words stays itself at most so often.

    :raises InvalidParameter: if the embedding was not calibrated for it, or a number is not allowed.
    :raises TargetsNotMet: if no ε in the file does.
    """
    if not 0.0 < max_unchanged < 1.0:
        raise InvalidParameter("max_unchanged", max_unchanged, "must lie between 0 and 1, such as 0.5")
    content = stored_quote(mechanism)
    if content is None:
        raise InvalidParameter("max_unchanged", max_unchanged, _not_calibrated(mechanism))
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


def _not_calibrated(mechanism: Mechanism) -> str:
    name, command = mechanism.embedding.name, f"deniable calibrate --embedding {mechanism.embedding.name}"
    if is_papers_mechanism(mechanism):
        return f"the embedding {name!r} is not calibrated; run: {command}"
    options = "".join(f", {key} = {value}" for key, value in mechanism.guarantee.parameters.items())
    return (
        f"the embedding {name!r} is not calibrated for {type(mechanism).__name__}{options}; run: {command} --mechanism … with the same "
        "options, for all words"
    )
