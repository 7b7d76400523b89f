"""The steps of action.yml, as a runner would run them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

yaml = pytest.importorskip("ruamel.yaml")
ROOT = Path(__file__).parents[2]


def run_action(tmp_path: Path, command: str, args: str) -> tuple[list[int], dict[str, str], str]:
    """The exit codes of the scripts, the outputs, and the summary of the job."""
    steps = yaml.YAML(typ="safe").load((ROOT / "action.yml").read_text())["runs"]["steps"]
    scripts = {step["name"]: step["run"] for step in steps if "run" in step}
    outputs, summary = tmp_path / "outputs", tmp_path / "summary"
    outputs.touch()
    summary.touch()
    codes = []
    said: dict[str, str] = {}
    for name in ("Install", "Run", "Verdict"):
        environment = {
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(tmp_path),
            "RUNNER_OS": "Linux",
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
            "BINARY": said.get("binary", os.environ["TOOLMARK_BINARY"]),
            "VERSION": "0",
            "COMMAND": command,
            "ARGS": args,
            "CODE": said.get("exit-code", ""),
        }
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", scripts[name]]
        done = subprocess.run(bash, cwd=ROOT, env=environment, capture_output=True, text=True)
        codes.append(done.returncode)
        said = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
        if done.returncode:
            break
    return codes, said, summary.read_text()


def test_check_fails_as_the_command_does(tmp_path: Path) -> None:
    codes, said, summary = run_action(tmp_path, "check", "samples/claude-code\n--select\nI\n")
    assert codes == [0, 0, 1]
    assert said["exit-code"] == "1"
    assert "I301" in summary and Path(said["comment"]).read_text() == summary
    assert Path(said["sarif"]).exists() and Path(said["html"]).exists()


def test_an_argument_is_not_a_command(tmp_path: Path) -> None:
    codes, _, _ = run_action(
        tmp_path, "grade", "samples/toolmark.yaml\nsamples; touch $RUNNER_TEMP/x\n"
    )
    assert codes[-1] == 3 or codes[-1] == 2
    assert not (tmp_path / "x").exists()


def test_other_commands_are_refused(tmp_path: Path) -> None:
    codes, _, _ = run_action(tmp_path, "guard", "install")
    assert codes == [0, 2]
