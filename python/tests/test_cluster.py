"""Spark and Ray: real clusters on this machine, which lose a worker while they work."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Iterator

import pytest
from standalone import PACKAGE, missing_for_spark, spark_cluster

import toolmark

#: Copies of the sample sessions.
COPIES = int(os.environ.get("TOOLMARK_COPIES", "12"))

#: What is compared of issues: a title may be another one of several that are right.
ISSUE = ["id", "kind", "category", "subtype", "code", "role", "template"]
ISSUE += ["count", "sessions", "first_seen", "last_seen"]


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


@pytest.fixture(scope="module")
def names(sessions: Path) -> list[str]:
    return sorted(str(path) for path in sessions.rglob("*.json*"))


@pytest.fixture(scope="module")
def spec() -> Path:
    return Path(__file__).parents[2] / "samples" / "toolmark.yaml"


@pytest.fixture(scope="module")
def whole(sessions: Path, spec: Path) -> dict[str, bytes]:
    """What one machine finds."""
    issues = toolmark.feed(sessions, result="arrow").select(ISSUE).to_pylist()
    assert any(issue["sessions"] > 1 for issue in issues)
    graded = toolmark.grade(spec, sessions, result="arrow").to_pylist()
    assert len(graded) >= 2 * COPIES
    return {
        "check": lines(toolmark.check(sessions, result="arrow").to_pylist()),
        "grade": lines(graded),
        "feed": lines(issues),
    }


def lines(rows: Any) -> bytes:
    """Rows as sorted lines of JSON, to be compared byte by byte."""
    text = sorted(json.dumps({name: local(value) for name, value in row.items()}) for row in rows)
    assert text
    return "\n".join(text).encode()


def local(value: Any) -> Any:
    """Names of files as this machine has them; Spark's readers put a scheme before them."""
    is_url = isinstance(value, str) and value.startswith("file:/")
    return value.replace("file:", "", 1) if is_url else value


class Trap:
    """A binary that, once it is set, kills the process it works for while it works."""

    def __init__(self, directory: Path, victim: str) -> None:
        self.set_file = directory / "set"
        self.sprung_file = directory / "sprung"
        self.binary = directory / "toolmark"
        self.binary.write_text(
            f"""#!/bin/sh
if mv '{self.set_file}' '{self.sprung_file}' 2>/dev/null; then
    '{toolmark.find_binary()}' "$@" &
    pid=$PPID
    while [ "$pid" -gt 1 ] && ! tr '\\0' ' ' <"/proc/$pid/cmdline" | grep -q '{victim}'; do
        pid=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status")
    done
    [ "$pid" -gt 1 ] || exit 70
    echo "$pid" >'{self.sprung_file}'
    kill -KILL "$pid"
    wait
    exit 71
fi
exec '{toolmark.find_binary()}' "$@"
"""
        )
        self.binary.chmod(0o755)

    def set(self) -> None:
        self.set_file.touch()

    def assert_sprung(self) -> None:
        killed = self.sprung_file.read_text().strip()
        assert killed, "nobody was killed"
        assert not Path("/proc", killed).exists(), f"{killed} is still there"
        self.sprung_file.unlink()


# -- Spark


@pytest.fixture(scope="module")
def spark_trap(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    return Trap(tmp_path_factory.mktemp("trap"), "CoarseGrainedExecutorBackend")


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory, spark_trap: Trap) -> Iterator[Any]:
    reason = missing_for_spark()
    if reason:
        pytest.skip(reason)
    logs = tmp_path_factory.mktemp("spark")
    with spark_cluster(logs, workers=2, binary=spark_trap.binary) as session:
        # Several batches per partition.
        session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "16")
        yield session


def by_spark(spec: Path, frame: Any) -> dict[str, Any]:
    import toolmark.spark

    return {
        "check": lambda: toolmark.spark.check(frame),
        "grade": lambda: toolmark.spark.grade(frame, spec),
        "feed": lambda: toolmark.spark.feed(frame).select(*ISSUE),
    }


