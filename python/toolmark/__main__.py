"""``python -m toolmark``: the command line."""

from __future__ import annotations

import os
import subprocess
import sys

from ._binary import find_binary


def main() -> int:
    """Run the binary with the arguments of this process."""
    command = [find_binary(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(command[0], command)
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
