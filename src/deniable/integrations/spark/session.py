"""A Spark session for the command line, and one plain line where Spark reports over pages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deniable.errors import ClusterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_OLDEST_JAVA = 17
_ABOUT_PATHS = {
    "PATH_NOT_FOUND",
    "PATH_ALREADY_EXISTS",
    "UNABLE_TO_INFER_SCHEMA",
    "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
}


def check_java() -> None:
    """Check that Spark will find a Java."""
    home = os.environ.get("JAVA_HOME")
    if _java() is None:
        where = f"in JAVA_HOME ({home})" if home else "on the PATH"
        advice = f"install one (Debian: apt-get install openjdk-{_OLDEST_JAVA}-jre-headless) or set JAVA_HOME"
        raise ClusterError(f"Spark needs Java {_OLDEST_JAVA} or newer and there is none {where}; {advice}")


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java") if home else "java")  # noqa: PTH118 - as Spark itself looks for it


def _if_too_old() -> str:
    """Return what to add to a message if the Java that Spark found is too old for it; nothing otherwise."""
    said = subprocess.run([_java() or "java", "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if version is None or int(version[1]) >= _OLDEST_JAVA:
        return ""
    needed = f"Spark needs Java {_OLDEST_JAVA} or newer: install one, or set JAVA_HOME"
    return f" (this is Java {version[1]}; {needed})"


@contextmanager
def session(master: str | None) -> Iterator[SparkSession]:
    """Lend the session that is there, or start one and stop it afterwards.

    Without a master it is what Spark's own configuration says, else this machine.
    """
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        there = running.sparkContext.master
        if master not in (None, there):  # Spark would hand out the one that is there all the same
            advice = f"stop it before you ask for {master}, or name no master"
            raise ClusterError(f"a Spark session is running on {there}; {advice}")
        yield running
        return
    check_java()

    # Without this the executors run whatever python3 is on their path, which seldom has deniable installed.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Spark's reports of failures may quote records. We know of none that still would, and keep them out of
    # its logs all the same.
    builder = SparkSession.builder.appName("deniable").config("spark.log.level", "FATAL")
    builder = builder.config("spark.executor.syncLogLevel.enabled", "true")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
    try:
        spark = builder.getOrCreate()
    except Exception as error:  # py4j and PySpark have no base class in common
        raise ClusterError(
            f"Spark did not start: {str(error).strip().splitlines()[0]}{_if_too_old()}"
        ) from error
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what Spark reports over pages into one line that says what was wrong, without private text."""
    from py4j.protocol import Py4JError
    from pyspark.errors import AnalysisException, PySparkException

    try:
        yield
    except AnalysisException as error:
        # Others may name columns, and what should be a header may be a private record.
        if error.getCondition() in _ABOUT_PATHS:
            raise ClusterError(f"Spark: {str(error).strip().splitlines()[0]}") from None
        raise ClusterError(in_one_line("", error.getCondition())) from None
    except (PySparkException, Py4JError) as error:
        condition = error.getCondition() if isinstance(error, PySparkException) else None
        raise ClusterError(in_one_line(str(error), condition)) from None


def in_one_line(report: str, condition: str | None) -> str:
    """Return what was wrong. An error of ours on an executor stands in the traceback that Spark sends back;
    other reports may quote a record."""
    ours = re.findall(r"^deniable\.errors\.\w+: (.+)$", report, re.MULTILINE)
    if ours:
        return str(ours[-1])
    if "No module named 'deniable'" in report:
        advice = "install this checkout or wheel there with [spark], or set PYSPARK_PYTHON"
        return f"deniable is not installed where the executors run: {advice}"
    return f"Spark gave up ({condition or 'no reason given'})"
