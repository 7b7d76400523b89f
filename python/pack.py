"""Packs a wheel around binaries that are built already.

    python pack.py --binary target/dist/toolmark --platform manylinux_2_28_x86_64 --out dist

`pip install ./python` builds the same wheel from source with maturin. A release builds
each binary once, and packs it here, for npm, as an archive and as a Debian package.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import stat
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Files of a wheel are as old as this, so that the same input gives the same bytes.
TIME = (2026, 1, 1, 0, 0, 0)


def project() -> dict:
    """The table `project` of pyproject.toml."""
    try:
        import tomllib
    except ImportError:
        import tomli as tomllib
    return tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]


def metadata(about: dict) -> str:
    """The file METADATA."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {about['name']}",
        f"Version: {about['version']}",
        f"Summary: {about['description']}",
        f"Keywords: {','.join(about['keywords'])}",
        *(f"Classifier: {one}" for one in about["classifiers"]),
        f"License-Expression: {about['license']}",
        f"Requires-Python: {about['requires-python']}",
        *(f"Project-URL: {name}, {url}" for name, url in about["urls"].items()),
    ]
    for extra, needs in about["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {need}; extra == '{extra}'" for need in needs]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text("utf-8")


def entry_points(about: dict) -> str:
    """The file entry_points.txt."""
    groups = about.get("entry-points", {}).items()
    parts = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in groups
    ]
    return "\n".join(parts)


def here() -> str:
    """The platform of this machine, as wheels name it."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def pack(binaries: list[Path], platform: str, out: Path, level: int = 9) -> Path:
    """Write the wheel, and return its path."""
    about = project()
    name = f"{about['name']}-{about['version']}"
    tag = f"py3-none-{platform}"
    files: list[tuple[str, bytes, bool]] = []
    for path in sorted((HERE / "toolmark").rglob("*")):
        if path.is_file() and path.suffix in (".py", ".typed"):
            files.append((path.relative_to(HERE).as_posix(), path.read_bytes(), False))
    for binary in binaries:
        files.append((f"{name}.data/scripts/{binary.name}", binary.read_bytes(), True))
    info = f"{name}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: toolmark pack\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files.append((f"{info}/METADATA", metadata(about).encode(), False))
    files.append((f"{info}/WHEEL", wheel.encode(), False))
    files.append((f"{info}/entry_points.txt", entry_points(about).encode(), False))
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        text = (HERE.parent / licence).read_bytes()
        files.append((f"{info}/licenses/{licence}", text, False))
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for path, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
        rows.writerow([path, f"sha256={digest.decode()}", len(content)])
    rows.writerow([f"{info}/RECORD", "", ""])
    files.append((f"{info}/RECORD", record.getvalue().encode(), False))
    out.mkdir(parents=True, exist_ok=True)
    made = out / f"{name}-{tag}.whl"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for path, content, is_program in files:
            entry = zipfile.ZipInfo(path, TIME)
            mode = stat.S_IFREG | (0o755 if is_program else 0o644)
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return made


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, action="append", required=True)
    parser.add_argument("--platform", default=here(), help="platform tag [default: this machine]")
    parser.add_argument("--out", type=Path, default=Path("dist"))
    parser.add_argument("--level", type=int, default=9, help="how hard to compress, 1 to 9")
    asked = parser.parse_args()
    for binary in asked.binary:
        if not os.access(binary, os.X_OK):
            parser.error(f"{binary} is not a program")
    print(pack(asked.binary, asked.platform, asked.out, asked.level))


if __name__ == "__main__":
    main()
