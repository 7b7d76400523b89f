"""The wheel, installed into an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    binary = directory / "toolmark"
    shutil.copy(os.environ["TOOLMARK_BINARY"], binary)
    # A debug binary is large because of what a debugger wants to know.
    subprocess.run(["strip", str(binary)], check=True)
    pack = [sys.executable, str(ROOT / "python" / "pack.py"), "--binary", str(binary), "--level=1"]
    made = subprocess.run(
        [*pack, "--out", str(directory)], check=True, capture_output=True, text=True
    )
    return Path(made.stdout.strip())


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="pack.py reads TOML with the standard library"
)
def test_a_fresh_environment_has_everything(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-index", str(wheel)]
    subprocess.run(install, check=True)
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    code = (
        "import toolmark, sys; rows = toolmark.stats(sys.argv[1]); "
        "print(len(rows), toolmark.find_binary(), toolmark.version())"
    )
    first = [str(python), "-c", code, str(ROOT / "samples")]
    said = subprocess.run(
        first, check=True, capture_output=True, text=True, env=clean, cwd=tmp_path
    )
    count, binary, version = said.stdout.split()
    assert (count, binary) == ("4", str(environment / "bin" / "toolmark"))
    assert version in wheel.name
    as_module = [str(python), "-m", "toolmark", "--version"]
    said = subprocess.run(as_module, check=True, capture_output=True, text=True, env=clean)
    assert said.stdout == f"toolmark {version}\n"
    entry = "from importlib.metadata import entry_points; print([e.value for e in entry_points(group='pytest11')])"
    said = subprocess.run([str(python), "-c", entry], check=True, capture_output=True, text=True)
    assert said.stdout == "['toolmark.pytest_plugin']\n"
    check = [str(python), "-m", "pip", "check"]
    subprocess.run(check, check=True, capture_output=True)


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="pack.py reads TOML with the standard library"
)
def test_the_wheel_is_typed_and_has_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "toolmark/py.typed" in names
    assert not any("tests/" in name or "conftest" in name for name in names)


def test_the_version_is_that_of_the_workspace() -> None:
    cargo = (ROOT / "Cargo.toml").read_text()
    project = (ROOT / "python" / "pyproject.toml").read_text()
    version = next(line for line in cargo.splitlines() if line.startswith("version = "))
    assert version in project.splitlines()
