"""Everything that can go wrong, as one tree.

    DeniableError
    ├── InvalidParameter        a value the caller chose is not allowed           exit code 2
    │   └── UndecidedColumns    nobody said what becomes of a column              exit code 2
    ├── MissingExtra            an optional library is not installed              exit code 2
    ├── EmbeddingError          an embedding is missing, malformed or in the way
    │   ├── EmbeddingNotFound   no embedding under that name                      exit code 2
    │   ├── EmbeddingExists     the name is taken                                 exit code 2
    │   └── MalformedEmbedding  the file or the stored copy is not a usable embedding
    ├── DamagedCalibration      a stored calibration cannot be trusted
    ├── DamagedChannel          a stored channel cannot be trusted
    ├── DamagedDecoder          the file of a learnt decoder cannot be trusted
    ├── CalibrationInProgress   another process computes the same calibration
    ├── TargetsNotMet           no ε meets the targets of a calibration
    ├── UnusableAuditData       the data given to an audit cannot answer its question
    ├── MalformedCard           the card of a release cannot be used
    ├── MalformedReceipt        the receipt of a release cannot be read
    ├── NotThisRelease          text was not released as its card says
    ├── RandomnessError         no secure noise can be had: nothing is released
    ├── KeyFileError            a key file cannot be used                         exit code 2
    ├── ClusterError            Spark cannot be started, or gave up on the work
    ├── WorkerLost              a worker process died or stopped
    ├── TaskDataError           a data set of an experiment is missing, cut off or not what it should be
    ├── UnknownWord             a word is unknown and the policy says to stop
    └── RecordError             a file of records cannot be read or written
        └── ResumeError         a partial output does not belong to this job      exit code 2

Every message says what was wrong, where, and what to do about it. Messages never hold private text: not a
word of a record, not a noisy vector, not a score. What they quote from a file (a name, a word) is written so
that it cannot act on a terminal: see ``printable``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deniable.installation import install_command

_MOST_SHOWN = 50


def printable(name: object, *, keep_lines: bool = False) -> str:
    """Return a name or a text with everything that is not shown as a character of its own written out, such
    as ``\\x1b``.

    Control characters, separators of lines and marks of direction are written out; line feeds only stay with
    ``keep_lines``.
    """
    text = str(name)
    if text.isprintable():
        return text
    kept = "\n" if keep_lines else ""
    return "".join(
        c if c.isprintable() or c in kept else c.encode("unicode_escape").decode("ascii") for c in text
    )


class DeniableError(Exception):
    """Base of all errors raised on purpose by deniable."""

    exit_code: int = 1

    def __init__(self, *args: object) -> None:
        super().__init__(
            *(printable(each, keep_lines=True) if isinstance(each, str) else each for each in args)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error be raised in another process: by its message, not its parameters."""
        return _raised_elsewhere, (type(self), self.args, vars(self))


def _raised_elsewhere(
    kind: type[DeniableError], args: tuple[object, ...], attributes: dict[str, object]
) -> DeniableError:
    error = kind.__new__(kind, *args)
    vars(error).update(attributes)
    return error


class _ErrorInFile(DeniableError):
    """What is wrong with a file.

    Attributes: ``source`` (path or description), ``line`` or ``record`` (1-based, if known) and ``problem``.
    """

    begins: str = ""
    advice: str = ""

    def __init__(
        self, source: str | Path, problem: str, *, record: int | None = None, line: int | None = None
    ) -> None:
        where = printable(source)
        if line is not None:
            where += f", line {line:,}"
        elif record is not None:
            where += f", record {record:,}"
        super().__init__(f"{self.begins}{where}: {problem}{self.advice}")
        self.source = str(source)
        self.record = record
        self.line = line
        self.problem = problem


class InvalidParameter(DeniableError, ValueError):
    """A parameter has a value that is not allowed.

    Attributes: ``name`` of the parameter, the offending ``value``, and ``problem`` in words.
    """

    exit_code = 2

    def __init__(self, name: str, value: object, problem: str) -> None:
        super().__init__(f"{name} = {value!r}: {problem}")
        self.name = name
        self.value = value
        self.problem = problem


class UndecidedColumns(InvalidParameter):
    """Columns that nobody named would be released as they are.

    Attributes: ``source``, and ``columns``: each by its name, with what it looks like or why it is not
    judged.
    """

    def __init__(
        self, source: str | Path, columns: dict[str, str], *, judged: str = "", advice: str | None = None
    ) -> None:
        shown = [f"{printable(name) or '(no name)'} ({why})" for name, why in columns.items()]
        more = f" and {len(shown) - _MOST_SHOWN:,} more" if len(shown) > _MOST_SHOWN else ""
        listed = ", ".join(shown[:_MOST_SHOWN]) + more
        advice = advice or (
            f"roles are missing for {listed}. Drop a column with --drop, release it unchanged with --keep, "
            f"or privatize it with --column. None of these was released.{judged}"
        )
        DeniableError.__init__(self, f"{source}: {advice}")
        self.source = str(source)
        self.columns = columns
        self.name, self.value, self.problem = "columns", list(columns), str(self)


