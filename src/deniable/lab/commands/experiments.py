"""``deniable lab compare``: mechanisms side by side at equal privacy; and ``deniable lab reproduce``: the
paper's three downstream tasks, perturbed at training time and at test time."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from deniable.cli.options import (
    Epsilons,
    FileOptions,
    MechanismOptions,
    open_without,
    with_groups,
)
from deniable.cli.terminal import make_table, open_console, print_json, save_json

if TYPE_CHECKING:
    from deniable.lab.comparison import ComparisonResult, ComparisonSettings, Target
    from deniable.lab.tasks.outcomes import TaskOutcome

_WIDTH_OF_FILES = 140


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """How much is drawn, released and decoded.

    :param target -t READING=VALUE: What all have in common: average or worst (N_w), or the success of an
        attacker: adversary (among the words of a sample), named (among all words of the text), context (the
        same, reading in context too; needs --public) or kinds (the kind of a less frequent word). May be
        repeated.
    :param public: A public text, one document per line: the attackers of context and kinds read in context
        with it.
    :param runs: How many times the data is released at each ε, to see the spread.
    :param words: How many words of the text to read privacy on, drawn at random.
    :param seed: The seed of the split, the sample and the readings; releases never use it.
    :param decode: Measure what a receiver gets too, as released and decoded, or leave that out.
    :param decode_words: For decoding: how many words may have gone in, the most frequent ones.
    :param effort: For decoding and attackers: at most how many points are drawn around each word, or
        directions followed, or draws made.
    """

    target: list[str] | None = None
    public: Path | None = None
    runs: int = 2
    words: int = 1_000
    seed: int = 0
    decode: bool = True
    decode_words: int = 10_000
    effort: int = 300

    def settings(self, *, several: bool) -> ComparisonSettings:
        """Return the settings, with the default targets of one embedding or of several.

        :raises InvalidParameter: if a value is not allowed.
        """
        from dataclasses import replace

        from deniable.lab.comparison.readings import (
            ATTACKERS,
            QUICK,
            TARGETS,
            THOROUGH,
            ComparisonSettings,
        )
        from deniable.parameters import validated_count
        from deniable.utility.accuracy import DecodingEffort

        default = ATTACKERS if several else TARGETS
        words = validated_count(self.decode_words, "--decode-words")
        return ComparisonSettings(
            targets=tuple(map(parse_target, self.target)) if self.target else default,
            runs=self.runs,
            words=self.words,
            seed=self.seed,
            quick=replace(QUICK, directions=max(1, self.effort // 5)),
            thorough=replace(THOROUGH, directions=self.effort),
            decoding=DecodingEffort(support=words, directions=self.effort) if self.decode else None,
            public=self.public,
        )


@with_groups
def compare(
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV, TSV, JSON Lines or Parquet with one labelled text per record; may be compressed."
        ),
    ],
    *,
    text: str = "text",
    label: str = "label",
    reading: FileOptions,
    mechanism: list[str] | None = None,
    embedding: list[str] | None = None,
    never_release: list[str] | None = None,
    options: ComparisonOptions,
    train: int | None = None,
    test: int | None = None,
    longest: int | None = None,
    keep: Path | None = None,
    save: Path | None = None,
    report: Path | None = None,
    as_json: bool = False,
    quiet: bool = False,
    device: str = "cpu",  # noqa: ARG001 - its callback sets it
) -> None:
    """Compare mechanisms at equal privacy: ε is chosen for each so that all have the same reading, then text
    is released and used.

    Accuracy is that of a classifier that learns from released text. What somebody gets who has released text
    only is shown as released and decoded; for decoding, what words become is computed at every ε, which may
    take many minutes.

    With several embeddings, mechanisms are compared in all of them, by default at equal success of an
    attacker over all words of the text.

    :param text --text --column -c: The column that holds the text.
    :param label: The column that holds the label of the task.
    :param mechanism -m NAME[:OPTION=VALUE,…]: A mechanism to compare. May be repeated; all by default.
    :param embedding: The name of an installed embedding; the built-in one by default. May be repeated.
    :param train: How many texts to learn from, drawn at random; half of them by default.
    :param test: How many other texts to test on; all the rest by default.
    :param longest: Cut texts after this many words.
    :param keep: A folder for measured numbers: run again to go on where it stopped.
    :param save: Where to write the result as JSON.
    """
    from deniable.atomic import check_place
    from deniable.lab.comparison import compare_mechanisms
    from deniable.lab.comparison.page import comparison_page
    from deniable.mechanisms.catalogue import parse_mechanism
    from deniable.progress import Progress
    from deniable.records.reading import read_labelled
    from deniable.utility.classifiers import sklearn
    from deniable.words.never_release import NeverRelease

    for path in (save, report):
        if path is not None:
            check_place(path)
    sklearn("linear_model", "comparing mechanisms")
    chosen = embedding or ["default"]
    settings = options.settings(several=len(chosen) > 1)
    mechanisms = [parse_mechanism(typed, parameter="--mechanism") for typed in mechanism or ()] or None
    listed = NeverRelease.read(never_release or ())
    opened = [open_without(name, listed) for name in chosen]
    texts = read_labelled(data, label_column=label, text_column=text, called="label", **reading.reading())
    with (
        Progress("comparing", unit="matches") as progress,
        Progress("preparing to decode", unit="words") as preparing,
    ):

        def prepare(done: int, total: int) -> None:
            progress.close()
            preparing.report(done, total)

        result = compare_mechanisms(
            texts,
            opened,
            mechanisms,
            settings=settings,
            train=train,
            test=test,
            longest=longest,
            keep=keep,
            channel_report=None if quiet else prepare,
            report=None if quiet else progress.report,
        )
    if save is not None:
        save_json(save, result.to_dict())
    if report is not None:
        comparison_page(result).write(report)
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result)


def parse_target(typed: str) -> Target:
    """Return a target typed as READING=VALUE.

    :raises InvalidParameter: if there is no such reading, or the value is not a share.
    """
    from deniable.cli.tune import parse_reading
    from deniable.lab.comparison.readings import NAMES, Target

    reading, value = parse_reading(typed, NAMES)
    return Target(reading=reading, value=value)


def _show(result: ComparisonResult) -> None:
    from deniable.lab.comparison.words import columns_of, finding, legend_of, met_and_missed, target_name

    # Nobody makes a file or a pipe wider: there the table is written as wide as it is.
    console = open_console(None if sys.stdout.isatty() else _WIDTH_OF_FILES)
    console.print(finding(result))
    for target in result.targets:
        met, missed = met_and_missed(result, target)
        console.print()
        console.print(make_table(columns_of(result), met, title=target_name(target)))
        for sentence in missed:
            console.print(sentence)
    console.print()
    console.print(legend_of(result))
    for name, why in result.left_out.items():
        console.print(f"Left out: {name}, {why}.")


@dataclass(frozen=True, kw_only=True)
class ExperimentOptions:
    """How much is trained, and where; the names are those of ``deniable.lab.tasks.reproduce``.

    :param runs: How many times to repeat everything, with fresh noise and another model seed.
    :param work: The folder for results.
    :param texts: Use at most this many texts of each part: for a quick look.
    :param epochs: Train for at most this many epochs.
    """

    runs: int = 3
    work: Path = Path("reproduced")
    device: Annotated[str, typer.Option(help="Where to search and train: cpu, or cuda for a GPU.")] = "cpu"
    texts: int | None = None
    epochs: int | None = None
    after_tan: Annotated[
        bool,
        typer.Option(
            "--after-tan",
            help="insuranceqa: train after Tan et al. (2015), as the paper did; the default ranks better.",
        ),
    ] = False


@with_groups
def reproduce(
    task: Annotated[
        Literal["imdb", "enron", "insuranceqa"], typer.Argument(help="The task: imdb, enron or insuranceqa.")
    ],
    *,
    data: Annotated[
        Path, typer.Option(exists=True, help="The data set as it was downloaded: a folder or a file.")
    ],
    epsilon: Epsilons = None,
    mechanism: MechanismOptions,
    at: Literal["train", "test", "both"] = "both",
    experiment: ExperimentOptions,
    results_only: Annotated[
        bool, typer.Option("--results-only", help="Write no figure and no table; a later call can make them.")
    ] = False,
) -> None:
    """Measure what ε costs on one of the paper's tasks: perturb, train, evaluate, draw the curve.

    Finished results are kept, and the same command continues an interrupted run. Without --epsilon, the
    values are those at which an average word stays unchanged in 5, 25, 50, 75, 95 and 99 % of the draws.

    :param at: Perturb at training time, at test time, or both, one after the other.
    """
    from deniable.lab.tasks import reproduce as reproduce_task

    new_results = 0

    def show(outcome: TaskOutcome) -> None:
        nonlocal new_results
        new_results += 1
        scores = ", ".join(f"{name} {value:.4f}" for name, value in outcome.scores.items())
        seconds = sum(outcome.seconds.values())
        typer.echo(
            f"{task}: {outcome.setting.name}: {scores} ({seconds:.0f} s; {new_results} new results)",
            err=True,
        )

    found = reproduce_task(
        task,
        data,
        embedding=mechanism.embedding,
        epsilons=epsilon or (),
        mechanism=mechanism.choose(),
        at=at,
        on_result=show,
        **vars(experiment),
    )
    if results_only:
        typer.echo(f"{len(found.outcomes)} results in {found.folder / 'results'}")
        return
    for path in found.write_curve():
        typer.echo(str(path))
