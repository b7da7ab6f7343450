"""A whole experiment: every setting that is not finished is run, in this process or in several, and can be
continued."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context

from deniable.lab.tasks.experiment.outcomes import KeptOutcomes, Setting, TaskOutcome
from deniable.lab.tasks.experiment.runner import Experiment, SettingRunner

OnResult = Callable[[TaskOutcome], None]
"""Called with each new result."""


def run_settings(
    experiment: Experiment, settings: Sequence[Setting], *, jobs: int = 1, on_result: OnResult | None = None
) -> list[TaskOutcome]:
    """Return the results of the settings in order; those that were finished before are not run again.

    With several jobs, this process perturbs and as many others train and test. ``on_result`` is called with
    each new result.

    :raises TaskDataError: if a kept file is damaged or belongs to another experiment.
    """
    runner = SettingRunner(experiment)
    kept = KeptOutcomes(experiment.folder / "results", runner.identity)
    pending = [setting for setting in settings if kept.get(setting) is None]
    # Results may have been carried here from another machine without the models that were made there.
    missing = {
        setting.run
        for setting in pending
        if setting.at == "test" and not runner.model_file(setting.run).exists()
    }
    missing -= {setting.run for setting in pending if setting.at == "nowhere"}
    pending = [Setting(at="nowhere", epsilon=None, run=run) for run in sorted(missing)] + pending

    def finish(outcome: TaskOutcome) -> None:
        kept.put(outcome)
        if on_result is not None:
            on_result(outcome)

    if jobs == 1:
        for setting in pending:
            finish(runner.run(setting))
    elif pending:
        _run_in_parallel(runner, pending, jobs, finish)
    return [outcome for setting in settings if (outcome := kept.get(setting)) is not None]


def _run_in_parallel(runner: SettingRunner, pending: Sequence[Setting], jobs: int, finish: OnResult) -> None:
    # Settings that need an unperturbed model wait for it; models come first, so nothing waits for long.
    ordered = sorted(pending, key=lambda setting: setting.at != "nowhere")
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(runner.experiment,)
    ) as pool:
        running: dict[Future[TaskOutcome], Setting] = {}
        waiting: list[Setting] = []
        try:
            for setting in ordered:
                runner.perturb(setting)
                waiting.append(setting)
                _submit_ready(pool, waiting, running)
                _collect(running, finish, block=False)
            while running or waiting:
                _collect(running, finish, block=True)
                _submit_ready(pool, waiting, running)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _submit_ready(
    pool: ProcessPoolExecutor, waiting: list[Setting], running: dict[Future[TaskOutcome], Setting]
) -> None:
    training = {setting.run for setting in running.values() if setting.at == "nowhere"}
    for setting in [setting for setting in waiting if setting.at != "test" or setting.run not in training]:
        waiting.remove(setting)
        running[pool.submit(_run_in_worker, setting)] = setting


def _collect(running: dict[Future[TaskOutcome], Setting], finish: OnResult, *, block: bool) -> None:
    done, _ = wait(running, timeout=None if block else 0, return_when=FIRST_COMPLETED)
    for future in done:
        del running[future]
        finish(future.result())


_runner: SettingRunner | None = None


def _start_worker(experiment: Experiment) -> None:
    global _runner
    import torch

    torch.set_num_threads(1)  # there is a process for each job already
    _runner = SettingRunner(experiment)


def _run_in_worker(setting: Setting) -> TaskOutcome:
    if _runner is None:
        raise RuntimeError("the process was not prepared")
    return _runner.run(setting)
