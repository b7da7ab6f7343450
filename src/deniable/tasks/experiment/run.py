"""A whole experiment: every setting that is not finished is run, in this process or in several, and can be continued."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any

from deniable.tasks.experiment.laboratory import Bench, Laboratory
from deniable.tasks.experiment.outcomes import Outcomes
from deniable.tasks.experiment.setting import Setting

Told = Callable[[Setting, dict[str, Any]], None]


def run_settings(bench: Bench, settings: Sequence[Setting], *, jobs: int = 1, tell: Told | None = None) -> list[dict[str, Any]]:
    """Return the results of the settings in order; those that were finished before are not run again.

    With several jobs, this process perturbs and as many others train and test. ``tell`` hears of each new result.

    :raises TaskDataError: if a kept file is damaged or belongs to another experiment.
    """
    laboratory = Laboratory(bench)
    outcomes = Outcomes(bench.folder / "results", laboratory.identity)
    pending = [setting for setting in settings if outcomes.get(setting) is None]
    # Results may have been carried here from another machine without the models that were made there.
    missing = {setting.run for setting in pending if setting.at == "test" and not laboratory.model_file(setting.run).exists()}
    missing -= {setting.run for setting in pending if setting.at == "nowhere"}
    pending = [Setting(at="nowhere", epsilon=None, run=run) for run in sorted(missing)] + pending

    def finish(setting: Setting, outcome: dict[str, Any]) -> None:
        outcomes.put(setting, outcome)
        if tell is not None:
            tell(setting, outcome)

    if jobs == 1:
        for setting in pending:
            finish(setting, laboratory.run(setting))
    elif pending:
        _run_in_parallel(laboratory, pending, jobs, finish)
    return [outcome for setting in settings if (outcome := outcomes.get(setting)) is not None]


def _run_in_parallel(laboratory: Laboratory, pending: Sequence[Setting], jobs: int, finish: Told) -> None:
    # Settings that need an unperturbed model wait for it; models come first, so nothing waits for long.
    ordered = sorted(pending, key=lambda setting: setting.at != "nowhere")
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_begin, initargs=(laboratory.bench,)) as pool:
        running: dict[Future[dict[str, Any]], Setting] = {}
        waiting: list[Setting] = []
        try:
            for setting in ordered:
                laboratory.perturb(setting)
                waiting.append(setting)
                _submit_ready(pool, waiting, running)
                _collect(running, finish, block=False)
            while running or waiting:
                _collect(running, finish, block=True)
                _submit_ready(pool, waiting, running)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _submit_ready(pool: ProcessPoolExecutor, waiting: list[Setting], running: dict[Future[dict[str, Any]], Setting]) -> None:
    training = {setting.run for setting in running.values() if setting.at == "nowhere"}
    for setting in [setting for setting in waiting if setting.at != "test" or setting.run not in training]:
        waiting.remove(setting)
        running[pool.submit(_run, setting)] = setting


def _collect(running: dict[Future[dict[str, Any]], Setting], finish: Told, *, block: bool) -> None:
    done, _ = wait(running, timeout=None if block else 0, return_when=FIRST_COMPLETED)
    for future in done:
        finish(running.pop(future), future.result())


_laboratory: Laboratory | None = None


def _begin(bench: Bench) -> None:
    global _laboratory
    import torch

    torch.set_num_threads(1)  # there is a process for each job already
    _laboratory = Laboratory(bench)


def _run(setting: Setting) -> dict[str, Any]:
    if _laboratory is None:
        raise RuntimeError("the process was not prepared")
    return _laboratory.run(setting)
