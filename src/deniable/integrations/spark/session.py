"""A Spark session for the command line, and a plain word where there can be none."""

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


def check_java() -> None:
    """Do nothing if Spark will find a Java.

    :raises ClusterError: otherwise.
    """
    home = os.environ.get("JAVA_HOME")
    if _java() is None:
        where = f"in JAVA_HOME ({home})" if home else "on the PATH"
        raise ClusterError(
            f"Spark needs Java {_OLDEST_JAVA} or newer and there is none {where}; install one "
            f"(Debian: apt-get install openjdk-{_OLDEST_JAVA}-jre-headless) or set JAVA_HOME"
        )


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java") if home else "java")  # noqa: PTH118 - as Spark itself looks for it


def _if_too_old() -> str:
    """Return what to add to a message if the Java that Spark found is too old for it; nothing otherwise."""
    said = subprocess.run([_java() or "java", "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if version is None or int(version[1]) >= _OLDEST_JAVA:
        return ""
    return (
        f" (this is Java {version[1]}; Spark needs Java {_OLDEST_JAVA} or newer: install one, or set "
        "JAVA_HOME)"
    )


@contextmanager
def session(master: str | None) -> Iterator[SparkSession]:
    """Lend the session that is there, or start one and stop it afterwards.

    Without a master it is what Spark's own configuration says, else this machine.

    :raises ClusterError: if there is no Java, the master cannot be reached, or a session is there with
        another master.
    """
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        if master not in (
            None,
            running.sparkContext.master,
        ):  # Spark would hand out the one that is there all the same
            there = running.sparkContext.master
            raise ClusterError(
                f"a Spark session is running on {there}; stop it before you ask for {master}, or name no "
                "master"
            )
        yield running
        return
    check_java()

    # Without this the executors run whatever python3 is on their path, which seldom has deniable installed.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Spark's reports of failures may quote records. We know of none that still would, and keep them out of
    # its logs all the same.
    builder = SparkSession.builder.appName("deniable").config("spark.log.level", "FATAL")
    builder = builder.config("spark.executor.syncLogLevel.enabled", "true").config(
        "spark.ui.showConsoleProgress", "false"
    )
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
