"""``deniable release`` as one call: look, rehearse, decide, release once.

    OUTPUT/hand-over/   the released file and its card: what may leave
    OUTPUT/keep/        the receipt and the decision, as a page and as JSON: private

The verdict rests on rehearsal draws. Nothing about the draw that is handed over decides anything: to choose
among draws would void the guarantee. Where the verdict is not to release, nothing is drawn.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from deniable.atomic import write_whole
from deniable.decision.decision import Decision, Verdict, judge
from deniable.decision.page import decision_page
from deniable.decision.rehearsal import rehearse
from deniable.decision.roles import Role, Undecided, check_decided, decide, role_of, undecided_columns
from deniable.embeddings.embedding import Embedding
from deniable.errors import (
    DeniableError,
    InvalidParameter,
    MissingExtra,
    RecordError,
    printable,
)
from deniable.measures.risk import share_of
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.progress import Progress, Report
from deniable.records.check import FileCheck, check_file
from deniable.records.files import privatize_file
from deniable.records.formats.layout import Layout, Roles, make_layout, released_name
from deniable.records.formats.opening import open_reader, open_source
from deniable.records.reading import labelled_records
from deniable.release.proved import proved_numbers
from deniable.release.release import Release
from deniable.utility.findings import Findings
from deniable.words.never_release import NeverRelease

MOST_RECORDS = 50_000
"""How many records are rehearsed, from the first on."""

_MOST_CLASSES, _FEWEST_LABELLED = 20, 100
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

    ``text`` names the columns whose words are replaced, ``drop`` those left out, ``keep`` those released as
    they are. Every column that looks private needs one of these roles; ``ask`` is asked for those that have
    none. With a verdict of "release with changes" nothing is drawn unless ``accept_changes`` says
    so. ``risk`` is "low" (the default), "medium", "high", or the share of words that a reader may name;
    ``epsilon`` takes its place. Listed names are out unless ``never_release`` is None. ``labels`` are kept
    columns whose use is measured, by default those that look like classes. ``person`` says whose a record is,
    ``record_id`` names the column of ids of a release with a ``key_file``,
    ``words`` are files of words to report apart, ``public`` a public text that attackers have read.
    ``reading`` says how the file is read, as for ``privatize_file``, and ``settings`` are more fields of
    ``Release``.

    :raises InvalidParameter: if a column has no role, or a setting is not allowed; nothing is written.
    :raises RecordError: if the file cannot be read or the output exists.
    :raises UnusableAuditData: if it holds no text.
    """
    path, folder, how = Path(source), Path(output), dict(reading or {})
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise RecordError(path, "is a pipe, which cannot be looked at first: give a file")
    _check_folder(folder, may_exist=resume or force)
    before = _state_of(path)
    for name, default in (("record_epsilon", None), ("unknown", "perturb"), ("consistent", False)):
        if settings.get(name, default) != default:
            raise InvalidParameter(name, settings[name], "cannot be rehearsed: use `deniable privatize`")
    chosen = {"epsilon": epsilon} if epsilon is not None else {"risk": "low" if risk is None else risk}
    if epsilon is not None and risk is not None:
        raise InvalidParameter("risk", risk, "gives epsilon: give one of the two")
    release = Release(**chosen, never_release=never_release, **settings)
    if not isinstance(release.mechanism, str):
        raise InvalidParameter("mechanism", "your own", "must be one of `deniable mechanisms` here")
    check = _look(path, how, release, progress)
    roles = Roles.of(text=text, drop=drop, keep=keep, keep_sheets=keep_sheets)
    if ask is not None:
        roles = decide(roles, {each.column: ask(each) for each in undecided_columns(check, roles)})
    check_decided(check, roles)
    layout = _layout(path, roles, how)
    private = release.make()
    texts, people = _texts(path, layout, person, how)
    held_back = NeverRelease.of(release.never_release)
    mechanism = ChosenMechanism(name=release.mechanism, options=dict(release.mechanism_options or ()))
    with _shown(progress, "rehearsing attacks", "steps") as report:
        rehearsal = rehearse(
            replace(release, key_file=None).make(),  # never the noise of what is handed over
            mechanism,
            texts,
            lists=_lists(words),
            held_back=held_back,
            people=people,
            public=None if public is None else Path(public),
            report=report,
        )
    limit = share_of(release.risk) if release.risk is not None else _DEFAULT_LIMIT
    use, not_measured = _use(path, check, roles, labels, private.mechanism.embedding, mechanism, release, how)
    verdict = judge(rehearsal, limit=limit, use=use)
    decision = Decision(
        source=path,
        output=folder,
        release=release,
        roles=roles,
        public=_released_as_they_are(check, roles),
        limit=limit,
        verdict=verdict,
        rehearsal=rehearsal,
        numbers=proved_numbers(
            private.mechanism,
            unknown=release.unknown,
            kept=private.card.kept_ids(private.mechanism.embedding),
        ),
        use=use,
        not_measured=not_measured,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        guarantee=private.mechanism.guarantee.statement,
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
            person=person if release.key_file is None else None,
            record_id=record_id,
            workers=workers,
            receipt=folder / "keep" / f"{name}.receipt.json",
            resume=resume,
            force=force,
            progress=progress,
            **how,
        )
        decision = replace(decision, receipt=receipt)
        if _state_of(path) != before:
            shutil.rmtree(drawing)  # or --resume would hand over what was drawn of the earlier file
            raise RecordError(path, "changed since it was looked at: nothing was handed over")
    decision = replace(decision, html=decision_page(decision).html())
    write_whole(decision.page, decision.html + "\n")
    as_json = json.dumps(decision.to_dict(), indent=2, ensure_ascii=False)
    write_whole(decision.page.with_suffix(".json"), as_json + "\n")
    if decision.released:
        drawing.rename(decision.hand_over)  # whole, or not there
    return decision


