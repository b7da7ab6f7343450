"""A file of records into a file of released records: no record lost, repeated or drawn twice, whenever the
work is cut off.

Released records are appended to ``OUT.partial`` about once a second; once they are on disk a line in
``OUT.journal`` says so. Work that is cut off is continued from the last such line: the partial file is cut to
that length, as many records of the input are skipped, and what was released stays as it is. ``OUT`` appears
at the very end, complete, with receipt and card beside it. A batch that was drawn but never reached the
journal is drawn again; nobody was ever given it.

A partial output may only be continued by the very job that began it, which its journal describes; a finished
one is recognised by its receipt.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from deniable.atomic import (
    beside,
    check_apart,
    check_new,
    check_place,
    check_regular,
    discard_drafts,
    publish,
    remove,
    sync_file,
    write_whole,
)
from deniable.compression import compress, compression_for, repack
from deniable.errors import InvalidParameter, RecordError, ResumeError, printable
from deniable.progress import Progress
from deniable.records.deciding import open_decided
from deniable.records.describing import (
    check_finished,
    check_identity,
    digest_of,
    receipt_of,
    released_before,
    settings_of,
)
from deniable.records.formats.layout import FOLDER, Layout
from deniable.records.formats.opening import open_source
from deniable.records.formats.reader import Reader
from deniable.records.formats.source import Source
from deniable.records.journal import Journal, Partial
from deniable.records.releasing import check_workers, releasing
from deniable.release.card import ENDING as CARD
from deniable.release.card import Card
from deniable.release.privatizer import Privatizer
from deniable.release.receipt import Receipt
from deniable.release.tally import Tally
from deniable.version import __version__

SECONDS_BETWEEN_CHECKPOINTS = 1.0
_BYTES_BETWEEN_CHECKPOINTS = 8 << 20


@dataclass(eq=False, repr=False)
class Job:
    """One file on its way into another: ``run`` releases the records of a source into the target.

    If the target is a link, what it links to is written, unless ``through_links`` is False: it is refused
    then. ``resume`` continues work that was cut off, ``force`` replaces what is there. ``by_name`` asks for a
    role of every column, and ``warn`` is called with what to look at among those that have none.
    ``before_publishing`` is called when only the output's name is missing; if it raises, the work can be
    continued.
    """

    private: Privatizer
    source: Source
    layout: Layout
    target: Path
    _: KW_ONLY
    workers: int = 1
    receipt: Path | None = None
    resume: bool = False
    force: bool = False
    progress: type[Progress] | None = None
    through_links: bool = True
    by_name: bool = False
    warn: Callable[[str], None] | None = None
    before_publishing: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        """Check where everything goes.

        :raises InvalidParameter: if a name does not fit the format, workers cannot share the work, or what is
            to be resumed cannot be.
        :raises RecordError: if the output cannot go where it is to go.
        """
        if self.target.is_symlink():
            if not self.through_links:
                problem = "is a link, and nothing is written through links here; remove it"
                raise RecordError(self.target, problem)
            self.target = self.target.resolve()
        if self.layout.format != FOLDER or not self.target.is_dir():
            check_place(self.target, "without -o the output goes to standard output")
        self.layout.check_output_name(self.target)
        self.partial_path = beside(self.target, ".partial")
        self.journal_path = beside(self.target, ".journal")
        self.receipt_path = self.receipt or beside(self.target, ".receipt.json")
        self.card_path = beside(self.target, CARD)
        self._finishing_path = beside(self.target, ".finishing")
        # What is released must not be left without a receipt or a card because it cannot be written in the
        # end.
        check_regular(self.receipt_path, "name another file for the receipt")
        check_regular(self.card_path, "the card goes there; name another output")
        own = (self.partial_path, self.journal_path, self._finishing_path, self.receipt_path, self.card_path)
        check_apart(self.source.name, self.target, *own)
        check_workers(self.private, self.workers)
        problem = ""
        if self.source.identity is None:
            problem = "a stream cannot be read again; resuming needs a file as input"
        elif self.private.settings.seeded:
            problem = "with a seed the noise of the earlier run would be repeated; start over with force=True"
        if self.resume and problem:
            raise InvalidParameter("resume", True, problem)
        settings, known = settings_of(self.private, self.layout), self.source.identity or {}
        self._identity = {"deniable": __version__, **(known or {"input": self.source.name}), **settings}
        # For the receipt: another job must not take its output for its own. What is in the input is no part
        # of it, not even its size.
        self._digest = digest_of({"input": known.get("input")} | settings)

    def run(self) -> Receipt | None:
        """Do the work, or the rest of it, and return the receipt; None if it was finished before.

        :raises UndecidedColumns: if something would be released as it is that nobody named.
        :raises RecordError: if the input cannot be read or the output cannot be written.
        :raises ResumeError: if a partial output is in the way or belongs to another job.
        """
        # A calibration that cannot be read is noticed now, and it is read once.
        promised, card = (
            self.private.receipt_for(Tally()),
            self.private.card.for_columns(self.layout.roles.text),
        )
        # Before the look: what is judged is what the digest names. Without one, a file is refused unread.
        digest = None if self.by_name else self.source.digest()
        reader, warnings = open_decided(self.private, self.source, self.layout, by_name=self.by_name)
        digest = digest or self.source.digest()
        if self.warn is not None:
            if digest is not None and not self.resume:
                folders = (self.target.parent, Path(self.source.name).parent)
                warnings += released_before(digest, self.private, folders)
            for warning in warnings:
                self.warn(warning)
        try:
            journal = Journal(self.journal_path)
        except OSError as error:
            raise RecordError(self.target, f"cannot be written there: {error.strerror or error}") from error
        try:
            partial = self._open(journal)
            if partial is None and journal.job is None:
                return None
            if partial is not None:
                try:
                    self._release(reader, journal, partial)
                finally:
                    partial.close()
            receipt = receipt_of(promised, reader, self.layout, journal.tally, journal.generators)
            return self._finish(replace(receipt, job=self._digest), card, reader, journal)
        except OSError as error:
            if error.filename is not None:
                raise
            problem = f"{error.strerror or error}; the work can be continued with resume=True"
            raise RecordError(self.partial_path, problem) from error
        finally:
            if not journal.ends:  # there is nothing to continue from
                if journal.job is not None:
                    remove(self.partial_path)
                journal.remove()
            journal.close()

    def _open(self, journal: Journal) -> Partial | None:
        """Return the partial file to append to; None if every record is released already."""
        has_partial, resume, force = self.partial_path.exists(), self.resume, self.force
        if resume and journal.ends:
            check_identity(journal.job or {}, self._identity, self.partial_path)
            return self._continue(journal)
        if resume and journal.job is None and self.target.exists() and not has_partial and not force:
            check_finished(self.private, self._digest, self.receipt_path, self.target)
            return None
        force = force or (resume and journal.replaces)
        if not force:
            if journal.ends or (journal.job is None and has_partial):
                way_out = "its journal is gone; " if resume else "continue it with resume=True, or "
                problem = f"is there from an earlier run; {way_out}start over with force=True"
                raise ResumeError(self.partial_path, problem)
            check_new(self.target, self.receipt_path, self.card_path)
        if self.layout.format == FOLDER and self.target.exists():
            problem = "exists already, and a folder is not replaced; remove it or name another"
            raise RecordError(self.target, problem)
        journal.begin(self._identity, replaces=force)
        remove(self._finishing_path)
        remove(self.partial_path)
        return Partial(self.partial_path)

    def _continue(self, journal: Journal) -> Partial | None:
        if journal.complete and not self.partial_path.exists() and self.target.exists():
            return None
        check_new(self.target, force=journal.replaces or self.force)
        if journal.sealed:
            return None
        partial = Partial.reopen(self.partial_path, length=journal.length, crc=journal.crc)
        if not journal.complete:
            return partial
        partial.close()
        return None

    def _release(self, reader: Reader, journal: Journal, partial: Partial) -> None:
        """Release all that is left, and put it on record every second or so.

        What is drawn waits in memory until its checkpoint, so that nothing reaches the disk that the journal
        does not speak of a moment later.
        """
        if journal.records:
            reader.skip(journal.records)
        records, pieces = journal.records, [] if journal.ends else [reader.head()]
        tally, size, saved = Tally(), 0, time.monotonic()
        generator = self.private.settings.randomness.get("generator")

        def checkpoint(*, complete: bool = False) -> None:
            nonlocal pieces, tally, size, saved
            packed = reader.pack(pieces)
            partial.append(packed if reader.is_whole else compress(packed, compression_for(self.target)))
            journal.checkpoint(
                records=records,
                length=partial.length,
                crc=partial.crc,
                tally=tally,
                generator=generator,
                complete=complete,
            )
            pieces, tally, size, saved = [], Tally(), 0, time.monotonic()

        # With a seed the words depend on which of them are drawn together: batches end where texts are long.
        batches = reader.batches(
            one_text=self.private.record_epsilon is not None, as_one=self.private.settings.seeded
        )
        descriptors = (journal.descriptor, partial.descriptor)
        name, done = printable(self.target.name), reader.position()
        with (
            closing(
                releasing(self.private, batches, workers=self.workers, not_for_workers=descriptors)
            ) as drawn,
            nullcontext()
            if self.progress is None
            else self.progress(name, total=reader.total, done=done, unit=reader.unit) as shown,
        ):
            for batch, released in drawn:
                reader.took(released.seconds)
                pieces.append(reader.write(batch.payloads, released.texts))
                records += len(batch)
                tally.add(released.tally)
                size += len(pieces[-1]) if isinstance(pieces[-1], bytes) else pieces[-1].nbytes
                if (
                    time.monotonic() - saved >= SECONDS_BETWEEN_CHECKPOINTS
                    or size >= _BYTES_BETWEEN_CHECKPOINTS
                ):
                    checkpoint()
                if shown is not None:
                    shown.report(reader.position(), reader.total)
            tail = reader.tail()
            pieces += [tail] if tail else []
            if pieces or not journal.ends:
                checkpoint(complete=bool(tail))
            if not tail:
                journal.add(complete=True)

    def _finish(self, receipt: Receipt, card: Card, reader: Reader, journal: Journal) -> Receipt:
        if self.partial_path.exists() or self._finishing_path.exists():
            self.source.check_unchanged()
            self._seal(reader, journal)
            self.source.check_unchanged()
            if (digest := self.source.digest()) is not None:
                name, size = Path(self.source.name).name, self.source.size
                with open_source(self.partial_path) as output:
                    released = {"name": self.target.name, "bytes": output.size, "digest": output.digest()}
                given = {"name": name, "bytes": size, "digest": digest}
                receipt = replace(receipt, files={"input": given, "output": released})
            for path in (self.receipt_path, self.card_path):
                discard_drafts(path)  # of this job when it was killed: the journal's lock keeps others away
            write_whole(self.receipt_path, receipt.to_json())
            card.write(self.card_path)
            if self.before_publishing is not None:
                self.before_publishing()
            publish(self.partial_path, self.target)
        journal.remove()
        return receipt

    def _seal(self, reader: Reader, journal: Journal) -> None:
        """Give the partial file its final form, in which nothing is left of where batches and checkpoints
        ended.

        Each step can be cut off: the copy starts over, the renaming is repeated.
        """
        finished, kind = self._finishing_path, compression_for(self.target)
        if not reader.is_whole and kind is None:
            return
        if not journal.sealed:
            remove(finished)
            if reader.is_whole:
                reader.finish(self.partial_path, journal.ends, finished)
            elif kind is not None:
                repack(self.partial_path, finished, kind)
            if finished.is_file():
                sync_file(finished)
            journal.add(sealed=True)
        if finished.exists():
            if finished.is_dir():  # which takes the place of no file
                remove(self.partial_path)
            finished.replace(self.partial_path)
