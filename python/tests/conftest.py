"""Snapshots: UPDATE_SNAPSHOTS=1 writes them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable

import pytest

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture
def snapshot() -> Callable[[str, str], None]:
    def compare(name: str, text: str) -> None:
        path = SNAPSHOTS / name
        if os.environ.get("UPDATE_SNAPSHOTS"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.rstrip() + "\n", "utf-8")
        assert path.exists(), f"{name} is missing: UPDATE_SNAPSHOTS=1 writes it"
        assert text.rstrip() + "\n" == path.read_text("utf-8")

    return compare
