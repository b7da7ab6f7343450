"""``deniable utility``: what ε costs a classifier on your own labelled texts."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.audit.options import DataFile, EmbeddingName, Quiet
from deniable.cli.mechanism import Name as MechanismName
from deniable.cli.mechanism import Options as MechanismOptions
from deniable.cli.options import Delimiter, Encoding, Format, Header

if TYPE_CHECKING:
    from deniable.embeddings.embedding import Embedding
    from deniable.learning.version import Learner
    from deniable.utility.findings import Findings


class Model(StrEnum):
    """What learns."""

    linear = "linear"
    bilstm = "bilstm"


def utility(
    data: DataFile,
    text: Annotated[str, typer.Option("--text", "--column", "-c", help="The column that holds the text.")],
    label: Annotated[str, typer.Option(help="The column that holds the class: text or whole numbers.")],
    epsilon: Annotated[list[float] | None, typer.Option("--epsilon", "-e", help="A value of ε. May be repeated.")] = None,
    format_: Format = None,
    delimiter: Delimiter = None,
    header: Header = True,
    encoding: Encoding = "utf-8",
    embedding: EmbeddingName = "default",
    mechanism: MechanismName = "multivariate",
    mechanism_options: MechanismOptions = None,
    model: Annotated[Model, typer.Option(help="TF-IDF with logistic regression, or the biLSTM of the paper (slow).")] = Model.linear,
    runs: Annotated[int, typer.Option(help="How often everything is repeated, with fresh noise and another split.")] = 3,
    held_out: Annotated[float, typer.Option(help="The share of every class that is judged and not learnt from.")] = 0.25,
    texts: Annotated[int | None, typer.Option(help="Take only so many texts, drawn at random: a quick look.")] = None,
    acceptable_loss: Annotated[float, typer.Option(help="The loss of accuracy that is fine, for the advice in the result.")] = 0.02,
    device: Annotated[str, typer.Option(help="Where the biLSTM is trained: cpu, or cuda for a GPU.")] = "cpu",
    report: Annotated[Path | None, typer.Option(help="Where to write the page; without it DATA-utility.html, here.")] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for the curve (PNG, SVG) and the table (Markdown).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines; a page is written with --report only.")] = False,
    quiet: Quiet = False,
) -> None:
    """Measure what ε costs on your own labelled texts: learn from released and from original text, judge both, draw the curve.

    Without --epsilon, the values are those at which an average word stays itself in 5, 25, 50, 75, 95 and 99 % of the draws.
    Nothing of the releases is kept.
    """
    from deniable.calibration.matching import SHARES, AverageUnchanged
    from deniable.cli.mechanism import parse_options
    from deniable.embeddings.embedding import Embedding
    from deniable.learning.summary import points_of
    from deniable.mechanisms.chosen import ChosenMechanism
    from deniable.neighbours.threads import threads
    from deniable.parameters import validated_count, validated_epsilon, validated_share
    from deniable.progress import Progress
    from deniable.report.place import check_place
    from deniable.utility.findings import Findings
    from deniable.utility.measurement import majority_of, measure
    from deniable.utility.texts import read_classified

    runs, held_out = validated_count(runs, "runs"), validated_share(held_out, "held_out", below_one=True)
    acceptable_loss = validated_share(acceptable_loss, "acceptable_loss")
    epsilons = sorted({validated_epsilon(e) for e in epsilon or ()})
    selected = ChosenMechanism(name=mechanism, options=parse_options(mechanism, mechanism_options))
    if report is None and not as_json:
        report = Path(f"{data.name.partition('.')[0]}-utility.html")
    if report is not None:
        check_place(report)
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    classified = read_classified(
        data, text_column=text, label_column=label, most=texts, format=format_, delimiter=delimiter, header=header, encoding=encoding
    )
    space = Embedding.open(embedding)
    learner = _learner(model, space, device)
    average = AverageUnchanged(space, selected)
    epsilons = epsilons or sorted({average.epsilon(share) for share in SHARES})
    mechanisms = {value: selected(space, epsilon=value) for value in epsilons}
    with Progress("releasing and learning", total=runs * len(epsilons), unit="releases") as progress:
        tell = None if quiet else lambda: progress.advance(1)
        outcomes = measure(classified, mechanisms, learner, runs=runs, held_out=held_out, threads=threads(), tell=tell)
    found = Findings(
        points=points_of(outcomes),
        unchanged={value: average.at(value) for value in epsilons},
        majority=majority_of(classified.labels, held_out, runs=runs),
        acceptable_loss=acceptable_loss,
        about={
            "texts": len(classified.texts),
            "classes": classified.classes,
            "left_out": classified.left_out,
            "model": learner.name,
            "mechanism": mechanism,
            "mechanism_options": selected.identity(space)["parameters"],
            "embedding": {"name": space.name, "fingerprint": space.fingerprint, "words": len(space), "dimension": space.dimension},
            "runs": runs,
            "held_out": held_out,
            "average_unchanged_from": average.source,
        },
    )
    _write(found, report, figures)
    print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False) if as_json else found.table(), end="\n" if as_json else "")
    if report is not None and not as_json:
        typer.echo(f"The curve and what it means: {report}")


def _learner(model: Model, embedding: Embedding, device: str) -> Learner:
    from deniable.errors import MissingExtra

    if model is Model.linear:
        from deniable.learning.linear import LinearLearner

        return LinearLearner()
    try:
        from deniable.learning.bilstm import BiLstmLearner
    except ImportError as error:
        raise MissingExtra("the biLSTM", "experiments") from error
    return BiLstmLearner(embedding, device=device)


def _write(found: Findings, report: Path | None, figures: Path | None) -> None:
    from deniable.atomic import write_whole
    from deniable.utility.page import utility_figure, utility_page

    if report is not None:
        utility_page(found).write(report)
    if figures is not None:
        from deniable.report.figure import save

        save(utility_figure(found), figures, "utility")
        write_whole(figures / "utility.md", found.table())
