"""A file of records into a file of released records: no record lost, repeated or drawn twice, whenever the
work is cut off.

Released records are appended to ``OUT.partial`` about once a second; once they are on disk a line in
``OUT.journal`` says so. Work that is cut off is continued from the last such line: the partial file is cut to
that length, as many records of the input are skipped, and what was released stays as it is. ``OUT`` appears
at the very end, complete, with receipt and card beside it. A batch that was drawn but never reached the
journal is drawn again; nobody was ever given it.

A partial output may only be continued by the very job that began it, which its journal describes; a finished
one is recognised by its receipt. That holds what the privatizer says, and what the other columns disclose.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from deniable.atomic import (
    beside,
    check_apart,
    check_place,
    check_regular,
    discard_drafts,
    publish,
    read_plain_file,
    remove,
    sync_file,
    write_whole,
)
from deniable.compression import compress, compression_for, repack
from deniable.errors import InvalidParameter, MalformedReceipt, RecordError, ResumeError, printable
from deniable.progress import Progress
from deniable.records.checking.deciding import decide
from deniable.records.formats.layout import FOLDER, Layout, left_out
from deniable.records.formats.opening import naming_for, open_reader
from deniable.records.formats.reader import BatchSize, FinishedAtTheEnd, Reader
from deniable.records.formats.source import Source
from deniable.records.jobs.journal import Journal, Partial
from deniable.records.jobs.released_before import InputFile, describe_output
from deniable.records.jobs.releasing import Checkpoints, Pack, check_workers, releasing
from deniable.release.card import ENDING as CARD
from deniable.release.card import Card
from deniable.release.privatizer import Privatizer
from deniable.release.receipt import LONGEST_RECEIPT, Receipt
from deniable.release.tally import Tally
from deniable.version import __version__
from deniable.words.cutter import rules_for

_VERSIONS = {
    "rules_for_words": "rules for words",
    "keyed_noise": "keyed noise",
    "unicode_tables": "Unicode tables of regex",
}
_DESCRIBING = ("mechanism", "guarantee", "epsilon_per_word", "epsilon_per_record", "embedding", "policy")


def run_job(
    private: Privatizer,
    source: Source,
    layout: Layout,
    target: Path | str,
    *,
    workers: int = 1,
    receipt: Path | None = None,
    resume: bool = False,
    force: bool = False,
    progress: type[Progress] | None = None,
    through_links: bool = True,
    by_name: bool = False,
    warn: Callable[[str], None] | None = None,
    before_publishing: Callable[[], None] | None = None,
) -> Receipt | None:
    """Release the records of a source into a file and return the receipt; None if that was finished before. A
    stream cannot be resumed.

    If the target is a link, what it links to is written, unless ``through_links`` is False: it is refused
    then. ``before_publishing`` is called when all is done but that the output gets its name; if it raises,
    the work can be continued. ``by_name`` asks for a role of every column, and ``warn`` is called with what
    to look at among those that have none.

    :raises UndecidedColumns: if something would be released as it is that nobody named.
    """
    job = Job(private, source, layout, Path(target), receipt, workers=workers, through_links=through_links)
    return job.run(
        resume=resume,
        force=force,
        progress=progress,
        by_name=by_name,
        warn=warn,
        before_publishing=before_publishing,
    )


class Job:
    """One file on its way into another."""

    def __init__(
        self,
        private: Privatizer,
        source: Source,
        layout: Layout,
        target: Path,
        receipt: Path | None,
        *,
        workers: int = 1,
        through_links: bool = True,
    ) -> None:
        """Check where everything goes.

        :raises InvalidParameter: if the budget does not fit the columns or a name does not fit the format.
        :raises RecordError: if the output cannot go where it is to go.
        """
        check_budget(private.record_epsilon, layout.columns)
        self.target = _check_target(target, layout, through_links=through_links)
        self.partial_path = beside(self.target, ".partial")
        self.journal_path = beside(self.target, ".journal")
        self.receipt_path = beside(self.target, ".receipt.json") if receipt is None else receipt
        self.card_path = beside(self.target, CARD)
        # What is released must not be left without a receipt or a card because it cannot be written in the
        # end.
        check_regular(self.receipt_path, "name another file for the receipt")
        check_regular(self.card_path, "the card goes there; name another output")
        self._finishing_path = beside(self.target, ".finishing")
        written = (
            self.target,
            self.partial_path,
            self.journal_path,
            self._finishing_path,
            self.receipt_path,
            self.card_path,
        )
        check_apart(source.name, *written)
        self._private, self._source, self._layout = private, source, layout
        self._workers = check_workers(private, workers)

    def run(
        self,
        *,
        resume: bool,
        force: bool,
        progress: type[Progress] | None,
        by_name: bool = False,
        warn: Callable[[str], None] | None = None,
        before_publishing: Callable[[], None] | None = None,
    ) -> Receipt | None:
        """Do the work, or the rest of it, and return the receipt; None if it was finished before."""
        if resume and self._source.identity() is None:
            raise InvalidParameter(
                "resume", True, "a stream cannot be read again; resuming needs a file as input"
            )
        if resume and self._private.settings.seeded:
            raise InvalidParameter(
                "resume",
                True,
                "with a seed the noise of the earlier run would be repeated; start over with force=True",
            )
        # Made now and not at the end: a calibration that cannot be read is said before anything is drawn, and
        # it is read once.
        promised, card = (
            self._private.receipt_for(Tally()),
            self._private.card.for_columns(self._layout.columns),
        )
        reader = open_reader(
            self._source, self._layout, naming_for(self._private, self._source, self._layout)
        )
        check_budget(self._private.record_epsilon, self._layout.columns, lists=reader.has_lists)
        for warning in decide(
            self._source, self._layout, reader, self._private.mechanism.embedding, by_name=by_name
        ):
            if warn is not None:
                warn(warning)
        known = None if self._source.identity() is None else InputFile(self._source)
        if known is not None and warn is not None and not resume:
            beside_input = Path(self._source.name).parent
            for warning in known.warnings(self._private, (self.target.parent, beside_input)):
                warn(warning)
        try:
            journal = Journal(self.journal_path)
        except OSError as error:
            raise RecordError(self.target, f"cannot be written there: {error.strerror or error}") from error
        try:
            partial = self._open(journal, resume=resume, force=force)
            if partial is None and journal.job is None:
                return None
            if partial is not None:
                self._release(reader, journal, partial, progress)
            receipt = replace(
                receipt_of(promised, reader, self._layout, journal.tally, journal.generators),
                job=self._job_digest,
            )
            return self._finish(receipt, card, reader, journal, known, before_publishing)
        except OSError as error:
            if error.filename is not None:
                raise
            problem = f"{error.strerror or error}; the work can be continued with resume=True"
            raise RecordError(self.partial_path, problem) from error
        finally:
            if not journal.ends:  # there is nothing to continue from
                self._clean_up(journal)
            journal.close()

    @cached_property
    def _job_digest(self) -> str:
        """A digest of where the input lies and of all settings: who asks for other columns must not take this
        output for theirs.

        Nothing of what stands in the input is part of it, not even its size: the digest is in the receipt.
        """
        return _digest(
            {"input": (self._source.identity() or {}).get("input")} | _settings(self._private, self._layout)
        )

    def _open(self, journal: Journal, *, resume: bool, force: bool) -> Partial | None:
        """Return the partial file to append to; None if every record is released already."""
        now = identity_of(self._private, self._source, self._layout)
        if resume and journal.ends:
            check_identity(journal.job or {}, now, self.partial_path)
            return self._continue(journal, force=force)
        if (
            resume
            and journal.job is None
            and self.target.exists()
            and not self.partial_path.exists()
            and not force
        ):
            check_finished(self._private, self._job_digest, self.receipt_path, self.target)
            return None
        force = force or (resume and journal.replaces)
        if not force:
            if journal.ends or (journal.job is None and self.partial_path.exists()):
                way_out = "its journal is gone; " if resume else "continue it with resume=True, or "
                raise ResumeError(
                    self.partial_path, f"is there from an earlier run; {way_out}start over with force=True"
                )
            self._refuse(self.target)
            self._refuse(self.receipt_path)
            self._refuse(self.card_path)
        if self._layout.format == FOLDER and self.target.exists():
            raise RecordError(
                self.target, "exists already, and a folder is not replaced; remove it or name another"
            )
        journal.begin(now, replaces=force)
        for path in (self._finishing_path, self.partial_path):
            remove(path)
        return Partial(self.partial_path)

    def _continue(self, journal: Journal, *, force: bool) -> Partial | None:
        if journal.complete and not self.partial_path.exists() and self.target.exists():
            return None
        if not (journal.replaces or force):
            self._refuse(self.target)
        if journal.sealed:
            return None
        partial = Partial.reopen(self.partial_path, length=journal.length, crc=journal.crc)
        if not journal.complete:
            return partial
        partial.close()
        return None

    def _release(
        self, reader: Reader, journal: Journal, partial: Partial, progress: type[Progress] | None
    ) -> None:
        work = Checkpoints(
            reader, journal, partial, self._pack(reader), self._private.settings.randomness.get("generator")
        )
        size = BatchSize(one_text=self._private.record_epsilon is not None)
        try:
            reader.skip(journal.records)
            with releasing(
                self._private, workers=self._workers, not_for_workers=(journal.fileno(), partial.fileno())
            ) as release:
                if progress is None:
                    work.run(release, size, None)
                else:
                    with progress(
                        printable(self.target.name),
                        total=reader.total,
                        done=reader.position(),
                        unit=reader.unit,
                    ) as shown:
                        work.run(release, size, shown)
        finally:
            partial.close()

    def _pack(self, reader: Reader) -> Pack:
        if isinstance(reader, FinishedAtTheEnd):
            return reader.pack
        kind = compression_for(self.target)
        return lambda pieces: compress(b"".join(pieces), kind)

    def _finish(
        self,
        receipt: Receipt,
        card: Card,
        reader: Reader,
        journal: Journal,
        known: InputFile | None,
        before_publishing: Callable[[], None] | None,
    ) -> Receipt:
        if self.partial_path.exists() or self._finishing_path.exists():
            self._source.check_unchanged()
            if isinstance(reader, FinishedAtTheEnd) or compression_for(self.target) is not None:
                self._seal(reader, journal)
            if known is not None:
                output = describe_output(self.partial_path, self.target)
                receipt = replace(receipt, files={"input": known.described(), "output": output})
            for path in (self.receipt_path, self.card_path):
                discard_drafts(path)  # of this job when it was killed: the journal's lock keeps others away
            write_whole(self.receipt_path, receipt.to_json())
            card.write(self.card_path)
            if before_publishing is not None:
                before_publishing()
            publish(self.partial_path, self.target)
        journal.remove()
        return receipt

    def _seal(self, reader: Reader, journal: Journal) -> None:
        """Give the partial file its final form, in which nothing is left of where batches and checkpoints
        ended.

        Each step can be cut off: the copy starts over, the renaming is repeated.
        """
        finished = self._finishing_path
        if not journal.sealed:
            remove(finished)
            self._copy_into(finished, reader, journal)
            if finished.is_file():
                sync_file(finished)
            journal.seal()
        if finished.exists():
            if finished.is_dir():  # which takes the place of no file
                remove(self.partial_path)
            finished.replace(self.partial_path)

    def _copy_into(self, finished: Path, reader: Reader, journal: Journal) -> None:
        if isinstance(reader, FinishedAtTheEnd):
            reader.finish(self.partial_path, journal.ends, finished)
        elif (kind := compression_for(self.target)) is not None:
            repack(self.partial_path, finished, kind)

    def _refuse(self, path: Path) -> None:
        if path.exists():
            raise RecordError(path, "exists already; replace it with force=True")

    def _clean_up(self, journal: Journal) -> None:
        if journal.job is not None:
            remove(self.partial_path)
        journal.remove()


def _check_target(target: Path, layout: Layout, *, through_links: bool) -> Path:
    """Return the path to write to: the target itself, or what it links to.

    :raises InvalidParameter: if the target's name speaks of another format than the input has.
    :raises RecordError: if it is a folder or a device, its folder is not there, or it is a link and none may
        be followed.
    """
    if target.is_symlink():
        if not through_links:
            raise RecordError(target, "is a link, and nothing is written through links here; remove it")
        target = target.resolve()
    if layout.format != FOLDER or not target.is_dir():
        check_place(target, "without -o the output goes to standard output")
    layout.check_output_name(target)
    return target


def identity_of(private: Privatizer, source: Source, layout: Layout) -> dict[str, Any]:
    """Return the input and every setting that the output depends on, as JSON-ready data without private
    text."""
    return {
        "deniable": __version__,
        **(source.identity() or {"input": source.name}),
        **_settings(private, layout),
    }


def settings_digest(private: Privatizer, layout: Layout) -> str:
    """Return a digest of every setting that the output depends on: with a key, equal digests and records give
    equal words."""
    return _digest(_settings(private, layout))


def _digest(described: Mapping[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(described, sort_keys=True).encode(), digest_size=16).hexdigest()


def _settings(private: Privatizer, layout: Layout) -> dict[str, Any]:
    settings, policy = private.settings, private.policy
    keep_words = "\n".join(sorted(policy.keep_words)).encode("utf-8", "surrogatepass")
    return {
        **layout.to_dict(),
        "rules_for_words": rules_for(settings.mechanism.embedding),
        "mechanism": settings.mechanism_name,
        "epsilon": settings.ceiling,
        "record_epsilon": settings.record_epsilon,
        "parameters": repr(dict(settings.mechanism.guarantee.parameters)),
        "embedding": settings.mechanism.embedding.fingerprint,
        **policy.choices,
        "keep_words": hashlib.blake2b(keep_words, digest_size=8).hexdigest(),
        "randomness": settings.randomness["source"],
        "keyed_noise": settings.randomness.get("version"),
        "key": settings.randomness.get("key"),
        "consistent": settings.randomness.get("consistent"),
        **{name: settings.randomness[name] for name in ("unicode_tables",) if name in settings.randomness},
    }


def check_identity(begun: Mapping[str, Any], now: Mapping[str, Any], partial: Path) -> None:
    """Do nothing if both are the same job.

    :raises ResumeError: if not, with every setting that differs.
    """
    if begun.get("randomness") == "keyed":
        begun = {
            **begun,
            "keyed_noise": begun.get("keyed_noise", 1),
        }  # what jobs were begun with before they said so
    differing = [key for key in {**begun, **now} if begun.get(key) != now.get(key)]
    if versions := [
        f"{_VERSIONS[key]} {begun.get(key)}, now {now.get(key)}" for key in _VERSIONS if key in differing
    ]:
        problem = (
            "was begun by another version of deniable, which cuts text or draws noise otherwise "
            f"({'; '.join(versions)})"
        )
        way_out = (
            "finish it with that version, or delete it with its journal, or start over with "
            "force=True: all is drawn anew then"
        )
        raise ResumeError(partial, f"{problem}; {way_out}")
    if differing:
        settings = "; ".join(f"{key} was {begun.get(key)!r} and is {now.get(key)!r}" for key in differing)
        raise ResumeError(
            partial,
            f"belongs to another job: {settings}. Use the same settings, or start over with force=True",
        )


def receipt_of(
    promised: Receipt, reader: Reader, layout: Layout, tally: Tally, generators: Sequence[str] = ()
) -> Receipt:
    """Return the receipt for the records counted in the tally, given one that was made before any record was
    read.

    ``generators`` are what drew the words, if the work was done in several runs: the last of them promises
    for itself alone.
    """
    public = promised.public
    if reader.untouched:
        public = (*public, f"released exactly as it is: {reader.untouched}")
    public = (*public, *left_out(layout.roles))
    several = tally.knows_rows and tally.rows < tally.records
    relaxations = relaxations_of(
        promised.relaxations, layout.columns, lists=reader.has_lists, several=several
    )
    if (
        len(layout.columns) <= 1 and not reader.has_lists and not tally.knows_rows
    ):  # begun by a version that did not count rows
        tally = tally.every_text_is_a_row()
    drawn_by = {"generator": "; then ".join(generators)} if generators else {}
    randomness = {**promised.randomness, **drawn_by}
    return replace(
        promised.with_tally(tally), public=public, relaxations=tuple(relaxations), randomness=randomness
    )


def relaxations_of(
    relaxations: Sequence[str], columns: Sequence[str], *, lists: bool = False, several: bool = False
) -> list[str]:
    """Return what is disclosed beyond the guarantee, with what releasing several columns of a record, or
    lists in it, adds to it.

    ``several`` says that records had more than one text, also if they have no lists: one name can be that of
    a key and a path.
    """
    found = list(relaxations)
    if several and len(columns) == 1 and not lists:
        found.append(
            "a record has the column by its very name and by its path: what is spent on a row adds up over "
            "both (in the budget: "
            "longest_row; a record there is one text)"
        )
    if lists and len(columns) == 1:
        found.append(
            "a column holds lists of texts: what is spent on a row adds up over its elements (in the budget: "
            "longest_row; a record there "
            "is one element), and how many elements a list has is released"
        )
    if len(columns) > 1:
        found.append(
            f"{len(columns)} columns are privatized: what is spent on a row adds up over its cells (in the "
            "budget: longest_row; a record "
            "there is one cell)"
        )
    return found


def check_finished(private: Privatizer, job: str, receipt: Path, target: Path) -> None:
    """Do nothing if a finished output is that of the job with this digest, by its receipt.

    :raises ResumeError: if there is no receipt, by which anybody's file could be taken for a release, or if
        it says otherwise, with every setting that differs as far as it tells.
    """
    try:
        made = json.loads(
            read_plain_file(receipt, longest=LONGEST_RECEIPT, what="receipt", error=MalformedReceipt)
        )
        then = {key: made[key] for key in _DESCRIBING}
        noise = dict(made.get("randomness", {}))
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ):  # MalformedReceipt is a ValueError
        problem = (
            f"exists, and no receipt ({receipt.name}) says that it was released; name another output, "
            "or start over with force=True"
        )
        raise ResumeError(target, problem) from None
    described = private.settings.to_dict()
    differing = [key for key in _DESCRIBING if then[key] != described[key]]
    if any(noise.get(key) != described["randomness"].get(key) for key in ("key", "consistent")):
        differing.append("key")
    elif noise.get("source") == "keyed" and noise.get("version", 1) != described["randomness"].get("version"):
        differing.append("version of keyed noise")
    if differing:
        problem = (
            f"is finished, with other settings ({', '.join(differing)}); name another output, or "
            "start over with force=True"
        )
        raise ResumeError(target, problem)
    if made.get("job") != job:
        another = (
            "the input lay elsewhere, or other columns were named, other words kept, or the file was "
            "read otherwise"
        )
        raise ResumeError(
            target,
            f"is finished, by another job: {another}; name another output, or start over with force=True",
        )


def check_budget(record_epsilon: float | None, columns: Sequence[str], *, lists: bool = False) -> None:
    """Do nothing if a budget per record means what it says; ``lists`` says whether a column may hold several
    texts of a record.

    :raises InvalidParameter: if it would be spent once per column, or per element of a list.
    """
    if record_epsilon is not None and lists:
        problem = (
            "would be spent once per element: a column holds lists of texts; use epsilon, or put each "
            "text into a record of its own"
        )
        raise InvalidParameter("record_epsilon", record_epsilon, problem)
    if record_epsilon is not None and len(columns) > 1:
        problem = f"would be spent {len(columns)} times, once per column; name one column, or use epsilon"
        raise InvalidParameter("record_epsilon", record_epsilon, problem)
