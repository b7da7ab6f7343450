"""A real cluster on this machine: a master and two workers as processes of their own, with one core each."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

SMALL_AND_QUICK_TO_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

SETTINGS = {
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": SMALL_AND_QUICK_TO_START,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": SMALL_AND_QUICK_TO_START,
    "spark.sql.shuffle.partitions": "2",
    "spark.task.maxFailures": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def write_defaults(folder: Path) -> Path:
    """Write the settings where a Spark that is started by somebody else finds them (SPARK_CONF_DIR), and
    return the folder."""
    folder.mkdir()
    (folder / "spark-defaults.conf").write_text(
        "".join(f"{key} {value}\n" for key, value in SETTINGS.items())
    )
    return folder


def privatize_by_spark(folder: Path, arguments: str) -> tuple[list[str], dict[str, str]]:
    """Return the command that releases by a Spark of its own, and its environment; its settings lie in
    ``folder``."""
    here = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "SPARK_LOCAL_IP": "127.0.0.1"}
    spark = {"JDK_JAVA_OPTIONS": SMALL_AND_QUICK_TO_START, "SPARK_CONF_DIR": str(folder)}
    program = [sys.executable, "-c", "from deniable.cli.app import main; main()", "privatize"]
    return [*program, "--engine", "spark", *arguments.split()], {**os.environ, **here, **spark}


def require_java() -> None:
    """Skip where there is no Java; where Java is required (DENIABLE_REQUIRE_JAVA), fail."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        if os.environ.get("DENIABLE_REQUIRE_JAVA"):
            pytest.fail("Java is required here and is not installed")
        pytest.skip("Spark needs Java, which is not installed: apt-get install openjdk-17-jre-headless")


@contextmanager
def daemon(folder: Path, name: str, kind: str, *arguments: str) -> Iterator[Path]:
    """Run one process of the cluster and yield the path of its log."""
    import pyspark

    home = Path(pyspark.__file__).parent
    log = folder / f"{name}.log"
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": SMALL_AND_QUICK_TO_START,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    command = [
        str(home / "bin" / "spark-class"),
        f"org.apache.spark.deploy.{kind}",
        "--host",
        "127.0.0.1",
        "--webui-port",
        "0",
        *arguments,
    ]
    with log.open("wb") as sink:
        process = subprocess.Popen(command, env=environment, stdout=sink, stderr=sink, cwd=folder)
    try:
        yield log
    finally:
        process.terminate()
        process.wait(600)


def address_of(log: Path) -> str:
    """Return where the master listens, as soon as it says so."""
    for _ in range(3000):
        found = re.search(r"Starting Spark master at (spark://\S+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.1)
    raise TimeoutError(f"the master did not start:\n{log.read_text()[-2000:]}")


@contextmanager
def session(address: str, folder: Path) -> Iterator[Any]:
    """Lend a session on the cluster."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = (
            SparkSession.builder.master(address)
            .appName("tests")
            .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        )
        for key, value in SETTINGS.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def cluster(folder: Path, *, workers: int = 2) -> Iterator[str]:
    """Run a cluster and yield its address."""
    with ExitStack() as stack:
        address = address_of(stack.enter_context(daemon(folder, "master", "master.Master", "--port", "0")))
        for number in range(workers):
            place = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"worker{number}")]
            stack.enter_context(daemon(folder, f"worker{number}", "worker.Worker", *place, address))
        yield address
