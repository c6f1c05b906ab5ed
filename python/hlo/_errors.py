"""What is wrong with a program, or with what it is given."""

from dataclasses import dataclass
from typing import Optional, Tuple


@dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong."""

    severity: str
    """`error` or `warning`."""
    message: str
    """What was expected and what was found, in a line."""
    code: Optional[str] = None
    """The rule that is broken, such as `E0306`: `hlo-opt --explain E0306` says more."""
    line: Optional[int] = None
    """Where in the text, from 1; `None` if it is of no place."""
    column: Optional[int] = None
    """The column there, from 1."""
    notes: Tuple[str, ...] = ()
    """What else is to say."""


class Error(Exception):
    """A program that can't be read, compiled or run. As a string it is what the command-line tools print."""

    def __init__(self, text: str, diagnostics: Tuple[Diagnostic, ...] = ()):
        super().__init__(text)
        self.diagnostics = diagnostics
