"""What all tests and doctests have: the samples, and the plug-in as it is in this tree."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytest_plugins = ["toolmark.pytest_plugin", "pytester"]
os.environ.setdefault("TOOLMARK_BINARY", str(ROOT / "target" / "debug" / "toolmark"))


@pytest.fixture
def samples() -> Path:
    return ROOT / "samples"


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    doctest_namespace["SAMPLES"] = ROOT / "samples"
    # Decisions and settings of whoever runs the tests are none of theirs.
    monkeypatch.chdir(ROOT)
