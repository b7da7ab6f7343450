"""``deniable release`` as one call: look, rehearse, decide, release once.

    OUTPUT/hand-over/   the released file and its card: what may leave
    OUTPUT/keep/        the receipt, the decision as a page and as JSON, and a draft for the registry of
                        deployments: private

The verdict rests on rehearsal draws. Nothing about the draw that is handed over decides anything: to choose
among draws would void the guarantee. Where the verdict is not to release, nothing is drawn.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deniable.atomic import write_whole
from deniable.decision.attack import layout_of, private_texts, reading_of, word_lists
from deniable.decision.decision import Decision, Verdict, judge
from deniable.decision.deployment import deployment_record
from deniable.decision.page import decision_page
from deniable.decision.rehearsal import rehearse
from deniable.decision.roles import Role, Undecided, check_decided, decide, role_of, undecided
from deniable.errors import (
    DeniableError,
    InvalidParameter,
    RecordError,
    printable,
)
from deniable.measures.risk import share_of
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.progress import Progress, Report
from deniable.records.check import FileCheck, check_file
from deniable.records.deciding import open_decided
from deniable.records.files import privatize_file
from deniable.records.formats.columns import TO_SEE_THE_NAMES, meant_columns
from deniable.records.formats.layout import Roles, released_name
from deniable.records.formats.opening import open_source
from deniable.release.privatizer import Privatizer
from deniable.release.proved import proved_numbers
from deniable.release.release import Release
from deniable.report.wording import percent
from deniable.utility.findings import Findings
from deniable.words.never_release import NeverRelease

_MOST_CLASSES, _FEWEST_LABELLED, _MOST_LABELS = 20, 100, 3
_LABELLED_TEXTS, _SUPPORT, _EFFORT = 2_000, 10_000, 200
_DEFAULT_LIMIT = 0.33
_BECOMES = {"text": "words replaced", "drop": "left out", "keep": "released as it is"}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")

Ask = Callable[[Undecided], Role]


def release_file(
    source: Path | str,
    output: Path | str,
    *,
    text: Sequence[str] = (),
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    keep_sheets: Sequence[str] = (),
    drop_sheets: Sequence[str] = (),
    labels: Sequence[str] = (),
    person: str | None = None,
    record_id: str | None = None,
    words: Sequence[Path | str] = (),
    public: Path | str | None = None,
    risk: str | float | None = None,
    epsilon: float | None = None,
    never_release: Any = "names",
    resume: bool = False,
    force: bool = False,
    workers: int = 1,
    ask: Ask | None = None,
    accept_changes: bool | Callable[[Verdict], bool] = False,
    progress: type[Progress] | None = None,
    reading: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Decision:
    """Take a private file to a decision, and release it once if the verdict allows it.

    ``text`` names the columns whose words are replaced, ``drop`` those left out, ``keep`` those released
    as they are. Every column that looks private needs one of these roles, and every other sheet of a
    workbook is in ``drop_sheets`` or ``keep_sheets``; ``ask`` is asked for those that have no role. With a
    verdict of "release with changes" nothing is drawn unless ``accept_changes`` says so. ``risk`` is "low"
    (the default), "medium", "high", or the share of words that a reader may name; ``epsilon`` takes its
    place. Listed names are out unless ``never_release`` is None. ``labels`` are kept columns whose use is
    measured, by default those that look like classes. ``person`` says whose a record is, ``record_id``
    names the column of ids of a release with a ``key_file``, ``words`` are files of words to report apart,
    ``public`` a public text that attackers have read. ``reading`` says how the file is read, as for
    ``privatize_file``, and ``settings`` are more fields of ``Release``.

    :raises InvalidParameter: if a column has no role, or a setting is not allowed; nothing is written.
    :raises RecordError: if the file cannot be read or the output exists.
    :raises UnusableAuditData: if it holds no text.
    """
    path, folder = Path(source), Path(output)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise RecordError(path, "is a pipe, which cannot be looked at first: give a file")
    _check_folder(folder, may_exist=resume or force)
    before, how = _state_of(path), reading_of(path, reading)
    release = _release_of(risk=risk, epsilon=epsilon, never_release=never_release, **settings)
    check = _look(path, how, release, progress)
    roles = Roles.of(text=text, drop=drop, keep=keep, keep_sheets=keep_sheets, drop_sheets=drop_sheets)
    if ask is not None:
        roles = decide(roles, [(each, ask(each)) for each in undecided(check, roles)])
    check_decided(check, roles)
    wanted, left = _labels(check, roles, labels)
    named: Any = {"person": person if release.key_file is None else None, "record_id": record_id}
    layout = layout_of(path, roles, how | named)
    private = release.make()
    with open_source(path) as opened:
        _, warned = open_decided(private, opened, layout)  # refuses what a release would, before long work
    texts, people = private_texts(path, layout, person, how)
    held_back = NeverRelease.of(release.never_release)
    mechanism = ChosenMechanism(name=str(release.mechanism), options=dict(release.mechanism_options or ()))
    with _shown(progress, "rehearsing attacks", "steps") as report:
        rehearsal = rehearse(
            replace(release, key_file=None).make(),  # never the noise of what is handed over
            mechanism,
            texts,
            lists=word_lists(words),
            held_back=held_back,
            people=people,
            public=None if public is None else Path(public),
            report=report,
        )
    limit = share_of(release.risk) if release.risk is not None else _DEFAULT_LIMIT
    use, not_measured = _use(path, wanted, roles, private, mechanism, how, progress)
    verdict = judge(rehearsal, limit=limit, use=use)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    kept = private.card.kept_ids(private.mechanism.embedding)
    numbers = proved_numbers(private.mechanism, unknown=release.unknown, kept=kept)
    public_columns = _released_as_they_are(check, roles)
    decision = Decision(
        source=path,
        output=folder,
        release=release,
        roles=roles,
        public=public_columns,
        warnings=(*_languages(check, roles), *warned),
        limit=limit,
        verdict=verdict,
        rehearsal=rehearsal,
        numbers=numbers,
        use=use,
        not_measured=not_measured | dict.fromkeys(left, "name it with --label"),
        created=created,
        deployment=deployment_record(private, numbers, roles, public_columns, date=created[:10]),
        released=verdict.answer == "release" or (verdict.may_release and _accepts(accept_changes, verdict)),
    )
    _make_keep(folder)
    drawing = folder / "keep" / "drawing"
    if decision.released:
        drawing.mkdir(exist_ok=True)
        name = _released_name(path)
        receipt = privatize_file(
            private,
            path,
            drawing / name,
            columns=roles.text,
            drop=roles.drop,
            keep=roles.keep,
            keep_sheets=roles.keep_sheets,
            drop_sheets=roles.drop_sheets,
            workers=workers,
            receipt=folder / "keep" / f"{name}.receipt.json",
            resume=resume,
            force=force,
            progress=progress,
            **named,
            **how,
        )
        decision = replace(decision, receipt=receipt)
        if _state_of(path) != before:
            shutil.rmtree(drawing)  # or --resume would hand over what was drawn of the earlier file
            raise RecordError(path, "changed since it was looked at: nothing was handed over")
    decision = replace(decision, html=decision_page(decision).html())
    write_whole(decision.page, decision.html + "\n")
    for name, found in (("decision.json", decision.to_dict()), ("deployment.yaml", decision.deployment)):
        as_json = json.dumps(found, indent=2, ensure_ascii=False)
        write_whole(decision.page.with_name(name), as_json + "\n")
    if decision.released:
        drawing.rename(decision.hand_over)  # whole, or not there
    return decision


def plan_file(
    source: Path | str,
    output: Path | str,
    *,
    labels: Sequence[str] = (),
    reading: Mapping[str, Any] | None = None,
    **given: Any,
) -> list[str]:
    """Return what ``release_file`` would do with each column and sheet, and then; nothing is released."""
    path, how = Path(source), reading_of(Path(source), reading)
    roles = Roles.of(**{each.name: given.pop(each.name, ()) for each in fields(Roles)})
    release = _release_of(**given)
    check = check_file(path, layout_of(path, Roles(), how), release.open_embedding())
    missing = {(each.name, each.is_sheet): each for each in undecided(check, roles)}
    lines = []
    for column in check.columns:
        name = str(column.path) if column.path is not None else "the text"
        if column.path is None:
            what = _BECOMES["text"]
        elif (each := missing.get((name, False))) is not None:
            what = f"needs a role: {each.looks_like} (for example {each.suggestion})"
        else:
            role = role_of(name, roles)
            what = f"released as it is: looks like {column.kind}" if role is None else _BECOMES[role]
        lines.append(f"{name}: {what}")
    for name in check.sheets:
        what = "left out" if name in roles.drop_sheets else "released as it is"
        lines.append(f"sheet {name}: {'needs a role' if (name, True) in missing else what}")
    risk = "" if release.risk is None else f", at most {percent(share_of(release.risk))} of the words named"
    left_out = release.make().mechanism.embedding.left_out
    never = "nothing" if left_out is None else left_out.in_words()
    measured, _ = _labels(check, roles, labels)
    return [
        *lines,
        f"mechanism: {release.mechanism} at ε = {release.epsilon:g}{risk}, on {release.embedding}",
        f"never released: {never}",
        f"use measured: {', '.join(measured) or 'word frequencies'}",
        f"page to sign: {Path(output) / 'keep' / 'decision.html'}",
        f"to hand over, if the verdict allows it: {Path(output) / 'hand-over' / _released_name(path)}",
    ]


def _release_of(*, risk: str | float | None = None, epsilon: float | None = None, **settings: Any) -> Release:
    """Return the release with these settings, at low risk by default.

    :raises InvalidParameter: if a setting is not allowed, or cannot be rehearsed.
    """
    for name, default in (("record_epsilon", None), ("unknown", "perturb"), ("consistent", False)):
        if settings.get(name, default) != default:
            raise InvalidParameter(name, settings[name], "cannot be rehearsed: use `deniable privatize`")
    if epsilon is not None and risk is not None:
        raise InvalidParameter("risk", risk, "gives epsilon: give one of the two")
    if epsilon is None and risk is None:
        risk = "low"
    release = Release(risk=risk, epsilon=epsilon, **settings)
    if not isinstance(release.mechanism, str):
        raise InvalidParameter("mechanism", "your own", "must be one of `deniable mechanisms` here")
    return release


def _look(path: Path, how: dict[str, Any], release: Release, progress: type[Progress] | None) -> FileCheck:
    with _shown(progress, "looking at the file", "bytes") as report:
        return check_file(path, layout_of(path, Roles(), how), release.open_embedding(), report=report)


def _labels(check: FileCheck, roles: Roles, given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns whose use is measured, the given ones or the first that look like classes, and those
    that are left because each takes a minute."""
    names = [column.path for column in check.columns if isinstance(column.path, str)]
    for name in given:
        if name not in names:
            raise InvalidParameter("labels", name, meant_columns([name], names) or TO_SEE_THE_NAMES)
    classes = [
        column.path
        for column in check.columns
        if isinstance(column.path, str)
        and role_of(column.path, roles) in (None, "keep")
        and column.kind in ("category", "number")
        and 2 <= column.distinct <= _MOST_CLASSES
        and column.values >= _FEWEST_LABELLED
    ]
    return (list(given), []) if given else (classes[:_MOST_LABELS], classes[_MOST_LABELS:])