def frame_of_paths(spark: Any, names: list[str]) -> Any:
    return spark.createDataFrame([(name,) for name in names], "path string").repartition(4)


def collected(frame: Any) -> bytes:
    return lines(row.asDict() for row in frame.collect())


@pytest.mark.parametrize("given", ["paths", "contents"])
def test_spark_finds_what_one_machine_finds(
    given: str, spark: Any, sessions: Path, names: list[str], spec: Path, whole: dict[str, bytes]
) -> None:
    if given == "paths":
        frame = frame_of_paths(spark, names)
    else:
        files = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        frame = files.load(str(sessions)).repartition(4)
    for command, run in by_spark(spec, frame).items():
        assert collected(run()) == whole[command], command


@pytest.mark.parametrize("command", ["check", "grade", "feed"])
def test_spark_loses_an_executor(
    command: str,
    spark: Any,
    spark_trap: Trap,
    names: list[str],
    spec: Path,
    whole: dict[str, bytes],
) -> None:
    # The driver asks the binary for the columns; only executors have the trap.
    run = by_spark(spec, frame_of_paths(spark, names))[command]()
    spark_trap.set()
    assert collected(run) == whole[command]
    spark_trap.assert_sprung()


def test_spark_estimates_sessions(spark: Any, names: list[str]) -> None:
    import toolmark.spark

    frame = frame_of_paths(spark, names)
    exact = {row["id"]: row for row in toolmark.spark.feed(frame).collect()}
    for row in toolmark.spark.feed(frame, approximate=True).collect():
        assert row["count"] == exact[row["id"]]["count"]
        assert abs(row["sessions"] - exact[row["id"]]["sessions"]) <= 1 + COPIES // 10


def test_spark_says_what_cannot_be_read(spark: Any, names: list[str]) -> None:
    import toolmark.spark

    frame = frame_of_paths(spark, [names[0], "/nowhere/none.jsonl"])
    with pytest.raises(Exception, match=r"none\.jsonl"):
        toolmark.spark.check(frame).collect()
    assert toolmark.spark.check(frame, unread="ignore").count() > 0
    errors = {row["file"]: row["error"] for row in toolmark.spark.stats(frame).collect()}
    assert errors[names[0]] is None and "no such file" in errors["/nowhere/none.jsonl"]
    with pytest.raises(ValueError, match="no column path"):
        toolmark.spark.check(frame.withColumnRenamed("path", "name"))


# -- Ray


@pytest.fixture(scope="module")
def ray_trap(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    return Trap(tmp_path_factory.mktemp("trap"), "ray::")


@pytest.fixture(scope="module")
def ray(ray_trap: Trap) -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    pytest.importorskip("ray.data", reason="Ray Data is not installed")
    variables = {"PYTHONPATH": PACKAGE, "TOOLMARK_BINARY": str(ray_trap.binary)}
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=200 << 20,
        runtime_env={"env_vars": variables},
        _node_ip_address="127.0.0.1",
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def by_ray(spec: Path, files: Any) -> dict[str, Any]:
    import toolmark.ray

    return {
        "check": lambda: toolmark.ray.check(files, batch_size=16),
        "grade": lambda: toolmark.ray.grade(files, spec, batch_size=16),
        "feed": lambda: toolmark.ray.feed(files, batch_size=16).select_columns(ISSUE),
    }


@pytest.mark.parametrize("command", ["check", "grade", "feed"])
def test_ray_loses_a_worker(
    command: str, ray: Any, ray_trap: Trap, names: list[str], spec: Path, whole: dict[str, bytes]
) -> None:
    files = ray.data.from_items([{"path": name} for name in names]).repartition(4)
    ray_trap.set()
    assert lines(by_ray(spec, files)[command]().take_all()) == whole[command]
    ray_trap.assert_sprung()


def test_ray_finds_what_one_machine_finds(
    ray: Any, sessions: Path, spec: Path, whole: dict[str, bytes]
) -> None:
    binaries = ray.data.read_binary_files(str(sessions), include_paths=True)
    for command, run in by_ray(spec, binaries).items():
        assert lines(run().take_all()) == whole[command], command
