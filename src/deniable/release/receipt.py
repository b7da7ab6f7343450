"""The receipt of a run: what was promised, what is public, what was spent; no more than is proven.

``ReleaseSettings`` describe a release before any text is read; receipts, cards and the identity of a job are
views of them. A ``Receipt`` is settings, a ``Tally`` of what went through, and what a stored calibration
says.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deniable.interfaces import NOTHING_EXPOSED, Guarantee, Mechanism
from deniable.release.policies import TextPolicy
from deniable.release.tally import Tally, lower_median
from deniable.report.wording import percent, words
from deniable.version import __version__
from deniable.words.cutter import rules_for

if TYPE_CHECKING:
    from deniable.release.note import Quote

ENDING = ".receipt.json"
"""What the name of a receipt has after the name of the output."""

LONGEST_RECEIPT = 4 << 20

Amount = tuple[float, int]
"""What was spent together: ε summed, and the number of words."""

_NOTHING: Amount = (0.0, 0)

Budget = dict[str, dict[str, float | None] | None]
"""What was spent on the longest and the median of something, by its name: words, and their ε summed."""

ADDED_UP = "the budget adds up all releases of a text. Choosing among them voids the guarantee"

CAVEATS = (
    "The paper claims 'one user, one word'. A record of many words spends ε per word; the budget lines say "
    "how much.",
    "What several texts or rows say of one person adds up. The budget adds up the texts of a row where rows "
    "are known (longest_row), and the rows of a user where a column names the users (longest_user); of other "
    "people with several rows nothing is known here.",
    "The counts, the budget lines and the largest ε of a word come from the private text (its unknown words, "
    "its longest and shortest records) and are not covered by the guarantee: keep this receipt with the data "
    "holder.",
)


def risk_described(share: float) -> dict[str, Any]:
    """Return what choosing ε by a level of risk says, as data and in words."""
    statement = (
        "ε was chosen so that of words as frequent as in English books a reader of single released words "
        f"names at most {percent(share)}, whatever the method, by public counts; words in context and rare "
        "words may be named more often"
    )
    return {"named_at_most": share, "statement": statement}


@dataclass(frozen=True, kw_only=True)
class ReleaseSettings:
    """How text is released. Nothing private, nothing spent.

    ``randomness`` is the source of noise as it describes itself. No record gets more than ``record_epsilon``,
    if there is such a limit. ``risk`` is the share of words named that ε was chosen by, if it was.
    """

    mechanism: Mechanism = field(repr=False)
    policy: TextPolicy
    record_epsilon: float | None
    randomness: Mapping[str, Any]
    risk: float | None = None

    @property
    def mechanism_name(self) -> str:
        """The name of the mechanism's class."""
        return type(self.mechanism).__name__

    @cached_property
    def promised(self) -> Guarantee:
        """What the mechanism guarantees for one word."""
        return self.mechanism.guarantee

    @property
    def word_epsilon(self) -> float:
        """The most that a word gets."""
        return self.promised.epsilon

    @property
    def ceiling(self) -> float | None:
        """The most that a word may get; None if even a record of one word does not reach it."""
        limited = self.record_epsilon is not None and self.record_epsilon <= self.word_epsilon
        return None if limited else self.word_epsilon

    @property
    def seeded(self) -> bool:
        """Whether the noise comes from a seed, which undoes it; two processes would draw the same."""
        return "insecure_seed" in self.randomness

    @property
    def relaxations(self) -> list[str]:
        """What is disclosed beyond the guarantee; empty for the default."""
        relaxations = self.policy.relaxations
        if self.seeded:
            relaxations.append("insecure_seed: whoever knows the seed can undo the noise")
        if self.randomness.get("consistent"):
            relaxations.append(
                "consistent: which words of a user are equal is released exactly, and so how often each "
                "occurs"
            )
        return relaxations

    @cached_property
    def guarantee(self) -> dict[str, Any]:
        """What is promised as data, worded for what is really done."""
        promised, embedding = self.promised, self.mechanism.embedding
        statement = promised.statement
        if protected := len(embedding.protected):
            statement += (
                f" {protected:,} exposed words go in as other words by a public map π of the embedding: π(w) "
                "stands in place of w in all that is said here, so distances are d(π(w), π(w'))."
            )
        if (left_out := embedding.left_out) is not None:
            statement += (
                f" {left_out.count:,} words of a public list ({left_out.listed.digest}) were taken out of "
                "the vocabulary: they go in as unknown words and never come out, and all that is said here "
                "is said of the words that are left and of ⊥."
            )
        if (linear_map := embedding.linear_map) is not None:
            statement += (
                f" The vectors φ are those of the embedding {linear_map.origin.source_fingerprint} under a "
                f"public linear map ({linear_map.digest}): distances between vectors, where the mechanism "
                "has any, are those of the mapped ones."
            )
        if self.relaxations:
            statement = "Between texts that agree in everything listed under relaxations: " + statement
        if self.record_epsilon is not None:
            share = f"{self.record_epsilon:g} divided by the number of words drawn for the record"
            least = share if self.ceiling is None else f"the smaller of {self.ceiling:g} and {share}"
            statement += f" Here ε is {least}."
        return {
            "notion": promised.notion,
            "metric": promised.metric,
            "epsilon": promised.epsilon if self.record_epsilon is None else None,
            "statement": statement,
            "parameters": dict(promised.parameters),
            "exposed": promised.exposed,
        }

    @cached_property
    def embedding(self) -> dict[str, Any]:
        """Which embedding it is, as data."""
        embedding = self.mechanism.embedding
        described = {
            "name": embedding.name,
            "fingerprint": embedding.fingerprint,
            "words": len(embedding),
            "dimension": embedding.dimension,
            "words_that_share_a_vector_and_are_never_released": len(embedding.shadowed),
            "protected_words": len(embedding.protected),
        }
        if embedding.linear_map is not None:
            described["map"] = asdict(embedding.linear_map.origin) | {"digest": embedding.linear_map.digest}
        if (left_out := embedding.left_out) is not None:
            described["never_release"] = {
                "lists": list(left_out.listed.called),
                "digest": left_out.listed.digest,
                "listed_words": len(left_out.listed),
                "words_left_out": left_out.count,
                "source": left_out.source.name,
                "source_fingerprint": left_out.source.fingerprint,
            }
        return described

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON-ready data, under the names that receipts have for them."""
        return {
            "mechanism": self.mechanism_name,
            "guarantee": self.guarantee,
            "epsilon_per_word": self.ceiling,
            "epsilon_per_record": self.record_epsilon,
            **({} if self.risk is None else {"risk": risk_described(self.risk)}),
            "embedding": self.embedding,
            "policy": {**self.policy.choices, "keep_words": len(self.policy.keep_words)},
            "randomness": dict(self.randomness),
        }

    def identity(self) -> dict[str, Any]:
        """Return every setting that released words depend on: a job is recognised by it."""
        keep_words = "\n".join(sorted(self.policy.keep_words)).encode("utf-8", "surrogatepass")
        noise = self.randomness
        return {
            "rules_for_words": rules_for(self.mechanism.embedding),
            "mechanism": self.mechanism_name,
            "epsilon": self.ceiling,
            "record_epsilon": self.record_epsilon,
            "parameters": repr(dict(self.promised.parameters)),
            "embedding": self.mechanism.embedding.fingerprint,
            **self.policy.choices,
            "keep_words": hashlib.blake2b(keep_words, digest_size=8).hexdigest(),
            "randomness": noise["source"],
            "keyed_noise": noise.get("version"),
            "key": noise.get("key"),
            "consistent": noise.get("consistent"),
            **{name: noise[name] for name in ("unicode_tables",) if name in noise},
        }

    def receipt(self, tally: Tally) -> Receipt:
        """Return the receipt for what the tally counted, with what the stored calibration says at this ε.

        :raises DamagedCalibration: if that calibration cannot be read.
        """
        from deniable.release.note import quote_calibration

        quote = quote_calibration(self.mechanism) if self.record_epsilon is None else None
        if quote is not None:
            kept, consistent = len(self.policy.keep_words), bool(self.randomness.get("consistent"))
            quote = quote.with_policies(unknown=self.policy.unknown, kept=kept, consistent=consistent)
        return Receipt(
            settings=self,
            public=tuple(self.policy.public),
            relaxations=tuple(self.relaxations),
            randomness=self.randomness,
            tally=tally,
            created=_now(),
            calibration=quote,
        )


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What a run promised and spent. ``to_dict`` is the JSON that is written beside an output.

    ``public`` and ``relaxations`` also hold what the other columns of a file disclose. ``job`` is a digest of
    where the input lies and of all settings, by which a finished output is recognised. ``files`` are the
    names, sizes and digests of the input and the output, where both are files.
    """

    settings: ReleaseSettings
    public: tuple[str, ...]
    relaxations: tuple[str, ...]
    randomness: Mapping[str, Any]
    tally: Tally
    created: str
    calibration: Quote | None = None
    job: str | None = None
    files: Mapping[str, Any] | None = None

    @property
    def budget(self) -> Budget:
        """The words and the summed ε of the longest and of the median text ("record"), row and user; None
        where these are not known.

        A row is all private texts of a record, in all columns. Users are known where ids name them: no user
        got more than ``longest_user`` says, which is the largest sum itself if it is ``exact``; of people
        named without a key there is the median too. What was spent on a text adds up over its releases.
        """
        tally, users = self.tally, self.tally.users
        wholes = {
            "record": self._spent_on_texts(),
            "row": self._spent_on_rows() if tally.knows_rows else None,
        }
        budget: Budget = {}
        for whole, spent in wholes.items():
            for which, amount in _ends(spent).items():
                budget[f"{which}_{whole}"] = None if amount is None else _spent(*amount)
        budget["longest_user"] = None
        if tally.knows_users:
            budget["longest_user"] = {
                **_spent(*self._spent_on_user(users.largest)),
                "exact": users.exact,
                "users": len(users.counts) if users.exact else None,
            }
            if users.exact and not self.randomness.get("consistent"):
                budget["median_user"] = _spent(*self._spent_on_user(users.median))
        return budget

    def _spent_on_texts(self) -> Counter[Amount]:
        """Return what was spent on texts, over all releases of each."""
        spent: Counter[Amount] = Counter()
        for (length, times), texts in self.tally.releases.items():
            spent[times * self._sum(length), times * length] += texts
        return spent

    def _spent_on_rows(self) -> Counter[Amount]:
        one_text = self.tally.row_texts == self.tally.rows
        spent = self._sum if one_text else lambda words: self.settings.word_epsilon * words
        return Counter({(spent(words), words): rows for words, rows in self.tally.row_lengths.items()})

    def _spent_on_user(self, words: int) -> Amount:
        return self.settings.word_epsilon * words, words

    def _sum(self, words: int) -> float:
        """Return the most that the words of one text got together."""
        spent, most = self.settings.word_epsilon * words, self.settings.record_epsilon
        return spent if most is None else min(most, spent)

    @property
    def largest_epsilon_of_a_word(self) -> float:
        """The most that a word really got: with a budget per record, a word of the shortest one. 0 if no word
        was drawn."""
        most, shortest = self.settings.record_epsilon, self.tally.shortest
        if not shortest:
            return 0.0
        epsilon = self.settings.word_epsilon
        return epsilon if most is None else min(epsilon, most / shortest)

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as JSON-ready data."""
        tally, promised = self.tally, self.settings.to_dict()
        return {
            "deniable": __version__,
            "created": self.created,
            **({} if self.job is None else {"job": self.job}),
            **({} if self.files is None else {"files": dict(self.files)}),
            **{name: promised.pop(name) for name in ("mechanism", "guarantee")},
            **{name: promised.pop(name) for name in ("epsilon_per_word", "epsilon_per_record")},
            "largest_epsilon_of_a_word": self.largest_epsilon_of_a_word,
            **{name: said for name, said in promised.items() if name != "randomness"},
            "public": list(self.public),
            "relaxations": list(self.relaxations),
            "randomness": dict(self.randomness),
            "counts": {
                "records": tally.records,
                "missing_records": tally.missing,
                "words": tally.words,
                "unknown_words": tally.unknown_words,
                "protected_words": tally.protected_words,
                "rows": tally.rows if tally.knows_rows else None,
                **({"released_again": tally.released_again} if tally.released_again else {}),
            },
            "budget": self.budget,
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "caveats": [self.settings.promised.caveat, *CAVEATS],
        }

    def with_tally(self, tally: Tally) -> Receipt:
        """Return the receipt that makes the same promises for other counts, dated today."""
        return replace(self, tally=tally, created=_now())

    def to_json(self) -> str:
        """Return the receipt as indented JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def __repr__(self) -> str:
        return f"<Receipt: {'; '.join(self.summary().splitlines()[:2])}>"

    def _repr_html_(self) -> str:
        from deniable.report.notebook import text_html

        return text_html(self.summary())

    def summary(self) -> str:
        """Return a few lines for the terminal."""
        tally, settings, embedding = self.tally, self.settings, self.settings.embedding
        unknown = 100 * tally.unknown_words / max(tally.words, 1)
        share = f" ({unknown:.1f} % unknown to the embedding)" if tally.words else ""
        lines = [
            f"{tally}, {tally.words:,} words{share}",
            f"{self._spending()}, {settings.mechanism_name} on {embedding['name']} "
            f"({embedding['fingerprint'][:12]})",
            *self._budget_lines(),
        ]
        if settings.risk is not None:
            lines.append(f"risk: {risk_described(settings.risk)['statement']}")
        lines.append(f"public: {'; '.join(self.public)}")
        if (exposed := settings.guarantee["exposed"]) != NOTHING_EXPOSED:
            lines.append(f"exposed: {exposed}")
        if self.calibration is not None:
            lines.append(self.calibration.in_words(settings.word_epsilon))
        if protected := embedding["protected_words"]:
            lines.append(
                f"protected: {protected:,} exposed words of the embedding go in as others "
                f"({tally.protected_words:,} in this text)"
            )
        if (never := embedding.get("never_release")) is not None:
            lists = "".join(f", {name!r} among them" for name in never["lists"])
            lines.append(
                f"never released: {words(never['words_left_out'])} of the vocabulary, by a public list of "
                f"{words(never['listed_words'])} ({never['digest'][:12]}{lists})"
            )
        if (mapped := embedding.get("map")) is not None:
            labels = ", ".join(each["name"] for each in mapped["public"])
            lines.append(
                f"space: {mapped['kind']} from {mapped['source']} ({mapped['source_fingerprint'][:12]}); "
                "distances between vectors are those of this space"
                + (f"; labels as in {labels} survive by design" if labels else "")
            )
        lines += [f"relaxed: {relaxation}" for relaxation in self.relaxations]
        if self.randomness["source"] == "keyed":
            lines.append(f"keyed ({self.randomness['key']}): {self.randomness['repeated']}")
        if settings.seeded:
            lines.append("INSECURE: the noise came from a seed; whoever knows it can undo the noise")
        return "\n".join(lines)

    def _budget_lines(self) -> list[str]:
        """Return what was spent on rows, or on texts where rows are not known, and on users."""
        tally, budget = self.tally, self.budget
        unit, spent, together = "record", self._spent_on_texts(), ""
        if not tally.knows_rows:
            unit, together = "text", " (those of one person add up)"
        elif tally.rows != tally.records:
            unit, spent, together = "row", self._spent_on_rows(), " (its texts in all columns together)"
        (median, _), (longest, _) = lower_median(spent, _NOTHING), max(spent, default=_NOTHING)
        lines = [f"budget: median {unit} Σε = {median:g}, longest {unit} Σε = {longest:g}{together}"]
        if tally.released_again:
            lines.append(f"texts released again: {tally.released_again:,} of {tally.records:,}; {ADDED_UP}")
        if (user := budget["longest_user"]) is not None:
            how = "a bound; there are too many users to count each"
            if user["exact"]:
                how = f"the largest of {user['users']:,} users"
            if (half := budget.get("median_user")) is not None:
                how += f"; the median user Σε = {half['epsilon']:g}"
            lines.append(
                f"budget of a user: Σε of at most {user['epsilon']:g}, for {user['words']:,} words ({how})"
            )
        return lines

    def _spending(self) -> str:
        settings = self.settings
        if settings.record_epsilon is None:
            return f"ε = {settings.word_epsilon:g} per word"
        most = "" if settings.ceiling is None else f" and at most {settings.ceiling:g} per word"
        return (
            f"ε = {settings.record_epsilon:g} per record{most}: a word of the shortest record got "
            f"{self.largest_epsilon_of_a_word:g}"
        )


def _ends(spent: Counter[Amount] | None) -> dict[str, Amount | None]:
    if spent is None:
        return {"longest": None, "median": None}
    return {"longest": max(spent, default=_NOTHING), "median": lower_median(spent, _NOTHING)}


def _spent(epsilon: float, words: int) -> dict[str, float | None]:
    return {"words": words, "epsilon": epsilon}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