def _use(
    path: Path,
    labels: Sequence[str],
    roles: Roles,
    private: Privatizer,
    mechanism: ChosenMechanism,
    how: dict[str, Any],
    progress: type[Progress] | None,
) -> tuple[dict[str, Findings], dict[str, str]]:
    """Return what the release is good for by label column, and why a column was not measured."""
    found: dict[str, Findings] = {}
    skipped: dict[str, str] = {}
    if len(roles.text) != 1:
        return found, dict.fromkeys(labels, "use is measured for one text column")
    from deniable.utility.measurement import measure_utility

    for label in labels:
        try:
            with _shown(progress, f"measuring use: {printable(label)}", "releases") as report:
                found[label] = measure_utility(
                    path,
                    text_column=roles.text[0],
                    label_column=label,
                    epsilons=[private.mechanism.epsilon],
                    embedding=private.mechanism.embedding,
                    mechanism=mechanism,
                    texts=_LABELLED_TEXTS,
                    support=_SUPPORT,
                    directions=_EFFORT,
                    runs=1,
                    report=report,
                    **how,
                )
        except DeniableError as error:
            skipped[label] = str(error)
    return found, skipped


def _languages(check: FileCheck, roles: Roles) -> list[str]:
    """Return which texts are likely in another language than most of their column."""
    return [
        f"not all texts of the column {column.path} are {column.language}: "
        + ", ".join(f"about {percent(share)} {name}" for name, share in column.other_languages.items())
        for column in check.columns
        if column.path in roles.text and column.other_languages
    ]


