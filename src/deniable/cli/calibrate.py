"""``deniable calibrate``: choose ε by looking at every word."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.mechanism import Name, Options

if TYPE_CHECKING:
    from deniable.arrays import Ids
    from deniable.calibration.calibration import Calibration
    from deniable.calibration.choice import Choice
    from deniable.embeddings.embedding import Embedding
    from deniable.mechanisms.chosen import ChosenMechanism

WALKED_WORDS = 1000
"""S_w costs a walk along every ray; where nobody asks for it of every word, so many are walked."""

DRAWN_WORDS = 100
"""The same where every ε takes draws of its own."""


def calibrate(
    embedding: Annotated[str, typer.Option(help="The name of an installed embedding.")] = "default",
    mechanism: Name = "multivariate",
    mechanism_option: Options = None,
    max_unchanged: Annotated[float | None, typer.Option(help="N_w: a word may stay itself at most so often, such as 0.5.")] = None,
    min_distinct: Annotated[
        int | None, typer.Option(help="At least so many distinct words among one draw per ray, or among all draws.")
    ] = None,
    quantile: Annotated[float, typer.Option(help="The share of the words that must meet the targets; 1 is all.")] = 1.0,
    epsilon: Annotated[list[float] | None, typer.Option("--epsilon", "-e", help="A value of ε to look at. May be repeated.")] = None,
    rays: Annotated[int, typer.Option(help="Directions per word; draws per word and ε for mechanisms that rays say nothing of.")] = 1000,
    words: Annotated[Path | None, typer.Option(help="Look only at the words in this file, one a line.")] = None,
    sample: Annotated[int | None, typer.Option(help="Look only at so many words, drawn at random: a quick look.")] = None,
    protect: Annotated[str | None, typer.Option(metavar="nearest|unknown", help="Let exposed words go in as others.")] = None,
    most_protected: Annotated[float, typer.Option(help="With --protect and no --epsilon: the share of the words it may take.")] = 0.01,
    save_as: Annotated[str | None, typer.Option("--as", help="The name to install the protected embedding under.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Where to write every word's values as CSV.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Where to write every word's values as Parquet.")] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write the page; without targets EMBEDDING-calibration.html, here.")] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for the single figures, as PNG and SVG.")] = None,
    word: Annotated[list[str] | None, typer.Option(help="A word whose outputs the page shows. May be repeated.")] = None,
    example: Annotated[list[str] | None, typer.Option(help="A public sentence to show on the page. May be repeated.")] = None,
    all_walks: Annotated[bool, typer.Option("--all-walks", help="S_w of every word, not of 1,000: slow with many words.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines; a page is written with --report only.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Find the largest ε that meets targets for every word, name the words that hardly change, and write a page about it.

    Without targets the page covers a range of ε that is found, from all words changed to none. An interrupted run is
    continued by the same command. With --protect the words that miss the targets are exposed and go in as others: at the
    given --epsilon, or at the largest ε where at most the share --most-protected does.

    Rays serve the mechanisms multivariate, mahalanobis and gaussian, at all ε at once. The others are measured at twelve values of ε
    (or those given), and again between the two where the targets are lost: by exact sums where a mechanism has them, and by draws for
    vickrey and rank-smoothing, which takes long for many words.
    """
    import numpy as np

    from deniable.calibration.choice import Targets, choose, choose_for_protection
    from deniable.calibration.choice import evaluate as evaluated
    from deniable.calibration.protection import check_protectable
    from deniable.cli.calibration_report import check_known, write_report
    from deniable.cli.mechanism import parse_options
    from deniable.embeddings.embedding import Embedding
    from deniable.mechanisms.chosen import ChosenMechanism
    from deniable.parameters import validated_epsilon
    from deniable.report.place import check_place

    selected = ChosenMechanism(name=mechanism, options=parse_options(mechanism, mechanism_option))
    targets = Targets(max_unchanged=max_unchanged, min_distinct=min_distinct, quantile=quantile)
    epsilons = [validated_epsilon(e) for e in epsilon or ()]
    aimed = max_unchanged is not None or min_distinct is not None
    if protect is not None and (save_as is None or not aimed or len(epsilons) > 1 or words is not None or sample is not None):
        raise typer.BadParameter("--protect needs --as NAME, a target, at most one --epsilon, and all words")
    if protect is not None and save_as is not None:
        from deniable.embeddings.store import free_place

        free_place(save_as)
    for path in (report, csv, parquet):
        if path is not None:
            check_place(path)
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    opened = Embedding.open(embedding)
    selected(opened, epsilon=1.0)  # wrong options are refused before anything is measured
    targets.check_within_reach(words=len(opened), rays=rays)
    if protect is not None:
        check_protectable(opened, protect)
    for public in word or ():
        check_known(opened, public)
    if report is None and not aimed and not as_json:
        report = Path(f"{Path(opened.name).name}-calibration.html")
        check_place(report)
    ids = _chosen(opened, words, sample)
    few = not aimed and (len(opened) if ids is None else len(ids)) <= WALKED_WORDS
    walks = min_distinct is not None or all_walks or few
    grid = np.array(epsilons) if epsilons else None
    calibration = _run(opened, selected, ids, rays, grid, walks=walks, quiet=quiet)
    choice: Choice | None = None
    if aimed and len(epsilons) == 1:
        choice = evaluated(calibration, epsilons[0], targets)
    elif protect is not None:
        choice = choose_for_protection(calibration, targets, most_protected=most_protected)
    elif aimed:
        choice = choose(calibration, targets)
    drawn = report is not None or figures is not None
    walked = calibration
    if not walks and (drawn or not aimed or ids is None):
        walked = _walked(calibration, choice if drawn else None, epsilons, whole=ids is None, quiet=quiet)
    shown = epsilons or ([choice.epsilon] if choice and not walks else walked.epsilons.tolist())
    answer = _answer(calibration, choice, shown, walked)
    if protect is not None and choice is not None and save_as is not None:
        answer["protected"] = _protect(calibration, choice, protect, save_as, walks=walks, quiet=quiet)
    if ids is None:
        from deniable.calibration.note import write_note

        write_note(calibration, walked)
    if csv is not None or parquet is not None:
        from deniable.calibration.export import write_words

        write_words(calibration, shown, walked=walked, csv=csv, parquet=parquet)
    if drawn:
        answer |= write_report(
            calibration, walked, choice, epsilons, report=report, folder=figures, words=word or [], sentences=example or [], quiet=quiet
        )
    if as_json:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        from deniable.cli.calibration_view import show

        show(answer)


