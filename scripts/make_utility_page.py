"""Write docs/experiments/utility.md and its figures from the results of ``deniable lab reproduce``.

Usage: python scripts/make_utility_page.py [RESULTS ...]

RESULTS are folders or .tgz files with results; of two alike the later wins, and results of another recipe are refused. They are
kept in docs/experiments/utility.json and utility-after-tan.json, from which the page is written when none are given. Beside them
lie matched-epsilon.json (the average N_w) and utility-baselines.json (scripts/measure_task_baselines.py).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from deniable.lab.tasks.data.registry import TASKS
from deniable.learning.figure import curve
from deniable.learning.summary import markdown_table
from deniable.report.figure import save
from deniable.report.wording import percent_fixed
from utility_prose import AGAINST_THE_PAPER, HEAD, HOW, NOTES, PAPER_SETTING
from utility_results import Experiment, experiments_of, gather

DOCS = Path(__file__).resolve().parent.parent / "docs"
RESULTS, PAGE, FIGURES = DOCS / "experiments" / "utility.json", DOCS / "experiments" / "utility.md", DOCS / "figures"
AFTER_TAN = DOCS / "experiments" / "utility-after-tan.json"
CLAIMED_LOSS = 0.02
COMPARED = (11.65, 14.56, 17.47, 23.3, 34.95, 52.42)


def main() -> None:
    """Gather, draw, write."""
    if len(sys.argv) > 1:
        found = gather(Path(name) for name in sys.argv[1:])
        _keep(found.ours, RESULTS)
        _keep(found.after_tan, AFTER_TAN)
        summary = f"{len(found.ours)} results, {len(found.after_tan)} after Tan et al., {found.refused} refused: another recipe"
        print(summary, file=sys.stderr)
    experiments = experiments_of(json.loads(RESULTS.read_text(encoding="utf-8")))
    after_tan = {e.name: e for e in experiments_of(json.loads(AFTER_TAN.read_text(encoding="utf-8")))}
    if not experiments:
        raise SystemExit("no results: run deniable lab reproduce, and name its folder")
    baselines: dict[str, Any] = json.loads((DOCS / "experiments" / "utility-baselines.json").read_text(encoding="utf-8"))
    unchanged = _unchanged()
    for experiment in experiments:
        if baselines[experiment.task]["data"] != experiment.outcomes[0]["data"]:
            raise SystemExit(f"{experiment.task}: the baselines were measured on other data")
        entry, baseline = TASKS[experiment.task], baselines[experiment.task]
        figure = curve(
            experiment.points,
            entry.score,
            title=f"{entry.title} ({experiment.embedding['dimension']} dimensions)",
            label=entry.score_in_words,
            baselines={baseline["baseline"]: baseline["scores"][entry.score]},
            unchanged=unchanged[experiment.embedding["fingerprint"]],
        )
        save(figure, FIGURES, f"utility-{experiment.name}")
    sections = [_section(e, after_tan.get(e.name), baselines[e.task], unchanged[e.embedding["fingerprint"]]) for e in experiments]
    parts = [HEAD, _short(experiments, baselines, unchanged), *sections, _claim(experiments, unchanged)]
    parts += [_compared(experiments, unchanged), _missing(experiments), _how(experiments)]
    PAGE.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def _keep(outcomes: list[dict[str, Any]], path: Path) -> None:
    path.write_text(json.dumps(outcomes, ensure_ascii=False, separators=(",", ":")).replace('},{"task"', '},\n{"task"') + "\n")


def _unchanged() -> dict[str, dict[float, float]]:
    """Return the average N_w by embedding and ε."""
    matched = json.loads((DOCS / "experiments" / "matched-epsilon.json").read_text(encoding="utf-8"))
    large, small = matched["embeddings"].values()
    return {
        large: {row["paper"]: row["average_unchanged"] for row in matched["table"]}
        | {row["epsilon"]: row["average_unchanged"] for row in matched["between_300d"]},
        small: {row["epsilon_50d"]: row["average_unchanged"] for row in matched["table"]}
        | {row["epsilon"]: row["average_unchanged"] for row in matched["between_50d"]},
    }


def _embedding(experiment: Experiment) -> str:
    return f"{experiment.embedding['name']}, {experiment.embedding['words']:,} words"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _clean(experiment: Experiment, score: str) -> float:
    return next(point for point in experiment.points if point.epsilon is None).mean(score)


def _from_where_on(losses: dict[float, list[float]], bound: float) -> float | None:
    """Return the smallest ε from which on the mean loss stays under the bound."""
    found = None
    for epsilon in sorted(losses, reverse=True):
        if _mean(losses[epsilon]) >= bound:
            break
        found = epsilon
    return found


def _short(experiments: list[Experiment], baselines: dict[str, Any], unchanged: dict[str, dict[float, float]]) -> str:
    lines = ["## In short", ""]
    for experiment in experiments:
        entry, baseline = TASKS[experiment.task], baselines[experiment.task]
        compared = f"{baseline['baseline'][0].lower() if 'BM25' not in baseline['baseline'] else 'B'}{baseline['baseline'][1:]}"
        lines.append(
            f"- **{entry.title.partition(':')[0]}, {experiment.embedding['dimension']}d.** Unperturbed {entry.score_in_words} "
            f"{_clean(experiment, entry.score):.3f} ({compared}: {baseline['scores'][entry.score]:.3f}). " + _meets(experiment, unchanged)
        )
    return "\n".join(lines) + "\n"


def _meets(experiment: Experiment, unchanged: dict[str, dict[float, float]]) -> str:
    """Say from which ε on the perturbed runs and the unperturbed ones overlap."""
    score, parts = TASKS[experiment.task].score, []
    lowest = next(point for point in experiment.points if point.epsilon is None).spread(score)[0]
    for at, words in (("train", "training"), ("test", "test")):
        met = None
        for point in reversed([point for point in experiment.points if point.at == at]):
            if point.spread(score)[1] < lowest:
                break
            met = point.epsilon
        parts.append(f"at {words} time " + ("at no ε" if met is None else f"from ε = {met:g} on ({_n_w(met, experiment, unchanged)})"))
    return f"The best perturbed run reaches the worst unperturbed one {', '.join(parts)}."


def _n_w(epsilon: float, experiment: Experiment, unchanged: dict[str, dict[float, float]]) -> str:
    found = unchanged[experiment.embedding["fingerprint"]].get(epsilon)
    return "average N_w not measured" if found is None else f"average N_w {found:.3f}"


def _section(experiment: Experiment, after_tan: Experiment | None, baseline: dict[str, Any], unchanged: dict[float, float]) -> str:
    entry, counts = TASKS[experiment.task], baseline["texts"]
    unknown = experiment.outcomes[0]["unknown"]
    lines = [
        f"## {entry.title} {experiment.embedding['dimension']} dimensions",
        "",
        f"{counts['train']:,} texts to learn from, {counts['validation']:,} to stop by, {counts['test']:,} to judge by; embedding "
        f"{_embedding(experiment)}; {percent_fixed(unknown['test'])} of the words of the test texts are unknown to it.",
        "",
        f"![{entry.score_in_words} against ε]({_figure(experiment)})",
        "",
        markdown_table(experiment.points, unchanged),
        f"{baseline['baseline']}: " + ", ".join(f"{name} {value:.3f}" for name, value in baseline["scores"].items()) + ".",
    ]
    if "linear" in baseline:
        lines.append(f"TF-IDF and logistic regression on the same unperturbed texts: accuracy {baseline['linear']['accuracy']:.3f}.")
    if "pools_with_a_right_answer" in baseline:
        pools = " and ".join(
            f"{percent_fixed(share)} of the pools of {size}" for size, share in baseline["pools_with_a_right_answer"].items()
        )
        lines.append(f"Only {pools} hold a right answer: no ranking can have a higher top-1 or MRR.")
        above = {name: _clean(experiment, name) / value - 1 for name, value in baseline["scores"].items()}
        lines.append(
            "Unperturbed, the model is above it by "
            + ", ".join(f"{percent_fixed(share, 0)} ({name})" for name, share in above.items())
            + "."
        )
    if after_tan is not None:
        lines += ["", "Trained after Tan et al. (`--after-tan`):", "", markdown_table(after_tan.points, unchanged)]
    return "\n".join([*lines, "", NOTES[experiment.task], ""])


def _figure(experiment: Experiment) -> str:
    return f"../figures/utility-{experiment.name}.png"


def _claim(experiments: list[Experiment], unchanged: dict[str, dict[float, float]]) -> str:
    lines = [
        "## “Less than 2 % loss on the binary task”",
        "",
        "IMDb: accuracy lost against the unperturbed model of the same run (the same seed), in points; mean, and lowest to highest where "
        "there is more than one run.",
        "",
        "| embedding | ε | average N_w | lost at training time | lost at test time |",
        "|---|--:|--:|--:|--:|",
    ]
    verdicts = []
    for experiment in (e for e in experiments if e.task == "imdb"):
        train, test = experiment.losses("train", "accuracy"), experiment.losses("test", "accuracy")
        shares = unchanged[experiment.embedding["fingerprint"]]
        for epsilon in sorted(set(train) | set(test)):
            share = f"{shares[epsilon]:.3f}" if epsilon in shares else ""
            lost = f"{_lost(train.get(epsilon))} | {_lost(test.get(epsilon))}"
            lines.append(f"| {experiment.embedding['dimension']}d | {epsilon:g} | {share} | {lost} |")
        verdicts += [_verdict(experiment, at, losses, unchanged) for at, losses in (("training", train), ("test", test))]
    return "\n".join([*lines, "", *verdicts, ""]) if verdicts else ""


def _lost(losses: list[float] | None) -> str:
    if not losses:
        return "not run"
    spread = f" ({100 * min(losses):.1f} to {100 * max(losses):.1f})" if len(losses) > 1 else ""
    return f"{100 * _mean(losses):.1f}{spread}"


def _verdict(experiment: Experiment, at: str, losses: dict[float, list[float]], unchanged: dict[str, dict[float, float]]) -> str:
    where = f"- {experiment.embedding['dimension']}d, perturbed at {at} time: "
    epsilon = _from_where_on(losses, CLAIMED_LOSS)
    if epsilon is None:
        return where + "**refuted** at every ε that was measured."
    below = [e for e in losses if e < epsilon]
    said = where + f"**confirmed** from ε = {epsilon:g} on ({_n_w(epsilon, experiment, unchanged)})"
    if below:
        last = max(below)
        said += (
            f"; **refuted** at ε = {last:g} ({_n_w(last, experiment, unchanged)}, {100 * _mean(losses[last]):.1f} points lost) and below"
        )
    return said + "."


def _compared(experiments: list[Experiment], unchanged: dict[str, dict[float, float]]) -> str:
    large = [e for e in experiments if e.embedding["dimension"] == 300]
    lines = [
        PAPER_SETTING,
        "| ε | average N_w | " + " | ".join(f"{e.task} at {at} time" for e in large for at in ("training", "test")) + " |",
        "|--:|--:|" + "--:|" * 2 * len(large),
    ]
    for epsilon in COMPARED:
        cells = []
        for experiment in large:
            score = TASKS[experiment.task].score
            clean = _clean(experiment, score)
            for at in ("train", "test"):
                losses = experiment.losses(at, score).get(epsilon)
                cells.append("not run" if not losses else percent_fixed(_mean(losses) / clean))
        share = next((unchanged[e.embedding["fingerprint"]].get(epsilon) for e in large), None)
        lines.append(f"| {epsilon:g} | {share:.3f} | " + " | ".join(cells) + " |" if share is not None else "")
    return "\n".join([*(line for line in lines if line), "", AGAINST_THE_PAPER, ""]) if large else ""


def _missing(experiments: list[Experiment]) -> str:
    lines = []
    for name in TASKS:
        dimensions = {e.embedding["dimension"] for e in experiments if e.task == name}
        lines += [f"- {name} with {d} dimensions was not run." for d in (300, 50) if d not in dimensions]
    for experiment in experiments:
        fewer = [f"ε = {p.epsilon:g} {p.at} ({p.runs})" for p in experiment.points if p.epsilon is not None and p.runs < 3]
        if fewer:
            lines.append(f"- {experiment.name}: fewer than three runs at {', '.join(fewer)}.")
    lines.append("- The results are older than the rule that numbers and addresses stay whole: a few texts are cut otherwise now.")
    lines.append("- InsuranceQA V1, the paper's version: its answers are not in the data we have. The task runs on V2.")
    lines.append(
        "- The paper's Enron selection (ten authors, 8,517 and 850 messages) is not published. Ours are the ten largest of PAN 2011."
    )
    return "\n".join(["## What is missing", "", *lines, ""])


def _how(experiments: list[Experiment]) -> str:
    made = sorted(
        {
            json.dumps({k: v for k, v in o["made_with"].items() if k != "model_seed"}, sort_keys=True)
            for e in experiments
            for o in e.outcomes
        }
    )
    versions = ["- " + ", ".join(f"{name} {value}" for name, value in json.loads(text).items()) for text in made]
    lines = [HOW, "## Versions", "", *versions, "", "## Recipes", ""]
    seen = {e.task: e.outcomes[0]["recipe"] for e in experiments}
    lines += [f"- {task}: {_recipe(recipe)}" for task, recipe in seen.items()]
    return "\n".join(lines) + "\n"


def _recipe(recipe: dict[str, Any]) -> str:
    return ", ".join(f"{name} ({_recipe(value)})" if isinstance(value, dict) else f"{name} {value}" for name, value in recipe.items())


if __name__ == "__main__":
    main()
