"""Errors in programs or in their arguments."""

from dataclasses import dataclass
from typing import Optional, Tuple


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning."""

    severity: str
    """`error` or `warning`."""
    message: str
    """What was expected and what was found, in one line."""
    code: Optional[str] = None
    """The code of the violated rule, such as `E0306`. `hlo-opt --explain E0306` explains the rule."""
    line: Optional[int] = None
    """The line in the text, starting at 1, or `None` if the diagnostic has no position."""
    column: Optional[int] = None
    """The column in this line, starting at 1."""
    notes: Tuple[str, ...] = ()
    """Additional notes."""


class Error(Exception):
    """A program can't be read, compiled or run. The text of the error is the same as the output of the command-line tools."""

    def __init__(self, text: str, diagnostics: Tuple[Diagnostic, ...] = ()):
        super().__init__(text)
        self.diagnostics = diagnostics