class MissingExtra(DeniableError, ImportError):
    """An optional library is needed; the message gives the pip command."""

    exit_code = 2

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs an optional library: {printable(install_command(extra))}")
        self.purpose = purpose
        self.extra = extra


class EmbeddingError(DeniableError):
    """An embedding cannot be found, read or stored."""


class EmbeddingNotFound(EmbeddingError):
    """No embedding is installed under that name."""

    exit_code = 2

    def __init__(self, name: str, installed: list[str]) -> None:
        super().__init__(
            f"no embedding named {name!r}; installed: {', '.join(installed)}. Add one: deniable embeddings "
            f"add FILE --name {name}"
        )
        self.name = name
        self.installed = installed


class EmbeddingExists(EmbeddingError):
    """The name is taken by an installed embedding."""

    exit_code = 2

    def __init__(self, name: str) -> None:
        super().__init__(
            f"an embedding named {name!r} is installed already; choose another name or remove it: deniable "
            f"embeddings remove {name}"
        )
        self.name = name


class MalformedEmbedding(_ErrorInFile, EmbeddingError, ValueError):
    """A file is not a usable embedding."""


class DamagedCalibration(_ErrorInFile):
    """The files of a stored calibration are not what was written."""

    advice = "; the stored calibration is damaged: remove its folder and calibrate again"


class DamagedChannel(_ErrorInFile):
    """The files of a stored channel are not what was written."""

    advice = "; the stored channel is damaged: remove its folder, and it is made again"


class DamagedDecoder(_ErrorInFile, ValueError):
    """The file of a learnt decoder is missing, or not what was written."""

    begins = "decoder "
    advice = "; learn it again from the release, and save it"


class CalibrationInProgress(DeniableError):
    """Another process is computing the same calibration; ``process`` is its number, where it is known."""

    def __init__(self, source: str | Path, embedding: str, process: int | None) -> None:
        by = "another process" if process is None else f"process {process}"
        super().__init__(
            f"{source}: this calibration of {embedding!r} is being computed by {by}; wait until it is done "
            "and run the same command again, "
            "which reads what was found, or stop that one: this one then goes on from there"
        )
        self.source = str(source)
        self.process = process


class TargetsNotMet(DeniableError):
    """No ε meets the targets of a calibration; the message says why."""


class UnusableAuditData(_ErrorInFile, ValueError):
    """The data given to an audit cannot answer its question, such as too few people or texts."""


class MalformedCard(_ErrorInFile, ValueError):
    """The card of a release cannot be used: it is missing, no card, or that of another embedding."""

    begins = "card "


class MalformedReceipt(_ErrorInFile, ValueError):
    """The receipt of a release cannot be shown: it is missing, or no receipt."""

    begins = "receipt "


class NotThisRelease(DeniableError, ValueError):
    """Text was not released as its card says, so decoding it would say nothing."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"this text cannot be decoded: {problem}")
        self.problem = problem


class RandomnessError(DeniableError):
    """Secure random numbers are not available, so nothing was released."""


class TaskDataError(_ErrorInFile):
    """A file of an experiment (a data set, a result) is missing, cut off or not what it should be."""


class KeyFileError(_ErrorInFile):
    """A key file is missing, unsafe or damaged; the message never shows what is in it."""

    exit_code = 2
    begins = "key file "

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.source


class ClusterError(DeniableError):
    """Spark cannot be started here, or gave up on the work; nothing was published."""


class WorkerLost(DeniableError):
    """A worker process died or stopped; nothing that it had not finished was released."""


class UnknownWord(DeniableError, ValueError):
    """A text holds a word the embedding does not know and the policy is to stop.

    The word itself is not part of the message: error logs are read by more people than the text.
    Attributes: ``record`` and ``position``, both counted from 1.
    """

    def __init__(self, *, record: int, position: int) -> None:
        super().__init__(
            f"record {record:,}, word {position:,}: unknown to the embedding, and unknown='error' says to "
            "stop; neither this record nor any after it was released. Choose another policy (perturb, "
            "redact, drop) or another embedding"
        )
        self.record = record
        self.position = position


class RecordError(_ErrorInFile):
    """A file of records cannot be read or written."""


class ResumeError(RecordError):
    """A partial output exists that this job cannot continue."""

    exit_code = 2
