"""The entry point of the command-line tools in the package: `hlo-opt`, `hlo-run` and others."""

import os
import sys
from pathlib import Path


def run() -> None:
    """Replaces this process by the tool with the name of the command."""
    program = Path(__file__).parent / "bin" / Path(sys.argv[0]).name
    os.execv(program, [str(program), *sys.argv[1:]])
