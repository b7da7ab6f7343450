"""Addresses in text: what tells an e-mail or a web address, and how far one goes among letters that no spaces
separate.

Where a script puts no spaces between words, nothing says where a sentence ends and an address begins:
連絡先は山田@example.com. So the whole chunk that holds the address is one word, mostly ⊥, rather than leave known
names behind. It ends early in two places only: at a full stop, comma or closing bracket of these scripts, and
where letters of theirs follow a host that ends in Latin ones, since no domain mixes both: anna@example.jp|です.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Callable, Iterator

import regex

# What makes a host a web address when it follows: a path, a query or a fragment, perhaps after a port.
PATH = r"(?<=\.\p{L}{2,24})(?::\p{N}{1,5})?+(?:/|\?[\w.-]++=|\#(?=\w))"
ADDRESS = regex.compile(
    rf"@|://|(?<!\w)www\.|{PATH}|(?<=\.\p{{L}}{{2,24}}):\p{{N}}{{1,5}}+(?!\w)", regex.IGNORECASE
)
TOP_DOMAINS = r"(?i:com|net|org|edu|gov)"

Spans = Callable[[str, int, int], Iterator[tuple[int, int]]]
"""Yields where each part of a text starts and ends, between two places."""

_PERHAPS = regex.compile(rf"@|://|www\.|\.\p{{L}}{{2,24}}[:/?\#]|\.{TOP_DOMAINS}", regex.IGNORECASE)
_BETWEEN_ENDS = regex.compile(r"[\p{L}\p{N}][^。、」』】〉》〕]*+")
_PATH_MARK = regex.compile(r"(?<!:|:/)/|[?#]")


class Addresses:
    """Finds the addresses of a text that hold letters of scripts without spaces, given as a character
    class."""

    def __init__(self, letters: str) -> None:
        self._letter = regex.compile(letters, regex.V1)
        self._after_host = regex.compile(rf"(?<=\.[A-Za-z]{{2,24}}){letters}\w*+\Z", regex.V1)
        domain = rf"{TOP_DOMAINS}(?![[\p{{L}}\p{{M}}\p{{N}}]--{letters}])"
        # Possessive throughout, as in the plain rules: anything else takes quadratic time.
        self._host = regex.compile(
            rf"(?<![\w.-])(?:[\w-]*+(?:\.(?!{domain})[\w-]*+)*+\.{domain})++", regex.V1
        )
        self._in_label = regex.compile(rf"{letters}\p{{M}}*+\.|\.{letters}", regex.V1)

    def spans(self, text: str, chunks: Spans) -> Iterator[tuple[int, int]]:
        """Yield where each address starts and ends, in order; ``chunks`` yields what the plain rules cut text
        into first."""
        if not _PERHAPS.search(text):
            return
        for begin, end in chunks(text, 0, len(text)):
            if self._letter.search(text, begin, end):
                for part in _BETWEEN_ENDS.finditer(text[begin:end]):
                    for start, stop in self._within(part.group()):
                        if self._letter.search(part.group(), start, stop):
                            yield begin + part.start() + start, begin + part.start() + stop

    def _within(self, part: str) -> Iterator[tuple[int, int]]:
        if ADDRESS.search(part):
            sentence = None if _PATH_MARK.search(part) else self._after_host.search(part)
            yield 0, sentence.start() if sentence else len(part)
            return
        # 私はexample.com: a label that these letters only begin is taken for the end of a sentence and a host.  # noqa: E501
        for host in self._host.finditer(part):
            if self._in_label.search(host.group()):
                yield host.span()
