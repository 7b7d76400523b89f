"""What is packed beside the wheel: the Debian package, the formula, the hooks of pre-commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: object, **options: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
    return str(done.stdout)


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="there is no dpkg-deb")
def test_the_debian_package_is_installed_and_removed(tmp_path: Path) -> None:
    built = Path(os.environ["TOOLMARK_BINARY"]).parent
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    for name in ("toolmark", "toolmark-hook"):
        shutil.copy(built / name, bin_dir)
        # A debug binary is large because of what a debugger wants to know.
        run("strip", bin_dir / name)
    pack = (ROOT / ".github" / "pack-deb", bin_dir)
    package = run(*pack, tmp_path / "dist", 0).strip()
    again = run(*pack, tmp_path / "again", 0).strip()
    assert Path(package).read_bytes() == Path(again).read_bytes(), "the same input, the same bytes"
    fields = run("dpkg-deb", "--field", package)
    assert "\nDepends: libc6 (>= 2." in fields

    # A system of its own, in which nothing else is installed.
    system = tmp_path / "system"
    database = system / "var" / "lib" / "dpkg"
    for directory in ("updates", "info", "triggers"):
        (database / directory).mkdir(parents=True)
    (database / "status").touch()
    dpkg = ["dpkg", f"--root={system}", "--force-not-root", "--force-depends"]
    dpkg += ["--force-bad-path", f"--log={tmp_path / 'dpkg.log'}"]
    run(*dpkg, "--install", package)
    said = run(system / "usr" / "bin" / "toolmark", "stats", ROOT / "samples", "--format=jsonl")
    assert len(said.splitlines()) == 4
    assert run(system / "usr" / "bin" / "toolmark", "--version").split()[1] in Path(package).name
    completions = system / "usr" / "share" / "bash-completion" / "completions" / "toolmark"
    assert "complete" in completions.read_text()
    assert "Status: install ok installed" in run(*dpkg, "--status", "toolmark")
    run(*dpkg, "--remove", "toolmark")
    assert not (system / "usr" / "bin" / "toolmark").exists()


def test_the_formula_has_every_checksum(tmp_path: Path) -> None:
    targets = ("aarch64-apple-darwin", "x86_64-apple-darwin")
    targets += ("aarch64-unknown-linux-gnu", "x86_64-unknown-linux-gnu")
    sums = [f"{number:064x}  toolmark-{target}.tar.gz\n" for number, target in enumerate(targets)]
    (tmp_path / "SHA256SUMS").write_text("".join(sums))
    fill = [sys.executable, ROOT / ".github" / "fill-formula", "1.2.3"]
    formula = run(*fill, tmp_path / "SHA256SUMS")
    assert "@" not in formula
    for number, target in enumerate(targets):
        place = f'/v1.2.3/toolmark-{target}.tar.gz"\n      sha256 "{number:064x}"'
        assert place in formula
    if shutil.which("ruby"):
        run("ruby", "-c", input=formula)
    (tmp_path / "SHA256SUMS").write_text(sums[0])
    done = subprocess.run(
        [str(word) for word in (*fill, tmp_path / "SHA256SUMS")], capture_output=True
    )
    assert done.returncode == 1


def test_the_hooks_of_pre_commit(tmp_path: Path) -> None:
    pytest.importorskip("pre_commit")
    pre_commit = [sys.executable, "-m", "pre_commit"]
    run(*pre_commit, "validate-manifest", ROOT / ".pre-commit-hooks.yaml")
    # The hooks as they are in this tree, in a repository that uses them.
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", ours)
    shutil.copy(ROOT / "samples" / "claude-code" / "flaky-test.jsonl", theirs / "good.jsonl")
    shutil.copy(ROOT / "samples" / "claude-code" / "disk-full.jsonl", theirs / "bad.jsonl")
    (theirs / "toolmark.yaml").write_text("expect:\n  sequense: [Read]\n")
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    os.symlink(os.environ["TOOLMARK_BINARY"], bin_dir / "toolmark")
    environment = {
        **os.environ,
        "PATH": f"{bin_dir}:{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(tmp_path / "home"),
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for place in (ours, theirs):
        run("git", "init", "--quiet", place)
        run("git", "-C", place, "add", ".")
        run("git", "-C", place, *who, "commit", "--quiet", "--message", "x")

    def hook(name: str, file: str) -> int:
        command = [*pre_commit, "try-repo", str(ours), name, "--files", file]
        return subprocess.run(command, cwd=theirs, env=environment, capture_output=True).returncode

    assert hook("toolmark-check", "good.jsonl") == 0
    assert hook("toolmark-check", "bad.jsonl") == 1
    assert hook("toolmark-lint", "toolmark.yaml") == 1
