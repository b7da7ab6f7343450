"""What the audits of texts with authors share on the command line: how the texts are read and released, and
whether they are decoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.options import FileOptions, VocabularyOptions

if TYPE_CHECKING:
    from deniable.embeddings.embedding import Embedding
    from deniable.lab.decoded import Decoding
    from deniable.mechanisms.catalogue import ChosenMechanism
    from deniable.records.reading import LabelledTexts


@dataclass(frozen=True, kw_only=True)
class AttackedTextOptions:
    """The texts that an audit releases and attacks, how they are read, and how they are released."""

    text_column: Annotated[
        str, typer.Option("--text-column", "--column", "-c", help="The column that holds the text.")
    ] = "text"
    file: FileOptions
    mechanism: VocabularyOptions

    def open(
        self, data: Path, epsilons: Sequence[float], *, person_column: str, extra: str = "utility"
    ) -> tuple[LabelledTexts, Embedding, ChosenMechanism]:
        """Return the texts, and what they are to be released with; what takes no time is checked first.

        ``extra`` is the extra that brings what the audit needs.

        :raises MissingExtra: if scikit-learn is not installed.
        :raises InvalidParameter: if an option is not allowed.
        :raises EmbeddingNotFound: if the embedding is not installed.
        :raises RecordError: if the texts cannot be read.
        """
        from deniable.parameters import validated_epsilon
        from deniable.records.reading import read_labelled
        from deniable.utility.classifiers import sklearn

        sklearn("svm", extra=extra)
        chosen = self.mechanism.choose()
        for epsilon in epsilons:
            validated_epsilon(epsilon)
        embedding = self.mechanism.open()
        texts = read_labelled(
            data, person_column=person_column, text_column=self.text_column, **self.file.reading()
        )
        return texts, embedding, chosen


@dataclass(frozen=True, kw_only=True)
class DecodedOptions:
    """Whether attackers also decode what they read, and how."""

    decode: Annotated[
        bool,
        typer.Option(help="Attack released text decoded too, as an informed attacker would; takes longer."),
    ] = True
    public: Annotated[
        Path | None,
        typer.Option(
            help="For decoding: a public text file, one document a line, to read words in their context."
        ),
    ] = None
    support: Annotated[
        int, typer.Option(help="For decoding: how many words may have gone in, the most frequent ones.")
    ] = 20_000
    directions: Annotated[
        int,
        typer.Option(
            "--effort",
            help="For decoding: at most how many points are drawn around each of these words, or directions "
            "followed, or draws made.",
        ),
    ] = 300

    def decoding(self) -> Decoding | None:
        """Return how to decode; None if it is not wanted.

        :raises BadParameter: if there is a public text and nothing is decoded.
        :raises InvalidParameter: if a number is not allowed.
        """
        from deniable.lab.decoded import Decoding

        if self.public is not None and not self.decode:
            raise typer.BadParameter("--public is for decoding; leave out --no-decode or --public")
        return (
            Decoding(support=self.support, directions=self.directions, public=self.public)
            if self.decode
            else None
        )
