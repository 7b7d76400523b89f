"""Spark and Ray: real clusters on this machine, which lose a worker while they work."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterator

import pytest

import toolmark

#: Copies of the sample sessions.
COPIES = int(os.environ.get("TOOLMARK_COPIES", "12"))


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many sessions, each with an id of its own, and one that was resumed in another file."""
    samples = Path(__file__).parents[2] / "samples"
    directory = tmp_path_factory.mktemp("sessions")
    ids = {
        "claude-code/disk-full.jsonl": b"51ea40b0-7088-4482-8231-74d06cde3e3a",
        "claude-code/flaky-test.jsonl": None,
        "atif/mean-depth.trajectory.json": b"b7e0c1d2-40f3-4a86-9f0e-6a1d5c2b8e37",
    }
    for number in range(COPIES):
        for name, known in ids.items():
            text = (samples / name).read_bytes()
            if known:
                assert known in text
                text = text.replace(known, f"{number:08x}".encode() + known[8:])
            target = directory / f"{number:04}" / Path(name).name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(text)
    first = directory / "0000" / "disk-full.jsonl"
    shutil.copy(first, directory / "0001" / "resumed.jsonl")
    return directory


@pytest.fixture
def spec(samples: Path) -> Path:
    return samples / "toolmark.yaml"


def rows_of(table: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in table), key=str)


# -- Spark


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A master and two workers with a core each."""
    pyspark = pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("there is no Java runtime")
    from pyspark.sql import SparkSession

    home = Path(pyspark.__file__).parent
    logs = tmp_path_factory.mktemp("spark")
    package = str(Path(toolmark.__file__).parents[1])
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_LOCAL_IP": "127.0.0.1",
        # A machine with other things to do is slow, not dead.
        "SPARK_MASTER_OPTS": "-Dspark.worker.timeout=600",
        "SPARK_WORKER_OPTS": "-Dspark.worker.timeout=600",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": package,
    }
    os.environ.update({key: environment[key] for key in ("SPARK_LOCAL_IP", "PYSPARK_PYTHON", "PYTHONPATH")})
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    start = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy"]
    bound = ["--host", "127.0.0.1", "--webui-port", "0"]
    commands = [[start[0], f"{start[1]}.master.Master", *bound, "--port", str(port)]]
    commands += [
        [start[0], f"{start[1]}.worker.Worker", *bound, "--cores", "1", "--memory", "1g",
         "--work-dir", str(logs / str(number)), master]
        for number in range(2)
    ]  # fmt: skip
    running: list[subprocess.Popen[bytes]] = []
    try:
        for number, command in enumerate(commands):
            log = open(logs / f"{number}.log", "wb")
            running.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
            if number == 0:
                wait_for(lambda: is_open(port), "the master")
        session = (
            SparkSession.builder.master(master)
            .config("spark.executor.memory", "512m")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.network.timeout", "600s")
            .config("spark.executor.heartbeatInterval", "30s")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", "16")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(timeout=60)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(is_there: Any, what: str, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not is_there():
        assert time.monotonic() < end, f"{what} did not come up"
        time.sleep(0.2)


def children(name: str) -> list[int]:
    """Processes of ours with this word in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if name.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.fixture(params=["paths", "contents"])
def frame(request: pytest.FixtureRequest, spark: Any, sessions: Path) -> Any:
    if request.param == "paths":
        names = sorted(str(path) for path in sessions.rglob("*.json*"))
        return spark.createDataFrame([(name,) for name in names], "path string").repartition(8)
    files = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    return files.load(str(sessions)).repartition(8)


def local(value: Any) -> Any:
    """Names of files as Spark's readers write them, as this machine does."""
    return value.replace("file:", "", 1) if isinstance(value, str) and value.startswith("file:/") else value


def collected(frame: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(map(local, row)) for row in frame.collect()), key=str)


def test_spark_finds_what_one_machine_finds(frame: Any, sessions: Path, spec: Path) -> None:
    import toolmark.spark

    whole = toolmark.check(sessions, result="arrow").to_pylist()
    assert collected(toolmark.spark.check(frame)) == rows_of(whole)
    whole = toolmark.grade(spec, sessions, result="arrow").to_pylist()
    assert len(whole) >= 2 * COPIES
    assert collected(toolmark.spark.grade(frame, spec)) == rows_of(whole)
    counts = ["id", "kind", "count", "sessions", "first_seen", "last_seen"]
    issues = toolmark.feed(sessions, result="arrow").select(counts).to_pylist()
    assert collected(toolmark.spark.feed(frame).select(*counts)) == rows_of(issues)


def test_spark_loses_an_executor(spark: Any, sessions: Path) -> None:
    import toolmark.spark

    names = sorted(str(path) for path in sessions.rglob("*.json*"))
    frame = spark.createDataFrame([(name,) for name in names], "path string").repartition(16)
    whole = toolmark.check(sessions, result="arrow").to_pylist()
    # Which is ours: others on this machine may have executors too.
    ours = spark.sparkContext.applicationId
    killed: list[int] = []

    def kill() -> None:
        end = time.monotonic() + 300
        while not killed and time.monotonic() < end:
            # While one of its tasks runs.
            active = spark.sparkContext.statusTracker().getActiveStageIds()
            executors = [pid for pid in children("CoarseGrainedExecutorBackend") if pid in children(ours)]
            if active and executors:
                time.sleep(0.5)
                os.kill(executors[0], signal.SIGKILL)
                killed.append(executors[0])
            time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    found = collected(toolmark.spark.check(frame))
    killer.join()
    assert killed, "nobody was killed"
    assert found == rows_of(whole)


# -- Ray


def test_ray_finds_what_one_machine_finds(sessions: Path, tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    import toolmark.ray

    names = sorted(str(path) for path in sessions.rglob("*.json*"))
    whole = toolmark.check(sessions, result="arrow").to_pylist()
    package = str(Path(toolmark.__file__).parents[1])
    variables = {"PYTHONPATH": package, "TOOLMARK_BINARY": toolmark.find_binary()}
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": variables},
        _node_ip_address="127.0.0.1",
    )
    try:
        marker = tmp_path / "killed"

        def die_once(row: dict[str, Any]) -> dict[str, Any]:
            # One worker process is killed while it works on the third file.
            if row["path"] == names[2]:
                try:
                    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    return row
                os.kill(os.getpid(), signal.SIGKILL)
            return row

        files = ray.data.from_items([{"path": name} for name in names]).repartition(8)
        found = toolmark.ray.check(files.map(die_once), batch_size=16).take_all()
        assert marker.exists(), "nobody was killed"
        assert rows_of(found) == rows_of(whole)
        binaries = ray.data.read_binary_files(str(sessions), include_paths=True)
        found = toolmark.ray.check(binaries, batch_size=16).take_all()
        assert rows_of(found) == rows_of(whole)
    finally:
        ray.shutdown()
