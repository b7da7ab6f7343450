"""A Spark session for the command line, and a plain word where there can be none."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deniable.errors import ClusterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check_java() -> None:
    """Do nothing if Spark will find a Java.

    :raises ClusterError: otherwise.
    """
    home = os.environ.get("JAVA_HOME")
    if shutil.which(os.path.join(home, "bin", "java") if home else "java") is None:  # noqa: PTH118 - as Spark itself looks for it
        where = f"in JAVA_HOME ({home})" if home else "on the PATH"
        raise ClusterError(
            f"Spark needs Java 17 or newer and there is none {where}; install one (Debian: apt-get install openjdk-17-jre-headless) "
            "or set JAVA_HOME"
        )


@contextmanager
def session(master: str | None) -> Iterator[SparkSession]:
    """Lend the session that is there, or start one and stop it afterwards.

    Without a master it is what Spark's own configuration says, else this machine.

    :raises ClusterError: if there is no Java, or the master cannot be reached.
    """
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None and master in (None, running.sparkContext.master):
        yield running
        return
    check_java()

    # Without this the executors run whatever python3 is on their path, which seldom has deniable installed.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("deniable").config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
    try:
        spark = builder.getOrCreate()
    except Exception as error:  # py4j and PySpark have no base class in common
        raise ClusterError(f"Spark did not start: {str(error).strip().splitlines()[0]}") from error
    try:
        yield spark
    finally:
        spark.stop()
