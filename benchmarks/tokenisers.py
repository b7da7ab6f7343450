"""Compare tokenisers by the share of words that an embedding does not know, and by speed.

    python -m benchmarks.tokenisers --data ../shared/data

Prints Markdown. A row whose library is missing says "not installed" (pip install nltk tokenizers spacy uniseg
sacremoses). Every candidate sees text prepared the same way, and tokens without a letter or digit are dropped
afterwards.
"""

from __future__ import annotations

import argparse
import bz2
import importlib
import json
import lzma
import time
from collections.abc import Callable, Collection
from functools import partial
from itertools import islice
from pathlib import Path

import regex

from deniable.words.cutter import Tokeniser
from deniable.words.languages import normalise

Words = Callable[[str], list[str]]
Factory = Callable[[Collection[str]], Words]  # public vocabulary -> tokeniser

LETTER_OR_DIGIT = regex.compile(r"[\p{L}\p{N}]")
LETTER = regex.compile(r"\p{L}")


def prepare(text: str) -> str:
    """The product's normalisation, in lower case."""
    return normalise(text).lower()


LETTER_AND_DIGIT = regex.compile(
    r"(?<=\p{L})[^\w\s'@:](?=\p{N})|(?<=\p{N})[^\w\s'@:](?=\p{L})|(?<=\p{L})_(?=\p{N})|(?<=\p{N})_(?=\p{L})"
)


def ours(known: Collection[str], always_split: str = "", *, codes_cut: bool = False) -> Words:
    """The product's tokeniser; the marks in ``always_split`` separate words whatever the vocabulary holds.

    With ``codes_cut``, so does every mark between a letter and a digit.
    """
    tokeniser, spaces = Tokeniser(known), str.maketrans(dict.fromkeys(always_split, " "))
    if codes_cut:
        return lambda text: tokeniser.words(LETTER_AND_DIGIT.sub(" ", text))
    return lambda text: tokeniser.words(text.translate(spaces) if always_split else text)


def library(name: str, kind: str = "") -> Factory:
    """A tokeniser of another library, imported when it is asked for."""

    def build(_: Collection[str]) -> Words:
        module = importlib.import_module(name)
        if name == "nltk.tokenize":
            return partial(getattr(module, kind)().tokenize)
        if name == "spacy":
            tokenizer = module.blank("en").tokenizer
            return lambda text: [token.text for token in tokenizer(text)]
        if name == "uniseg.wordbreak":
            return lambda text: list(module.words(text))
        if name == "sacremoses":
            return partial(module.MosesTokenizer(lang="en").tokenize, escape=False)
        word = r"[\p{L}\p{N}\p{M}]+"
        pattern = rf"{word}(?=n't)|n't|'(?:s|re|ve|ll|d|m)\b|{word}(?:-{word})*"
        make = getattr(module.pre_tokenizers, kind)
        tool = make(module.Regex(pattern), "isolated") if kind == "Split" else make()
        return lambda text: [token for token, _ in tool.pre_tokenize_str(text)]

    return build


CANDIDATES: dict[str, Factory] = {
    "str.split": lambda _: str.split,
    r"regex \w+": lambda _: regex.compile(r"\w+").findall,
    "regex, UAX 29 boundaries": lambda _: regex.compile(r"(?wV1)\b").split,
    "deniable": ours,
    "... hyphens always split": partial(ours, always_split="-"),
    "... points, apostrophes always split": partial(ours, always_split=".'"),
    "... letters always split from digits": partial(ours, codes_cut=True),
    "NLTK Treebank": library("nltk.tokenize", "TreebankWordTokenizer"),
    "NLTK NLTKWord": library("nltk.tokenize", "NLTKWordTokenizer"),
    "NLTK Tweet": library("nltk.tokenize", "TweetTokenizer"),
    "tokenizers Bert": library("tokenizers", "BertPreTokenizer"),
    "tokenizers Whitespace": library("tokenizers", "Whitespace"),
    "tokenizers Split(regex)": library("tokenizers", "Split"),
    "spaCy blank en": library("spacy"),
    "uniseg (UAX 29)": library("uniseg.wordbreak"),
    "sacremoses": library("sacremoses"),
}