def _chosen(embedding: Embedding, words: Path | None, sample: int | None) -> Ids | None:
    import numpy as np

    from deniable.parameters import validated_count
    from deniable.words.word_list import read_word_list

    ids = None
    if words is not None:
        found = embedding.ids(read_word_list(words))
        ids = np.unique(found[found != embedding.unknown_id])
    if sample is not None:
        pool = np.arange(len(embedding)) if ids is None else ids
        count = min(validated_count(sample, "sample"), len(pool))
        ids = np.sort(np.random.Generator(np.random.PCG64(4)).choice(pool, count, replace=False))
    return ids


def _run(
    embedding: Embedding, mechanism: ChosenMechanism, ids: Ids | None, rays: int, grid: Any, *, walks: bool, quiet: bool
) -> Calibration:
    from deniable.calibration.any_mechanism import calibrate_mechanism
    from deniable.progress import Progress

    try:
        if quiet:
            return calibrate_mechanism(embedding, mechanism, rays=rays, ids=ids, epsilons=grid, walks=walks)
        with Progress(f"calibrating {embedding.name}", unit="words") as progress:
            return calibrate_mechanism(embedding, mechanism, rays=rays, ids=ids, epsilons=grid, walks=walks, report=progress.follow)
    except KeyboardInterrupt:
        print("deniable: stopped; finished words are kept, and the same command goes on from there", file=sys.stderr)
        raise typer.Exit(130) from None


