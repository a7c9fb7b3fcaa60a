"""``python -m syrch_host``: the command line of this package."""

from __future__ import annotations

import os
import sys

from ._options import command_line


def main() -> None:
    """Replaces this process by the command line."""
    program = command_line()
    if program is None:
        sys.exit("this build of the package has no command line")
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
