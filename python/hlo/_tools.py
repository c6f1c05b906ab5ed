"""The command-line tools, which the package has as programs: `hlo-opt`, `hlo-run` and others."""

import os
import sys
from pathlib import Path


def run() -> None:
    """Becomes the program that the command is called after."""
    program = Path(__file__).parent / "bin" / Path(sys.argv[0]).name
    os.execv(program, [str(program), *sys.argv[1:]])
