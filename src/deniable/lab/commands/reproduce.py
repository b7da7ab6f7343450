"""``deniable lab reproduce``: the paper's three downstream tasks, perturbed at training time and at test
time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from deniable.cli.options import Epsilons, MechanismOptions, with_groups

if TYPE_CHECKING:
    from deniable.lab.tasks.outcomes import TaskOutcome


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

    Finished results are kept, and the same command goes on where it was interrupted. Without --epsilon, the
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
