"""What happens to unknown words, punctuation, case and listed words, and what each choice discloses.

The default discloses the number of words of a text and nothing else. Every other choice is made by name and is written
in the receipt. There is no choice that lets an unknown word through.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from deniable.errors import InvalidParameter

UnknownPolicy = Literal["perturb", "subwords", "redact", "drop", "error"]
PunctuationPolicy = Literal["drop", "keep"]
CasePolicy = Literal["drop", "keep"]

REDACTED = "[redacted]"


@dataclass(frozen=True, kw_only=True)
class TextPolicy:
    """How text is treated around the mechanism.

    ``unknown``: "perturb" treats every unknown word as ⊥ and perturbs it like any word; "subwords" (fastText
    embeddings) perturbs it as the known word its spelling is nearest to; "redact" writes a fixed token; "drop" leaves
    it out; "error" stops. ``punctuation`` and ``case``: "drop" or "keep". ``keep_words``: words of the
    vocabulary to release as they are; a listed word that the vocabulary does not hold is unknown all the same, and an entry
    that a text is cut into several words at ("new york", "don't") is refused.
    """

    unknown: UnknownPolicy = "perturb"
    punctuation: PunctuationPolicy = "drop"
    case: CasePolicy = "drop"
    keep_words: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        _one_of("unknown", self.unknown, get_args(UnknownPolicy))
        _one_of("punctuation", self.punctuation, get_args(PunctuationPolicy))
        _one_of("case", self.case, get_args(CasePolicy))
        words = self.keep_words
        if isinstance(words, str) or not isinstance(words, Iterable) or not all(isinstance(word, str) for word in words):
            raise InvalidParameter("keep_words", self.keep_words, "must be a collection of words")
        object.__setattr__(self, "keep_words", frozenset(self.keep_words))

    @property
    def public(self) -> list[str]:
        """What of the input anyone can read off the output by design."""
        public = ["the number of words of each record (texts of equal length are compared)", "which records are missing (null) or empty"]
        if self.unknown == "drop":
            public[0] = "the number of known words of each record"
        return public

    @property
    def relaxations(self) -> list[str]:
        """What the chosen policies disclose beyond the guarantee; empty for the default."""
        found = []
        if self.unknown == "subwords":
            found.append(
                "unknown='subwords': an unknown word is perturbed as the known word its spelling is nearest to; "
                "the bound holds between those known words, and unknown words are not all alike any more"
            )
        if self.unknown == "redact":
            found.append("unknown='redact': the positions of unknown words are released exactly")
        if self.unknown == "error":
            found.append("unknown='error': that there is an output says that every word was known")
        if self.unknown == "drop":
            found.append("unknown='drop': the number of words released is the number of known words, not of all words")
        if self.punctuation == "keep":
            found.append("punctuation='keep': punctuation marks and their positions are released exactly")
        if self.case == "keep":
            found.append("case='keep': which words were capitalised or upper case is released exactly")
        if self.keep_words:
            found.append(
                f"keep_words: of {len(self.keep_words):,} listed words, those in the vocabulary are released exactly wherever they occur"
            )
        return found


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidParameter(name, value, f"must be one of {', '.join(allowed)}")
