"""Real clusters on this machine: a Spark master with workers, on loopback and with little memory."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Optional

import toolmark

#: Where the package is, for workers that have not installed it.
PACKAGE = str(Path(toolmark.__file__).parents[1])


def missing_for_spark() -> Optional[str]:
    """Why there can be no Spark here."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "PySpark is not installed"
    return None if shutil.which("java") else "there is no Java runtime"


@contextlib.contextmanager
def spark_cluster(
    logs: Path,
    workers: int = 2,
    binary: Optional[Path] = None,
    settings: Optional[Mapping[str, str]] = None,
) -> Iterator[Any]:
    """A session on a standalone master whose workers have a core each."""
    import pyspark
    from pyspark.sql import SparkSession

    home = Path(pyspark.__file__).parent
    logs.mkdir(parents=True, exist_ok=True)
    ours = {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(logs / "scratch"),
        # A machine with other things to do is slow, not dead.
        "SPARK_MASTER_OPTS": "-Dspark.worker.timeout=600",
        "SPARK_WORKER_OPTS": "-Dspark.worker.timeout=600",
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": PACKAGE,
    }
    before = {key: os.environ.get(key) for key in ours}
    os.environ.update(ours)
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    start = str(home / "bin" / "spark-class")
    bound = ["--host", "127.0.0.1", "--webui-port", "0"]
    deploy = "org.apache.spark.deploy"
    commands = [[start, f"{deploy}.master.Master", *bound, "--port", str(port)]]
    for number in range(workers):
        size = ["--cores", "1", "--memory", "1g", "--work-dir", str(logs / f"worker-{number}")]
        commands.append([start, f"{deploy}.worker.Worker", *bound, *size, master])
    running: list[subprocess.Popen[bytes]] = []
    session: Any = None
    try:
        for number, command in enumerate(commands):
            with open(logs / f"{number}.log", "wb") as log:
                running.append(subprocess.Popen(command, stdout=log, stderr=log))
            if number == 0:
                wait_for(lambda: is_open(port), "the master")
        session = (
            SparkSession.builder.master(master)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", "512m")
            .config("spark.executor.memory", "512m")
            .config("spark.executorEnv.TOOLMARK_BINARY", str(binary or toolmark.find_binary()))
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.network.timeout", "600s")
            .config("spark.executor.heartbeatInterval", "30s")
            .config("spark.sql.shuffle.partitions", str(workers))
            .config(map=dict(settings or {}))
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        wait_for(lambda: executors(session) == workers, "the workers")
        yield session
    finally:
        if session is not None:
            session.stop()
        for process in reversed(running):
            process.terminate()
            process.wait(timeout=60)
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


def executors(session: Any) -> int:
    """How many executors have come up; the driver is not one."""
    return int(session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(is_there: Callable[[], bool], what: str, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not is_there():
        assert time.monotonic() < end, f"{what} did not come up"
        time.sleep(0.1)