def real_words(tokens: list[str]) -> list[str]:
    """The tokens that hold a letter or a digit."""
    return [token for token in tokens if token and LETTER_OR_DIGIT.search(token)]


def texts(path: Path, count: int) -> list[str]:
    """`count` texts spread evenly over a JSON Lines file."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        everything = [json.loads(line)["text"] for line in lines]
    return everything[:: max(1, len(everything) // count)][:count]


def vocabularies(folder: Path) -> dict[str, frozenset[str]]:
    """All of GloVe 6B, its 50,000 most frequent words and short numbers, and the words at hand of GloVe
    840B."""
    with bz2.open(folder / "glove.6B.50d.txt.bz2", "rt", encoding="utf-8", newline="\n") as lines:
        large = [line.split(" ", 1)[0] for line in lines]
    with bz2.open(folder / "glove.840B.300d.34k.w2v.txt.bz2", "rt", encoding="utf-8", newline="\n") as lines:
        other = [line.split(" ", 1)[0] for line in islice(lines, 1, None)]
    default = (word for word in large if LETTER.search(word) or regex.fullmatch("[0-9]{1,4}", word))
    return {"400k": frozenset(large), "50k": frozenset(islice(default, 50_000)), "840B": frozenset(other)}


def measure(factory: Factory, corpora: dict[str, list[str]], known: dict[str, frozenset[str]]) -> list[str]:
    """One row: per corpus the unknown-word rates in per cent and words per text, then words per second."""
    row, total, seconds = [], 0, 0.0
    for documents in corpora.values():
        rates, tokens = list[str](), list[str]()
        for vocabulary in known.values():
            if not tokens or getattr(factory, "func", factory) is ours:  # only ours looks at the vocabulary
                tokenise, began = factory(vocabulary), time.process_time()
                tokens = [token for text in documents for token in real_words(tokenise(prepare(text)))]
                seconds += time.process_time() - began
                total += len(tokens)
            rates.append(f"{100 * sum(token not in vocabulary for token in tokens) / len(tokens):.2f}")
        row.append(f"{' / '.join(rates)} ({len(tokens) / len(documents):.1f})")
    return [*row, f"{total / seconds / 1000:,.0f}k"]


def table(head: list[str], cells: Callable[[Factory], list[str]]) -> None:
    """A Markdown table with one row per candidate."""
    print("\n| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for name, factory in CANDIDATES.items():
        try:
            factory(frozenset())
            row = cells(factory)
        except ImportError:
            row = ["not installed"]
        print("| " + " | ".join([name, *row]) + " |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=shared, help="folder of the shared data")
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the sample to use (1: 5,000 reviews)"
    )
    parser.add_argument(
        "--only", default="", metavar="REGEX", help="candidates whose name matches, e.g. 'regex|spaCy'"
    )
    arguments = parser.parse_args()
    for name in [name for name in CANDIDATES if not regex.search(arguments.only, name)]:
        del CANDIDATES[name]
    data, share = arguments.data / "datasets", arguments.share
    reviews = texts(data / "imdb/imdb_50k.jsonl.xz", int(5000 * share))
    corpora = {
        "IMDb": reviews,
        "IMDb without br": [review.replace("<br />", " ") for review in reviews],
        "Ubuntu IRC": texts(data / "irc_ubuntu/irc_ubuntu_by_user.jsonl.xz", int(20_000 * share)),
        "Enron": texts(data / "enron_pan11/enron_pan11.jsonl.xz", int(2000 * share)),
    }
    known = vocabularies(arguments.data / "embeddings")
    print(f"Unknown words in per cent against the {' / '.join(known)} vocabulary (words per text).")
    table(["tokeniser", *corpora, "words/s"], lambda factory: measure(factory, corpora, known))


if __name__ == "__main__":
    main()