def _walked(calibration: Calibration, choice: Choice | None, epsilons: list[float], *, whole: bool, quiet: bool) -> Calibration:
    """Return S_w of a sample of the words, at the values of ε asked for, and at ones that cover a calibration of all words."""
    import numpy as np

    from deniable.calibration.measure import GRID_VALUES, RayCalibration

    count = min(DRAWN_WORDS if calibration.method == "simulation" else WALKED_WORDS, len(calibration.ids))
    ids = np.random.Generator(np.random.PCG64(4)).choice(np.sort(calibration.ids), count, replace=False)
    if isinstance(calibration, RayCalibration):
        covering = calibration.span(GRID_VALUES) if whole or not epsilons else []
    else:
        covering = calibration.epsilons.tolist()
    grid = np.array(sorted({*covering, *epsilons, *([choice.epsilon] if choice is not None else [])}))
    return _run(calibration.embedding, calibration.mechanism, np.sort(ids), calibration.rays, grid, walks=True, quiet=quiet)


def _answer(calibration: Calibration, choice: Choice | None, epsilons: list[float], walked: Calibration) -> dict[str, Any]:
    from deniable.calibration.choice import meets
    from deniable.calibration.summary import described, table, worst_words

    answer: dict[str, Any] = {
        "embedding": calibration.embedding.name,
        "fingerprint": calibration.embedding.fingerprint,
        "mechanism": calibration.mechanism.name,
        "parameters": calibration.mechanism.identity(calibration.embedding)["parameters"],
        "method": calibration.method,
        "words": len(calibration.ids),
        "rays": calibration.rays,
        "table": table(calibration, epsilons),
    }
    if walked is not calibration:
        for row, counted in zip(answer["table"], table(walked, epsilons), strict=True):
            row |= {key: counted[key] for key in ("distinct", "support", "mean_entropies_bits") if key in counted}
        if any("distinct" in row for row in answer["table"]):
            answer["words_walked"] = len(walked.ids)
    if choice is not None:
        answer["epsilon"] = choice.epsilon
        answer["targets"] = {
            "max_unchanged": choice.targets.max_unchanged,
            "min_distinct": choice.targets.min_distinct,
            "quantile": choice.targets.quantile,
        }
        answer["meets_the_targets"] = meets(choice)
        answer["largest_unchanged_with_95%_confidence"] = float(choice.upper.max())
        answer["worst_words"] = worst_words(calibration, choice)
        answer["exposed_words"] = len(choice.failing)
        answer["exposed"] = [described(calibration, choice, int(row)) for row in choice.failing[:20]]
    return answer


def _protect(calibration: Calibration, choice: Choice, by: str, name: str, *, walks: bool, quiet: bool) -> dict[str, Any]:
    import numpy as np

    from deniable.calibration.choice import evaluate
    from deniable.calibration.note import write_note
    from deniable.calibration.protection import protect
    from deniable.embeddings import store
    from deniable.embeddings.embedding import Embedding

    embedding, mechanism, rays = calibration.embedding, calibration.mechanism, calibration.rays
    exposed = np.sort(calibration.ids[choice.failing])
    safe = protect(embedding, exposed, by=by, name=name)  # type: ignore[arg-type]
    store.save(safe, name, source=f"{embedding.name}, protected at ε = {choice.epsilon:g}")
    opened = Embedding.open(name)
    calibrated = _run(opened, mechanism, None, rays, np.array([choice.epsilon]), walks=walks, quiet=quiet)
    write_note(calibrated, calibrated if walks else _walked(calibrated, None, [choice.epsilon], whole=True, quiet=quiet))
    again = evaluate(calibrated, choice.epsilon, choice.targets)
    return {
        "name": name,
        "fingerprint": opened.fingerprint,
        "words_mapped": len(exposed),
        "by": by,
        "exposed_words_left": len(again.failing),
        "largest_unchanged": float(again.unchanged.max()),
    }
