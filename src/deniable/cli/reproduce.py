"""``deniable reproduce``: the paper's three downstream tasks, perturbed at training time and at test time."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from deniable.cli.mechanism import Name as MechanismName
from deniable.cli.mechanism import Options as MechanismOptions


class Name(StrEnum):
    """The tasks."""

    imdb = "imdb"
    enron = "enron"
    insuranceqa = "insuranceqa"


class At(StrEnum):
    """Where text is perturbed."""

    train = "train"
    test = "test"
    both = "both"


def reproduce(
    task: Annotated[Name, typer.Argument(help="The task: imdb, enron or insuranceqa.")],
    data: Annotated[Path, typer.Option(help="The data set as it was downloaded: a folder or a file.")],
    embedding: Annotated[str, typer.Option(help="The name of an installed embedding.")] = "default",
    epsilon: Annotated[list[float] | None, typer.Option("--epsilon", "-e", help="A value of ε. May be repeated.")] = None,
    mechanism: MechanismName = "multivariate",
    mechanism_option: MechanismOptions = None,
    at: Annotated[At, typer.Option(help="Perturb at training time, at test time, or both, one after the other.")] = At.both,
    runs: Annotated[int, typer.Option(help="How often everything is repeated, with fresh noise and another model seed.")] = 3,
    work: Annotated[Path, typer.Option(help="Where results, perturbed text and models are kept.")] = Path("reproduced"),
    device: Annotated[str, typer.Option(help="Where to search and train: cpu, or cuda for a GPU.")] = "cpu",
    jobs: Annotated[int, typer.Option(help="How many models are trained at once.")] = 1,
    texts: Annotated[int | None, typer.Option(help="Take only so many texts of each part: a quick look.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Train for so many epochs at most.")] = None,
    after_tan: Annotated[
        bool, typer.Option("--after-tan", help="insuranceqa: train after Tan et al. (2015), as the paper did; the default ranks better.")
    ] = False,
    results_only: Annotated[bool, typer.Option("--results-only", help="No figure and no table: a later call makes them.")] = False,
) -> None:
    """Measure what ε costs on one of the paper's tasks: perturb, train, evaluate, draw the curve.

    What is finished is kept, and the same command goes on where it was interrupted. Without --epsilon, the values are
    those at which an average word stays itself in 5, 25, 50, 75, 95 and 99 % of the draws.
    """
    from deniable.cli.mechanism import parse_options
    from deniable.errors import MissingExtra
    from deniable.mechanisms.chosen import ChosenMechanism
    from deniable.neighbours import set_device
    from deniable.neighbours.threads import threads
    from deniable.parameters import validated_count, validated_epsilon
    from deniable.tasks.experiment.setting import Place, Setting, settings_of

    try:
        from deniable.tasks.experiment.reproduction import prepare
        from deniable.tasks.experiment.run import run_settings
    except ImportError as error:
        raise MissingExtra("training models", "experiments") from error

    runs, jobs = validated_count(runs, "runs"), validated_count(jobs, "jobs")
    selected = ChosenMechanism(name=mechanism, options=parse_options(mechanism, mechanism_option))
    epsilons = [validated_epsilon(e) for e in epsilon or ()]
    if not data.exists():
        raise typer.BadParameter(f"there is no {data}", param_hint="--data")
    if after_tan and task is not Name.insuranceqa:
        raise typer.BadParameter(f"Tan et al. trained for insuranceqa; {task.value} has one recipe", param_hint="--after-tan")
    if device != "cpu":
        set_device(device)
    on_processor = device == "cpu"
    bench, loaded = prepare(
        task,
        data,
        embedding,
        work,
        device=device,
        jobs=jobs,
        threads=1 if on_processor else threads(),
        texts=texts,
        epochs=epochs,
        mechanism=selected,
        after_tan=after_tan,
    )
    if not epsilons:
        from deniable.calibration.matching import epsilons_where_words_stay

        epsilons = epsilons_where_words_stay(bench.embedding, selected)
    places: dict[At, list[Place]] = {At.train: ["train"], At.test: ["test"], At.both: ["train", "test"]}
    settings = settings_of(epsilons, places[at], runs)
    counted = [0]

    def tell(setting: Setting, outcome: dict[str, Any]) -> None:
        counted[0] += 1
        shown = ", ".join(f"{name} {value:.4f}" for name, value in outcome["scores"].items())
        seconds = sum(outcome["seconds"].values())
        typer.echo(f"{task.value}: {setting.name}: {shown} ({seconds:.0f} s; {counted[0]} new results)", err=True)

    outcomes = run_settings(bench, settings, jobs=jobs, tell=tell)
    if results_only:
        typer.echo(f"{len(outcomes)} results in {bench.folder / 'results'}")
        return
    from deniable.tasks.experiment.account import write_account

    for path in write_account(task, loaded, outcomes, bench.folder, embedding=bench.embedding, mechanism=selected):
        typer.echo(str(path))
