"""Reads HLO programs from text, compiles them and runs them on NumPy arrays.

    >>> import hlo, numpy as np
    >>> program = hlo.loads('''
    ... HloModule double
    ... ENTRY main {
    ...   x = f32[3] parameter(0)
    ...   ROOT y = f32[3] add(x, x)
    ... }''')
    >>> program(np.array([1, 2, 3], np.float32))
    array([2., 4., 6.], dtype=float32)

The package detects HLO text, StableHLO (text or bytecode) and HloModuleProto from the contents. If a program is invalid, it raises
an `hlo.Error`. The error contains a list of diagnostics. Its text shows them with the lines of the source.
"""

from ._errors import Diagnostic, Error
from ._program import Array, Polymorphic, Program, load, loads
from ._version import __version__

__all__ = ["Array", "Diagnostic", "Error", "Polymorphic", "Program", "load", "loads", "__version__"]
