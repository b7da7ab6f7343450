"""The receipt of a run: what was promised, what is public, what was spent; no more than is proven."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from deniable.interfaces import NOTHING_EXPOSED, RATE_PER_DISTANCE, Guarantee, Mechanism
from deniable.text.note import Quote, quote_calibration
from deniable.text.policies import TextPolicy
from deniable.text.tally import Tally
from deniable.version import __version__

CAVEATS = (
    "The paper claims 'one user, one word'. A record of many words spends ε per word; the budget lines say how much.",
    "The counts, the budget lines and the largest ε of a word come from the private text (its unknown words, its longest and shortest "
    "records) and are not covered by the guarantee: keep this receipt with the data holder.",
)


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What a run promised and spent. ``to_dict`` is the JSON that is written beside an output.

    No word got more than ``word_epsilon``, and no record more than ``record_epsilon`` if there is one.
    """

    mechanism: str
    guarantee: Mapping[str, Any]
    embedding: Mapping[str, Any]
    policy: Mapping[str, Any]
    public: tuple[str, ...]
    relaxations: tuple[str, ...]
    randomness: Mapping[str, Any]
    record_epsilon: float | None
    word_epsilon: float
    tally: Tally
    created: str
    caveat: str = RATE_PER_DISTANCE
    calibration: Quote | None = None

    @property
    def ceiling(self) -> float | None:
        """The most that a word may get; None if a budget per record alone limits it."""
        return None if _unlimited(self.word_epsilon, self.record_epsilon) else self.word_epsilon

    @property
    def budget(self) -> dict[str, dict[str, float]]:
        """The words and the summed ε of the longest and of the median record."""
        budget = {}
        for which, words in (("longest_record", self.tally.longest), ("median_record", self.tally.median)):
            spent = self.word_epsilon * words
            budget[which] = {"words": words, "epsilon": spent if self.record_epsilon is None else min(self.record_epsilon, spent)}
        return budget

    @property
    def largest_epsilon_of_a_word(self) -> float:
        """The most that a word really got: with a budget per record, a word of the shortest one. 0 if no word was drawn."""
        if not self.tally.shortest:
            return 0.0
        return self.word_epsilon if self.record_epsilon is None else min(self.word_epsilon, self.record_epsilon / self.tally.shortest)

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as JSON-ready data."""
        tally = self.tally
        return {
            "deniable": __version__,
            "created": self.created,
            "mechanism": self.mechanism,
            "guarantee": dict(self.guarantee),
            "epsilon_per_word": self.ceiling,
            "epsilon_per_record": self.record_epsilon,
            "largest_epsilon_of_a_word": self.largest_epsilon_of_a_word,
            "embedding": dict(self.embedding),
            "policy": dict(self.policy),
            "public": list(self.public),
            "relaxations": list(self.relaxations),
            "randomness": dict(self.randomness),
            "counts": {
                "records": tally.records,
                "missing_records": tally.missing,
                "words": tally.words,
                "unknown_words": tally.unknown_words,
                "protected_words": tally.protected_words,
            },
            "budget": self.budget,
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "caveats": [self.caveat, *CAVEATS],
        }

    def to_json(self) -> str:
        """Return the receipt as indented JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def summary(self) -> str:
        """Return a few lines for the terminal."""
        tally = self.tally
        share = f" ({tally.unknown_words / tally.words:.1%} unknown to the embedding)" if tally.words else ""
        budget = self.budget
        lines = [
            f"{tally.records:,} records, {tally.words:,} words{share}",
            f"{self._spending()}, {self.mechanism} on {self.embedding['name']} ({self.embedding['fingerprint'][:12]})",
            "budget: median record Σε = {:g}, longest record Σε = {:g}".format(
                budget["median_record"]["epsilon"], budget["longest_record"]["epsilon"]
            ),
            f"public: {'; '.join(self.public)}",
        ]
        if (exposed := self.guarantee["exposed"]) != NOTHING_EXPOSED:
            lines.append(f"exposed: {exposed}")
        if self.calibration is not None:
            stays = self.calibration.unchanged
            lines.append(
                f"calibration: words stay themselves with N_w = {stays.median:.3f} (median), {stays.most:.3f} (95 %), "
                f"{stays.worst:.3f} (worst of {self.calibration.words:,} words)"
            )
        if protected := self.embedding["protected_words"]:
            lines.append(
                f"protected: {protected:,} exposed words of the embedding go in as others ({tally.protected_words:,} in this text)"
            )
        lines += [f"relaxed: {relaxation}" for relaxation in self.relaxations]
        if self.randomness["source"] == "keyed":
            lines.append(f"keyed ({self.randomness['key']}): {self.randomness['repeated']}")
        if "insecure_seed" in self.randomness:
            lines.append("INSECURE: the noise came from a seed; whoever knows it can undo the noise")
        return "\n".join(lines)

    def _spending(self) -> str:
        if self.record_epsilon is None:
            return f"ε = {self.word_epsilon:g} per word"
        most = "" if self.ceiling is None else f" and at most {self.ceiling:g} per word"
        return f"ε = {self.record_epsilon:g} per record{most}: a word of the shortest record got {self.largest_epsilon_of_a_word:g}"