def _released_as_they_are(check: FileCheck, roles: Roles) -> tuple[str, ...]:
    return tuple(
        column.path
        for column in check.columns
        if isinstance(column.path, str) and role_of(column.path, roles) is None
    )


def _accepts(accept: bool | Callable[[Verdict], bool], verdict: Verdict) -> bool:
    return accept if isinstance(accept, bool) else accept(verdict)


def _released_name(path: Path) -> str:
    """Return what the released file is called: the name of the private one may name a person."""
    ending = path.suffix.lower()
    if ending in _COMPRESSED:
        ending = Path(path.stem).suffix.lower() + ending
    return released_name(f"released{ending}")


def _state_of(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _check_folder(folder: Path, *, may_exist: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise RecordError(folder, "is a file; name a folder for the output")
    if (folder / "hand-over").exists():
        problem = "holds an earlier release, which this decision does not cover; name another folder"
        raise RecordError(folder / "hand-over", problem)
    for each in (folder / "hand-over", folder / "keep", folder / "keep" / "drawing"):
        if each.is_symlink():
            raise RecordError(each, "is a link; name another folder")
    if folder.is_dir() and any(folder.iterdir()) and not may_exist:
        raise RecordError(folder, "exists and is not empty; name another folder, or use --resume or --force")


def _make_keep(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "keep").mkdir(mode=0o700, exist_ok=True)
    (folder / "keep").chmod(0o700)  # whatever the umask says


@contextmanager
def _shown(progress: type[Progress] | None, what: str, unit: str) -> Iterator[Report | None]:
    if progress is None:
        yield None
        return
    with progress(what, unit=unit) as bar:
        yield bar.report
