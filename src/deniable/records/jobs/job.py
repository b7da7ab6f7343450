"""A file of records into a file of released records: no record lost, repeated or drawn twice, whenever the work is cut off.

Released records are appended to ``OUT.partial`` about once a second; once they are on disk a line in ``OUT.journal`` says
so. Work that is cut off is continued from the last such line: the partial file is cut to that length, as many records of
the input are skipped, and what was released stays as it is. ``OUT`` appears at the very end, complete,
with receipt and card beside it. A batch that was drawn but never reached the journal is drawn again; nobody was ever given it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from deniable.atomic import beside, check_apart, check_place, check_regular, discard_drafts, publish, sync_file, write_whole
from deniable.compression import compress, compression_for, repack
from deniable.errors import InvalidParameter, RecordError, ResumeError, printable
from deniable.progress import Progress
from deniable.records.formats.layout import Layout
from deniable.records.formats.opening import naming_for, open_reader
from deniable.records.formats.reader import BatchSize, Reader
from deniable.records.formats.source import Source
from deniable.records.jobs.identity import check_budget, check_finished, check_identity, identity_of, receipt_of
from deniable.records.jobs.journal import Journal, Partial
from deniable.records.jobs.releasing import Checkpoints, Pack, check_workers, releasing
from deniable.text.card import Card
from deniable.text.card_file import ENDING as CARD
from deniable.text.privatizer import Privatizer
from deniable.text.receipt import Receipt, Tally


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
    before_publishing: Callable[[], None] | None = None,
) -> Receipt | None:
    """Release the records of a source into a file and return the receipt; None if that was finished before. A stream cannot be resumed.

    If the target is a link, what it links to is written, unless ``through_links`` is False: it is refused then. ``before_publishing``
    is called when all is done but that the output gets its name; if it raises, the work can be continued.
    """
    job = Job(private, source, layout, Path(target), receipt, workers=workers, through_links=through_links)
    return job.run(resume=resume, force=force, progress=progress, before_publishing=before_publishing)


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
        # What is released must not be left without a receipt or a card because it cannot be written in the end.
        check_regular(self.receipt_path, "name another file for the receipt")
        check_regular(self.card_path, "the card goes there; name another output")
        self._finishing_path = beside(self.target, ".finishing")
        written = (self.target, self.partial_path, self.journal_path, self._finishing_path, self.receipt_path, self.card_path)
        check_apart(source.name, *written)
        self._private, self._source, self._layout = private, source, layout
        self._workers = check_workers(private, workers)

    def run(
        self, *, resume: bool, force: bool, progress: type[Progress] | None, before_publishing: Callable[[], None] | None = None
    ) -> Receipt | None:
        """Do the work, or the rest of it, and return the receipt; None if it was finished before."""
        if resume and self._source.identity() is None:
            raise InvalidParameter("resume", True, "a stream cannot be read again; resuming needs a file as input")
        if resume and self._private.settings.seeded:
            raise InvalidParameter("resume", True, "with a seed the noise of the earlier run would be repeated; start over with --force")
        # Made now and not at the end: a calibration that cannot be read is said before anything is drawn, and it is read once.
        promised, card = self._private.receipt_for(Tally()), self._private.card.for_columns(self._layout.columns)
        reader = open_reader(self._source, self._layout, naming_for(self._private, self._source, self._layout))
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
            receipt = receipt_of(promised, reader, self._layout, journal.tally)
            return self._finish(receipt, card, reader, journal, before_publishing)
        except OSError as error:
            if error.filename is not None:
                raise
            problem = f"{error.strerror or error}; the work can be continued with --resume"
            raise RecordError(self.partial_path, problem) from error
        finally:
            if not journal.ends:  # there is nothing to continue from
                self._clean_up(journal)
            journal.close()

    def _open(self, journal: Journal, *, resume: bool, force: bool) -> Partial | None:
        """Return the partial file to append to; None if every record is released already."""
        now = identity_of(self._private, self._source, self._layout)
        if resume and journal.ends:
            check_identity(journal.job or {}, now, self.partial_path)
            return self._continue(journal, force=force)
        if resume and journal.job is None and self.target.exists() and not self.partial_path.exists() and not force:
            check_finished(self._private, self.receipt_path, self.target)
            return None
        force = force or (resume and journal.replaces)
        if not force:
            if journal.ends or (journal.job is None and self.partial_path.exists()):
                way_out = "its journal is gone; " if resume else "continue it with --resume, or "
                raise ResumeError(self.partial_path, f"is there from an earlier run; {way_out}start over with --force")
            self._refuse(self.target)
            self._refuse(self.receipt_path)
            self._refuse(self.card_path)
        journal.begin(now, replaces=force)
        self._finishing_path.unlink(missing_ok=True)
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

    def _release(self, reader: Reader, journal: Journal, partial: Partial, progress: type[Progress] | None) -> None:
        work = Checkpoints(reader, journal, partial, self._pack(reader))
        size = BatchSize()
        try:
            reader.skip(journal.records)
            with releasing(self._private, workers=self._workers, not_for_workers=(journal.fileno(), partial.fileno())) as release:
                if progress is None:
                    work.run(release, size, None)
                else:
                    with progress(printable(self.target.name), total=reader.total, done=reader.position(), unit=reader.unit) as shown:
                        work.run(release, size, shown)
        finally:
            partial.close()

    def _pack(self, reader: Reader) -> Pack:
        if self._layout.format == "parquet":
            from deniable.records.formats.arrow_partial import pack_stream
            from deniable.records.formats.parquet import ParquetReader

            assert isinstance(reader, ParquetReader)  # noqa: S101
            schema = reader.schema
            return lambda pieces: pack_stream(pieces, schema)
        kind = compression_for(self.target)
        return lambda pieces: compress(b"".join(pieces), kind)

    def _finish(
        self, receipt: Receipt, card: Card, reader: Reader, journal: Journal, before_publishing: Callable[[], None] | None
    ) -> Receipt:
        if self.partial_path.exists():
            if self._layout.format == "parquet" or compression_for(self.target) is not None:
                self._seal(reader, journal)
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
        """Give the partial file its final form, in which nothing is left of where batches and checkpoints ended.

        Each step can be cut off: the copy starts over, the renaming is repeated.
        """
        finished = self._finishing_path
        if not journal.sealed:
            finished.unlink(missing_ok=True)
            self._copy_into(finished, reader, journal)
            sync_file(finished)
            journal.seal()
        if finished.exists():
            finished.replace(self.partial_path)

    def _copy_into(self, finished: Path, reader: Reader, journal: Journal) -> None:
        kind = compression_for(self.target)
        if kind is not None:
            repack(self.partial_path, finished, kind)
            return
        from deniable.records.formats.arrow_partial import streams_to_parquet
        from deniable.records.formats.parquet import ParquetReader

        assert isinstance(reader, ParquetReader)  # noqa: S101
        streams_to_parquet(self.partial_path, journal.ends, reader.footer, finished, private=self._layout.columns)

    def _refuse(self, path: Path) -> None:
        if path.exists():
            raise RecordError(path, "exists already; replace it with --force")

    def _clean_up(self, journal: Journal) -> None:
        if journal.job is not None:
            self.partial_path.unlink(missing_ok=True)
        journal.remove()


def _check_target(target: Path, layout: Layout, *, through_links: bool) -> Path:
    """Return the path to write to: the target itself, or what it links to.

    :raises InvalidParameter: if the target's name speaks of another format than the input has.
    :raises RecordError: if it is a folder or a device, its folder is not there, or it is a link and none may be followed.
    """
    if target.is_symlink():
        if not through_links:
            raise RecordError(target, "is a link, and nothing is written through links here; remove it")
        target = target.resolve()
    check_place(target, "without -o the output goes to standard output")
    layout.check_output_name(target)
    return target