def plan_file(
    source: Path | str,
    *,
    text: Sequence[str] = (),
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    embedding: str | Path = "default",
    reading: Mapping[str, Any] | None = None,
) -> str:
    """Return what a release would do with each column, a line each; nothing is released."""
    path, how = Path(source), dict(reading or {})
    roles = Roles.of(text=text, drop=drop, keep=keep)
    check = check_file(path, _layout(path, Roles(), how), Embedding.open(embedding))
    missing = {each.column: each for each in undecided_columns(check, roles)}
    lines = []
    for column in check.columns:
        name = str(column.path) if column.path is not None else "the text"
        if column.path is None:
            what = "words replaced"
        elif name in missing:
            what = f"needs a role: {missing[name].looks_like} (for example {missing[name].suggestion})"
        else:
            role = role_of(name, roles)
            what = f"released as it is: looks like {column.kind}" if role is None else _BECOMES[role]
        lines.append(f"{printable(name)}: {what}")
    return "\n".join(lines)


def _look(path: Path, how: dict[str, Any], release: Release, progress: type[Progress] | None) -> FileCheck:
    with _shown(progress, "looking at the file", "bytes") as report:
        return check_file(path, _layout(path, Roles(), how), release.open_embedding(), report=report)


def _layout(path: Path, roles: Roles, how: dict[str, Any]) -> Layout:
    given = {"format": None, "delimiter": None, "header": True, "encoding": "utf-8", "sheet": None} | how
    return make_layout(path, roles=roles, **given)


def _texts(
    path: Path, layout: Layout, person: str | None, how: dict[str, Any]
) -> tuple[list[str], list[str] | None]:
    """Return the texts of the first records, and whose each is if a column of one text says so."""
    if person is not None and len(layout.roles.text) == 1:
        column = layout.roles.text[0]
        records = labelled_records(path, label_column=person, text_column=column, called="person", **how)
        pairs = list(islice(records, MOST_RECORDS))
        return [text for _, text in pairs], [name for name, _ in pairs]
    texts: list[str] = []
    with open_source(path) as source:
        for batch in open_reader(source, layout, None).batches():
            texts += [text or "" for text in batch.texts]
            if len(texts) >= MOST_RECORDS:
                break
    return texts[:MOST_RECORDS], None


def _lists(words: Sequence[Path | str]) -> dict[str, NeverRelease]:
    lists = {"names": NeverRelease.of("names")}
    for path in words:
        lists[Path(path).name] = NeverRelease.of([Path(path)])
    return lists


def _use(
    path: Path,
    check: FileCheck,
    roles: Roles,
    labels: Sequence[str],
    embedding: Any,
    mechanism: ChosenMechanism,
    release: Release,
    how: dict[str, Any],
) -> tuple[dict[str, Findings], dict[str, str]]:
    """Return what the release is good for by label column, and why a column was not measured."""
    wanted = list(labels) or [
        column.path
        for column in check.columns
        if isinstance(column.path, str)
        and column.path not in (*roles.text, *roles.drop)
        and column.kind in ("category", "number")
        and 2 <= column.distinct <= _MOST_CLASSES
        and column.values >= _FEWEST_LABELLED
    ]
    found: dict[str, Findings] = {}
    skipped: dict[str, str] = {}
    if len(roles.text) != 1:
        return found, dict.fromkeys(wanted, "use is measured for one text column")
    from deniable.utility.measurement import measure_utility

    for label in wanted:
        try:
            found[label] = measure_utility(
                path,
                text_column=roles.text[0],
                label_column=label,
                epsilons=[release.epsilon or 0.0],
                embedding=embedding,
                mechanism=mechanism,
                texts=_LABELLED_TEXTS,
                support=_SUPPORT,
                directions=_EFFORT,
                **how,
            )
        except DeniableError as error:
            if label in labels and not isinstance(error, MissingExtra):
                raise
            skipped[label] = str(error)
    return found, skipped


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