def make_receipt(
    mechanism: Mechanism, policy: TextPolicy, randomness: Mapping[str, Any], tally: Tally, *, record_epsilon: float | None
) -> Receipt:
    """Return the receipt for what the tally counted."""
    embedding, promised = mechanism.embedding, mechanism.guarantee
    relaxations = policy.relaxations
    if "insecure_seed" in randomness:
        relaxations.append("insecure_seed: whoever knows the seed can undo the noise")
    if randomness.get("consistent"):
        relaxations.append("consistent: which words of a user are equal is released exactly, and so how often each occurs")
    return Receipt(
        mechanism=type(mechanism).__name__,
        guarantee=_guarantee(
            promised,
            relaxed=bool(relaxations),
            word_epsilon=promised.epsilon,
            record_epsilon=record_epsilon,
            protected=len(embedding.protected),
        ),
        embedding={
            "name": embedding.name,
            "fingerprint": embedding.fingerprint,
            "words": len(embedding),
            "dimension": embedding.dimension,
            "words_that_share_a_vector_and_are_never_released": len(embedding.shadowed),
            "protected_words": len(embedding.protected),
        },
        policy={
            "unknown": policy.unknown,
            "punctuation": policy.punctuation,
            "case": policy.case,
            "keep_words": len(policy.keep_words),
        },
        public=tuple(policy.public),
        relaxations=tuple(relaxations),
        randomness=randomness,
        record_epsilon=record_epsilon,
        word_epsilon=promised.epsilon,
        tally=tally,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        caveat=promised.caveat,
        calibration=quote_calibration(mechanism) if record_epsilon is None else None,
    )


def _unlimited(word_epsilon: float, record_epsilon: float | None) -> bool:
    """Return whether ε per word is no limit beside the budget: even a record of one word does not reach it."""
    return record_epsilon is not None and record_epsilon <= word_epsilon


def _guarantee(promised: Guarantee, *, relaxed: bool, word_epsilon: float, record_epsilon: float | None, protected: int) -> dict[str, Any]:
    """Return what is promised as data, worded for what was really done."""
    statement = promised.statement
    if protected:
        statement += (
            f" {protected:,} exposed words go in as other words by a public map π of the embedding: π(w) stands in place of w in all "
            "that is said here, so distances are d(π(w), π(w'))."
        )
    if relaxed:
        statement = "Between texts that agree in everything listed under relaxations: " + statement
    if record_epsilon is not None:
        share = f"{record_epsilon:g} divided by the number of words drawn for the record"
        statement += f" Here ε is {share if _unlimited(word_epsilon, record_epsilon) else f'the smaller of {word_epsilon:g} and {share}'}."
    return {
        "notion": promised.notion,
        "metric": promised.metric,
        "epsilon": promised.epsilon if record_epsilon is None else None,
        "statement": statement,
        "parameters": dict(promised.parameters),
        "exposed": promised.exposed,
    }
