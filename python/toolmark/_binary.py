"""Where the binary is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from typing import Iterator

from ._run import BinaryNotFound

#: The environment variable that names another binary.
VARIABLE = "TOOLMARK_BINARY"


def find_binary() -> str:
    """The path of the binary.

    It is the one that ``TOOLMARK_BINARY`` names, else the one this package was
    installed with, else the one on ``PATH``.

    >>> os.path.isfile(find_binary())
    True
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not os.path.isfile(named):
            raise BinaryNotFound(f"{VARIABLE} names {named}, which is not a file")
        return named
    for path in _beside():
        if os.path.isfile(path):
            return path
    found = shutil.which("toolmark")
    if found is None:
        raise BinaryNotFound(
            "the toolmark binary was not found: reinstall the package, put the binary on "
            f"PATH, or name it in {VARIABLE}"
        )
    return found


def _beside() -> Iterator[str]:
    """Where an installer puts the scripts of a package, for this interpreter first."""
    name = "toolmark.exe" if os.name == "nt" else "toolmark"
    yield os.path.join(sysconfig.get_path("scripts"), name)
    # `pip install --user`
    scheme = "nt_user" if os.name == "nt" else "posix_user"
    if sys.platform == "darwin" and "osx_framework_user" in sysconfig.get_scheme_names():
        scheme = "osx_framework_user"
    yield os.path.join(sysconfig.get_path("scripts", scheme=scheme), name)
    package = os.path.dirname(os.path.abspath(__file__))
    library = os.path.dirname(package)
    # `pip install --target`
    yield os.path.join(library, "bin", name)
    # `pip install --prefix`. A source tree has a directory four levels up too, with
    # somebody else's programs in it.
    if os.path.basename(library) in ("site-packages", "dist-packages"):
        up = [os.pardir] * (2 if os.name == "nt" else 3)
        prefix = os.path.abspath(os.path.join(library, *up))
        yield os.path.join(prefix, "Scripts" if os.name == "nt" else "bin", name)


def version() -> str:
    """The version of the binary.

    >>> version().count(".")
    2
    """
    return _version_of(find_binary())


@cache
def _version_of(binary: str) -> str:
    said = subprocess.run([binary, "--version"], capture_output=True, check=True, text=True)
    return said.stdout.split()[-1]
